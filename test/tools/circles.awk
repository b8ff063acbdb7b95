# Usage: awk -v what=files [-v allowed='a;b c'] -f circles.awk: reads "FROM TO [LABEL]", one edge a line.
# Fails for every circle whose members are not a listed set, and for every listed set that is not a circle.

{
	if (!(($1, $2) in label))
		edge[$1, ++degree[$1]] = $2
	if (label[$1, $2] == "")
		label[$1, $2] = $3
	nodes[$1]
	nodes[$2]
}

function sort(list, count,    i, j, value)
{
	for (i = 2; i <= count; i++) {
		value = list[i]
		for (j = i - 1; j > 0 && list[j] > value; j--)
			list[j + 1] = list[j]
		list[j + 1] = value
	}
}

function sorted(text,    words, count, i)
{
	count = split(text, words, " ")
	sort(words, count)
	text = words[1]
	for (i = 2; i <= count; i++)
		text = text " " words[i]
	return text
}

# Tarjan: nodes that reach each other are one component.
function visit(node,    i, next_node)
{
	number[node] = low[node] = ++visited
	stack[++height] = node
	open[node] = 1
	for (i = 1; i <= degree[node]; i++) {
		next_node = edge[node, i]
		if (!(next_node in number)) {
			visit(next_node)
			if (low[next_node] < low[node])
				low[node] = low[next_node]
		} else if (open[next_node] && number[next_node] < low[node])
			low[node] = number[next_node]
	}
	if (low[node] < number[node])
		return
	components++
	do {
		next_node = stack[height--]
		open[next_node] = 0
		component[next_node] = components
		members[components] = members[components] " " next_node
		size[components]++
	} while (next_node != node)
}

# The shortest way from a node back to itself.
function print_circle(from,    queue, head, tail, before, node, next_node, i, text)
{
	queue[tail = 1] = from
	for (head = 1; head <= tail; head++) {
		node = queue[head]
		for (i = 1; i <= degree[node]; i++) {
			next_node = edge[node, i]
			if (component[next_node] != component[from] || next_node in before)
				continue
			before[next_node] = node
			if (next_node == from)
				break
			queue[++tail] = next_node
		}
		if (from in before)
			break
	}
	node = from
	do {
		next_node = before[node]
		shown[node]
		text = " -> " node (label[next_node, node] == "" ? "" : " (" label[next_node, node] ")") text
		node = next_node
	} while (node != from)
	print "    " from text
}

END {
	count = split(allowed, sets, ";")
	for (i = 1; i <= count; i++)
		if (sorted(sets[i]) != "")
			expected[sorted(sets[i])]
	for (node in nodes)
		if (!(node in number))
			visit(node)
	for (i = 1; i <= components; i++) {
		names = sorted(members[i])
		count = split(names, name, " ")
		if (size[i] == 1 && !((name[1], name[1]) in label))
			continue
		if (names in expected) {
			delete expected[names]
			continue
		}
		failed = 1
		print size[i] == 1 ? "circle:" : "circle of " size[i] " " what ":"
		for (j = 1; j <= count; j++)
			if (!(name[j] in shown))
				print_circle(name[j])
	}
	for (names in expected) {
		print "listed, and no circle of " what ": " names
		failed = 1
	}
	exit failed
}
