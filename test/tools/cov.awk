# Usage: gcov -b -c -t OBJECT... | awk [-v list=1] -f cov.awk: of each file of src, the lines that were executed and the
# branches that were taken; then of the core, the shell, what differs between systems, and cancelctl. What several objects
# have, as the functions of a header, is taken if one of them takes it. list: each branch that never was taken, with its
# line, for which test/tools/untaken has no reason; and what that file has although it was taken, or is not there.

function part_of(file)
{
	if (file ~ /\/core\//)
		return "core"
	if (file ~ /\/ctl\/|cancelctl/)
		return "cancelctl"
	return file ~ /\/system\// ? "system" : "shell"
}

function row(name)
{
	return sprintf("%6.2f %% of %5d lines, %6.2f %% of %5d branches  %s%s", 100 * ran[name] / lines[name], lines[name], \
		branches[name] ? 100 * taken[name] / branches[name] : 100, branches[name], name, \
		name in unjudged ? "; without a reason: " unjudged[name] : "")
}

function count_line(name)
{
	lines[name]++
	ran[name] += line_ran[at]
}

function count_branch(name)
{
	branches[name]++
	taken[name] += branch_taken[at]
}

# Lines of reasons, and under them, after a tab, "FILE FUNCTION: LINE".
BEGIN {
	while ((getline line <"test/tools/untaken") > 0)
		if (line ~ /^\t/)
			judged[substr(line, 2)] = 0
}

/^function / {
	function_name = $2
	sub(/\.(part|constprop|isra)\.[0-9]+$/, "", function_name)
}

/^ *-: *0:Source:/ {
	file = $0
	sub(/^ *-: *0:Source:/, "", file)
	ours = file ~ /^(src|include)\//
}

ours && /^ *[0-9#=*-]+[*]?: *[1-9][0-9]*:/ {
	split($0, column, ":")
	number = column[2] + 0
	text = substr($0, length(column[1]) + length(column[2]) + 3)
	gsub(/^[ \t]+|[ \t]+$/, "", text)
	source[file, number] = text
	place[file, number] = file " " function_name ": " text
	next_branch = 0
	if (column[1] !~ /-$/) {
		all_lines[file, number]
		line_ran[file, number] = line_ran[file, number] || column[1] ~ /[0-9]/
	}
}

ours && /^branch / {
	key = file SUBSEP number SUBSEP next_branch++
	all_branches[key]
	branch_taken[key] = branch_taken[key] || $0 ~ /taken [1-9]/
}

END {
	for (at in all_lines) {
		split(at, of, SUBSEP)
		files[of[1]]
		count_line(of[1])
		count_line(part_of(of[1]))
	}
	for (at in all_branches) {
		split(at, of, SUBSEP)
		count_branch(of[1])
		count_branch(part_of(of[1]))
		if (branch_taken[at])
			continue
		# An assertion is never false.
		where = place[of[1], of[2]]
		if (where in judged)
			judged[where]++
		else if (source[of[1], of[2]] !~ /^assert\(/) {
			unjudged[part_of(of[1])]++
			if (list)
				printf "%s:%d: branch %d of: %s\n", of[1], of[2], of[3], where | "sort -t: -k1,1 -k2,2n"
		}
	}
	if (list) {
		close("sort -t: -k1,1 -k2,2n")
		for (where in judged)
			if (!judged[where])
				print "in test/tools/untaken, and taken or gone: " where
	}
	for (name in files)
		print row(name) | "sort -k11"
	close("sort -k11")
	if (!lines["core"]) {
		print "no coverage found"
		exit 1
	}
	print row("core")
	print row("shell")
	print row("system")
	print row("cancelctl")
}
