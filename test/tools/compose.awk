# Usage: awk -f compose.awk FILE.c
# Writes the file with the formats of compose_json and compose_text spelled as those of printf, for compose.sh.
{
	line = $0
	result = ""
	while (match(line, /"([^"\\]|\\.)*"|'([^'\\]|\\.)*'|[A-Za-z_][A-Za-z_0-9]*|[()]/)) {
		part = substr(line, RSTART, RLENGTH)
		result = result substr(line, 1, RSTART - 1)
		line = substr(line, RSTART + RLENGTH)
		if (depth == 0)
			within = part ~ /^compose_(json|text)$/ && line ~ /^\(/ ? part : within && part == "(" ? within : ""
		if (within && part == "(")
			depth++
		else if (within && part == ")")
			depth--
		else if (within && depth > 0 && part ~ /^"/) {
			gsub(within == "compose_json" ? "%[bem]" : "%b", "%ls", part)
			gsub(/%d/, "%ld", part)
		}
		result = result part
	}
	print result line
}
