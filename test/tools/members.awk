# Usage: awk -v values='...' -v writers='...' -v to=DIRECTORY \
#	-v complaints=FILE -f members.awk FILE... FILE...
# Copies C files (each named twice, as all tags must be known first) to DIRECTORY, and marks each struct member in a
# header with WRITTEN_BY_module, the file that may write it: to be defined as nothing there and as "const" elsewhere.
# Prints "TAG MEMBERS BOOLEANS FILE" for each struct. Knows C as clang-format leaves it: "struct tag {" in the first column.

BEGIN {
	count = split(values, word, " ")
	for (i = 1; i <= count; i++)
		is_value[word[i]]
	count = split(writers, word, " ")
	for (i = 1; i < count; i += 2)
		writer[word[i]] = word[i + 1]
}

function module_of(path)
{
	sub(/^(include|src)\//, "", path)
	sub(/\.[ch]$/, "", path)
	return path
}

function mark(member,    owner)
{
	members++
	if (is_boolean)
		booleans++
	if (FILENAME !~ /\.h$/ || tag in is_value)
		return member
	owner = module_of(FILENAME)
	if (tag in writer)
		owner = writer[tag]
	if ((tag "." member) in writer)
		owner = writer[tag "." member]
	if (owner == "*")
		return member
	gsub(/[^A-Za-z0-9_]/, "_", owner)
	return "WRITTEN_BY_" owner " " member
}

# One declaration, which may declare several members. A struct by value is no state of its own: its members are.
function declare(text,    part, count, i, type, stars, name, rest, result)
{
	if (text ~ /^[ \t]*$/ || text !~ /[A-Za-z_]/)
		return text ";"
	is_boolean = text ~ /^[ \t]*bool /
	if (match(text, /\(\*[A-Za-z_]+/))
		return substr(text, 1, RSTART + 1) mark(substr(text, RSTART + 2, RLENGTH - 2)) substr(text, RSTART + RLENGTH) ";"
	count = split(text, part, ",")
	for (i = 1; i <= count; i++) {
		if (!match(part[i], /[A-Za-z_][A-Za-z0-9_]*[ \t]*(\[[^]]*\][ \t]*)*(:[^:]*)?$/))
			return text ";"
		stars = substr(part[i], 1, RSTART - 1)
		rest = substr(part[i], RSTART)
		if (i == 1) {
			type = stars
			sub(/[* \t]*$/, "", type)
			stars = substr(stars, length(type) + 1)
		}
		match(rest, /^[A-Za-z0-9_]*/)
		name = substr(rest, 1, RLENGTH)
		rest = substr(rest, RLENGTH + 1)
		if (stars !~ /\*/ && type ~ /(struct|union) [a-z_0-9]*$/ && owned(type))
			members++
		else
			name = mark(name)
		result = result type " " stars name rest "; "
	}
	return result
}

function owned(type)
{
	sub(/^.*(struct|union) /, "", type)
	return type in tags && !(type in is_value)
}

# The line without comments; a comment may go on in the next line.
function code_of(line,    at)
{
	if (in_comment) {
		at = index(line, "*/")
		if (at == 0)
			return ""
		in_comment = 0
		line = substr(line, at + 2)
	}
	while ((at = index(line, "/*")) > 0) {
		if (index(substr(line, at), "*/") == 0) {
			in_comment = 1
			return substr(line, 1, at - 1)
		}
		line = substr(line, 1, at - 1) " " substr(line, at + 1 + index(substr(line, at), "*/"))
	}
	return line
}

function in_struct(line,    at, sign, result)
{
	while ((at = match(line, /[;{}]/)) > 0) {
		sign = substr(line, at, 1)
		text = text substr(line, 1, at - 1)
		line = substr(line, at + 1)
		result = result (sign == ";" && !closing ? declare(text) : text sign)
		text = ""
		depth += (sign == "{") - (sign == "}")
		closing = sign == "}"
		if (depth == 0) {
			print tag, members + 0, booleans + 0, FILENAME
			tag = ""
			return result line
		}
	}
	text = text line
	return result
}

FNR == 1 {
	second = FILENAME in seen
	seen[FILENAME]
	in_comment = 0
	if (copy != "")
		close(copy)
	copy = to "/" FILENAME
}

!second {
	if (FILENAME ~ /\.h$/ && match($0, /^(typedef )?(struct|union) [a-z_0-9]+ \{/)) {
		name = $0
		sub(/^(typedef )?(struct|union) /, "", name)
		sub(/ .*/, "", name)
		tags[name]
	}
	next
}

{
	if (tag == "" && match($0, /^(static |const |typedef )*(struct|union) [a-z_0-9]+ \{/)) {
		line = $0
		head = substr(line, 1, RLENGTH)
		tag = head
		sub(/ \{$/, "", tag)
		sub(/^.* /, "", tag)
		depth = 1
		members = booleans = closing = 0
		text = ""
		print head in_struct(code_of(substr(line, RLENGTH + 1))) >copy
	} else if (tag != "" && $0 !~ /^[ \t]*#/)
		print in_struct(code_of($0)) >copy
	else
		print >copy
}

END {
	for (key in is_value)
		if (!(key in tags))
			print key " is listed under values, and is no struct of a header" >complaints
	for (key in writer) {
		sub(/\..*/, "", key)
		if (!(key in tags))
			print key " is listed under writers, and is no struct of a header" >complaints
	}
}
