#!/bin/sh
# Usage: CC='cc FLAGS' floors.sh OBJECTS
# Enforces the order of the tree: a file includes and calls only what stands on its own floor or below it, and no files
# go in a circle. OBJECTS: the objects of src/, compiled without optimization (build/debug/obj). Needs binutils.
set -eu
LC_ALL=C
export LC_ALL

# Folders and files, the lowest floor first; what stands on one line is one floor. A header under include is on the floor
# of the source of its name; one without a source has none, and what it includes counts for whoever includes it. A header
# under src is of its folder, which alone may include it.
floors='
	src/core/base
	src/core/json
	src/core/wire
	src/core/protocol
	src/core/table
	src/core/process
	src/core/session
	src/shell/system
	src/shell/log src/shell/config src/shell/io src/shell/process src/shell/control
	src/shell/loop.c
	src/ctl/lib
	src/ctl/wrap
	src/ctl/commands src/ctl/doctor src/ctl/trace
	src/canceld.c src/cancelctl.c
'

# All that the core may call of the C library; the last ones are what compilers add.
core_calls='malloc calloc realloc reallocarray free abort memcpy memmove memset memcmp memchr memmem strlen strnlen
	strcmp strncmp strncasecmp strcspn strchr strrchr strstr strtod __assert_fail __errno_location __stack_chk_fail
	_GLOBAL_OFFSET_TABLE_ bcmp'

objects=${1%/}
cc=${CC:-cc}
work=$objects/floors
failed=0

# Shows what the last check wrote to the file of complaints.
complain() # check
{
	[ -s "$work/complaints" ] || return 0
	sed "s/^/$1: /" "$work/complaints"
	failed=1
}

mkdir -p "$work"
sources=$(find include src -name '*.[ch]' | sort)
# Only one file of src/shell/system for a system is compiled.
files=$(echo "$sources" | sed -n "s,\(.*\)\.c\$,$objects/\1.o,p" | while read -r file; do
	case $file in
	*/system_*) [ ! -e "$file" ] || echo "$file" ;;
	*) echo "$file" ;;
	esac
done)

