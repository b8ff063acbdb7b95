# awk -v bug=NAME -v dir=DIR -f bugs.awk bugs.txt SOURCE...: writes the one source that has the bug's old text, with the new
# text in its place, to DIR. Prints the name of that source; or, with status 1, what is wrong with the entry.

function solid(text)
{
	gsub(/[ \t\n]/, "", text)
	return text
}

# The place in text of its n-th character that is no white space.
function place(text, n,	at)
{
	for (at = 1; n > 1 || index(" \t\n", substr(text, at, 1)); at++)
		n -= !index(" \t\n", substr(text, at, 1))
	return at
}

function fail(message)
{
	print message
	failed = 1
	exit 1
}

FNR == 1 { file++ }

file == 1 && /^[a-z-]+: / {
	inside = substr($0, 1, index($0, ":") - 1) == bug
	known = known || inside
}
file == 1 && inside && /^[- ]/ { old = old substr($0, 2) "\n" }
file == 1 && inside && /^[+ ]/ { new = new substr($0, 2) "\n" }
file > 1 { text[FILENAME] = text[FILENAME] $0 "\n" }

END {
	if (failed)
		exit 1
	old = solid(old)
	if (!known || old == "")
		fail("has no entry, or an entry without old text")
	for (name in text) {
		rest = solid(text[name])
		from = index(rest, old)
		if (from == 0)
			continue
		if (++count == 1)
			source = name
		if (index(substr(rest, from + 1), old))
			count++
		start = from
	}
	if (count != 1)
		fail("its old text is found " count + 0 " times, not once")
	whole = text[source]
	output = dir "/" source
	sub(/.*\//, dir "/", output)
	first = place(whole, start)
	printf "%s", substr(whole, 1, first - 1) > output
	rest = substr(whole, first)
	printf "%s%s", new, substr(rest, place(rest, length(old)) + 1) > output
	print source
}