# "FILE includes FILE", and "FILE calls NAME of FILE".
# The lists are names without blanks, meant to be split.
# shellcheck disable=SC2046,SC2086
{
	awk '/^[ \t]*#[ \t]*include[ \t]*"/ {
		split($0, part, "\"")
		beside = FILENAME
		sub(/[^\/]*$/, "", beside)
		print FILENAME, "includes", (part[2] ~ /\// ? "include/" : beside) part[2]
	}' $sources >"$work/edges"
	nm -A -P $files | awk -v root="$objects/" '
	{
		file = substr($1, length(root) + 1)
		sub(/\.o:$/, ".c", file)
	}
	$3 ~ /[Uwv]/ { wanted[file " " $2] }
	$3 ~ /[A-TV-Z]/ && $2 != "main" { home[$2] = file }
	END {
		for (use in wanted) {
			split(use, part, " ")
			if (part[2] in home)
				print part[1], "calls", part[2], "of", home[part[2]]
		}
	}' | sort >>"$work/edges"

	awk -v floors="$floors" -v sources="$sources" '
	function floor_of(file,    path)
	{
		if (file ~ /^include\//)
			file = namesake[name_of(file)]
		for (path = file; path ~ /\//; sub(/\/[^\/]*$/, "", path))
			if (path in floor)
				return floor[path]
		return 0
	}

	# include/core/NAME.h and src/core/FOLDER/NAME.c have one name.
	function name_of(file)
	{
		sub(/\.[ch]$/, "", file)
		sub(/^[a-z]*\//, "", file)
		return file ~ /\/.*\// ? substr(file, 1, index(file, "/")) substr(file, match(file, /[^\/]*$/)) : file
	}

	# All that a file includes, by itself and through headers without a floor.
	function includes(file, by,    list, count, i)
	{
		count = split(included[by], list, " ")
		for (i = 1; i <= count; i++)
			if (floor_of(list[i]) > floor_of(file))
				print file " includes " list[i] (by == file ? "" : " by " by) ", above it"
			else if (floor_of(list[i]) == 0)
				includes(file, list[i])
	}

	BEGIN {
		count = split(floors, line, "\n")
		for (i = 1; i <= count; i++)
			for (k = split(line[i], path, " "); k > 0; k--)
				floor[path[k]] = i
		for (k = split(sources, path, "\n"); k > 0; k--)
			if (path[k] ~ /\.c$/)
				namesake[name_of(path[k])] = path[k]
	}
	$2 == "includes" { included[$1] = included[$1] " " $3 }
	$2 == "calls" && floor_of($5) > floor_of($1) { print $1 " calls " $3 " of " $5 ", above it" }
	END {
		for (file in included)
			if (floor_of(file) != 0)
				includes(file, file)
		for (name in namesake)
			if (namesake[name] != "" && floor_of(namesake[name]) == 0)
				print namesake[name] " is on no floor"
	}' "$work/edges" | sort -u >"$work/complaints"
	complain order

	# tsort names the members of each circle on lines of their own.
	awk '$2 == "calls" && $1 != $5 { print $1, $5 }' "$work/edges" | tsort 2>&1 >/dev/null |
		sed 's/^tsort: //' >"$work/complaints"
	complain calls
	awk '$2 == "includes" { print $1, $3 }' "$work/edges" | tsort 2>&1 >/dev/null | sed 's/^tsort: //' >"$work/complaints"
	complain includes

	# cancelctl asks the session for the little that state.c and pending.c have; what else it would link makes it larger.
	awk '
	$2 == "calls" { called[$1] = called[$1] " " $5 }
	END {
		wanted[1] = "src/cancelctl.c"
		for (i = count = 1; i <= count; i++) {
			if (wanted[i] ~ /^src\/core\/session\// && wanted[i] != "src/core/session/state.c")
				print "cancelctl needs " wanted[i] ", by " by[wanted[i]]
			for (k = split(called[wanted[i]], path, " "); k > 0; k--)
				if (!(path[k] in by)) {
					by[path[k]] = wanted[i]
					wanted[++count] = path[k]
				}
		}
	}' "$work/edges" >"$work/complaints"
	complain session

	# A header under include is for several folders; what one folder alone uses stands beside its sources, where
	# others than its source, or tests, include it.
	awk -v tests="$(grep -rhoE --include='*.[ch]' '"(core|shell|ctl)/[a-z]+/[a-z_-]+\.h"' test | tr '\n' ' ')" '
	function folder_of(file)
	{
		sub(/\/[^\/]*$/, "", file)
		return file
	}

	function reach(file, folder,    list, count, i)
	{
		count = split(included[file], list, " ")
		for (i = 1; i <= count; i++)
			if (list[i] ~ /^include\// && !((list[i], folder) in reached)) {
				reached[list[i], folder]
				folders[list[i]]++
				reach(list[i], folder)
			}
	}

	$2 == "includes" {
		included[$1] = included[$1] " " $3
		if (substr($1, 1, length($1) - 2) != substr($3, 1, length($3) - 2))
			others[$3]++
		headers[$3]
	}
	END {
		for (file in included)
			if (file ~ /\.c$/)
				reach(file, folder_of(file))
		for (file in headers)
			if (file ~ /^include\// && (getline line <file) < 0)
				print file " is not there: a folder sees its own headers and those under include"
			else if (file ~ /^include\// && folders[file] < 2)
				print file " is used by one folder alone, and belongs beside its sources"
			else if (file ~ /^src\// && others[file] == 0 && !index(tests, substr(file, 5)))
				print file " is included by nobody else"
	}' "$work/edges" >"$work/complaints"
	complain headers

	nm -A -P $(echo "$files" | grep /core/) | awk -v allowed="$core_calls" '
	BEGIN {
		for (i = split(allowed, word, " "); i > 0; i--)
			known[word[i]]
	}
	$3 ~ /[Uwv]/ { user[$2] = $1 }
	$3 ~ /[A-TV-Z]/ { known[$2] }
	END {
		for (name in user)
			if (!(name in known))
				print user[name] " " name " is not for the core"
	}' >"$work/complaints"
	complain core

	for header in $(echo "$sources" | grep '\.h$'); do
		echo "#include \"$header\"" | $cc -I. -Werror -fsyntax-only -x c - >&2 || echo "$header does not compile alone"
	done >"$work/complaints"
	complain headers

	# A function is what stands between "{" and "}" in the first column, without its const tables.
	awk '
	function end_of_file()
	{
		if (lines > 800 && file !~ /^test/)
			print file ": " lines " lines; 800 are enough"
	}
	FNR == 1 {
		end_of_file()
		file = FILENAME
		start = in_table = 0
	}
	{ lines = FNR }
	/^\{/ {
		start = FNR
		tables = 0
	}
	start && /^\tstatic const .*= \{$/ { in_table = 1 }
	in_table { tables++ }
	/^\t\};/ { in_table = 0 }
	/^\}/ && start {
		if (FNR - start - 1 - tables > 60)
			print FILENAME ":" start ": a function of " FNR - start - 1 - tables " lines; 60 are enough"
		start = 0
	}
	END { end_of_file() }
	' $sources $(find test -name node_modules -prune -o -name '*.[ch]' -print) >"$work/complaints"
	complain length

	# A string is not broken for its length; a character of UTF-8 is one column.
	for file in $sources $(find test -name node_modules -prune -o -name '*.[ch]' -print); do
		tr -d '\200-\277' <"$file" | expand | awk -v file="$file" '
		{ gsub(/"([^"\\]|\\.)*"/, "\"\"") }
		length > 100 { print file ":" FNR ": " length " columns; 100 are enough" }'
	done >"$work/complaints"
	complain columns
}

if [ $failed = 0 ]; then
	echo "floors: $(echo "$sources" | wc -l) files in order"
else
	echo 'floors: FAILED'
	exit 1
fi
