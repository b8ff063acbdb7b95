#!/bin/sh
# Usage: CC='cc FLAGS' floors.sh LIST OBJECTS
# Enforces the order of the files in the tree of the current directory. LIST: floors.txt. OBJECTS: the objects of src/,
# compiled with -O0 -ffunction-sections and no flag that hides or adds a name (VARIANT=floors). Needs binutils.
set -eu
LC_ALL=C
export LC_ALL

list=$1
objects=${2%/}
tools=$(dirname "$0")
cc=${CC:-cc}
work=$objects/floors
failed=0

# The words of one list of LIST, line by line.
words()
{
	awk -v want="$1" '/^[^ \t#]/ { wanted = $1 == want; next } wanted { sub(/#.*/, ""); print }' "$list"
}

complain()
{
	[ -s "$work/complaints" ] || return 0
	sed "s/^/$1: /" "$work/complaints"
	failed=1
}

rm -rf "$work"
mkdir -p "$work/include" "$work/src"
sources=$(find include src -name '*.[ch]' | sort)
units=$(echo "$sources" | grep '\.c$')
headers=$(echo "$sources" | grep '\.h$')
files=$(echo "$units" | sed "s,^src/,$objects/src/,; s,c\$,o,")
core=$(echo "$files" | grep '/core/')

# The lists are names without blanks, meant to be split.
# shellcheck disable=SC2046,SC2086
{
	nm -A -P $files >"$work/names"
	objdump -dr --no-show-raw-insn $files >"$work/code"

	# Modules as "FLOOR DIRECTORY/NAME".
	{
		words core | sed 's,[^ 	][^ 	]*,core/&,g'
		words shell | sed 's,[^ 	][^ 	]*,shell/&,g'
		words ctl | sed 's,[^ 	][^ 	]*,ctl/&,g'
		words program
	} | awk '{ for (i = 1; i <= NF; i++) print NR, $i }' >"$work/modules"

	# Includes as "include FILE FILE"; calls, and other uses of another file's names, as "use FILE FILE NAME".
	awk '
	/^[ \t]*#[ \t]*include[ \t]*"/ {
		split($0, part, "\"")
		name = part[2]
		beside = FILENAME
		sub(/[^\/]*$/, name, beside)
		print "include", FILENAME, name ~ /^(core|shell|ctl)\// ? "include/" name : beside
	}' $sources >"$work/includes"
	awk -v root="$objects/" '
	{
		file = substr($1, length(root) + 1)
		sub(/\.o:$/, ".c", file)
	}
	$3 == "U" || $3 == "w" || $3 == "v" { wanted[file, $2]; next }
	$3 ~ /[A-TV-Z]/ && $2 != "main" { home[$2] = file }
	END {
		for (key in wanted) {
			split(key, part, SUBSEP)
			if (part[2] in home)
				print "use", part[1], home[part[2]], part[2]
		}
	}' "$work/names" | sort >"$work/uses"

	echo "$sources" | awk '
	function module_of(path)
	{
		sub(/^(include|src)\//, "", path)
		sub(/\.[ch]$/, "", path)
		return path
	}
	FILENAME ~ /modules$/ { floor[$2] = $1; next }
	FILENAME == "-" {
		module = module_of($1)
		there[module]
		if (!(module in floor))
			print $1 " is on no floor"
		next
	}
	{
		from = module_of($2)
		to = module_of($3)
		if (from != to && from in floor && to in floor && floor[from] <= floor[to] && ++count[$1, from, to] == 1) {
			line[++lines] = $2 ($1 == "use" ? " uses " $4 " of " : " includes ") $3
			key[lines] = $1 SUBSEP from SUBSEP to
			side[lines] = floor[from] == floor[to] ? ", on its own floor" : ", above it"
		}
	}
	END {
		for (i = 1; i <= lines; i++)
			print line[i] (count[key[i]] > 1 ? " and " count[key[i]] - 1 " more" : "") side[i]
		for (module in floor)
			if (!(module in there))
				print module " is on a floor, and is no file"
	}' "$work/modules" - "$work/includes" "$work/uses" >"$work/complaints"
	complain order

	awk '{ print $2, $3, $4 }' "$work/uses" | awk -v what=files -f "$tools/circles.awk" >"$work/complaints" || :
	complain calls
	awk '$2 ~ /\.h$/ { print $2, $3 }' "$work/includes" |
		awk -v what=headers -f "$tools/circles.awk" >"$work/complaints" || :
	complain includes

	awk -v root="$objects/src/" -f "$tools/functions.awk" "$work/names" "$work/code" >"$work/calls"
	case $(objdump -f $core | awk '/^architecture/ { print $2; exit }') in
	i386:x86-64* | aarch64*)
		awk '$1 == "call" { print $2, $3 }' "$work/calls" | sort -u |
			awk -v what=functions -v allowed="$(words recursion | tr '\n' ';')" -f "$tools/circles.awk" \
				>"$work/complaints" || :
		complain functions
		awk -v allowed="$(words core-indirect)" '
		BEGIN {
			count = split(allowed, word)
			for (i = 1; i <= count; i++)
				listed[word[i]]
		}
		$1 == "pointer" && $2 ~ /^core\// && !($2 in listed) { print $2 " calls through a pointer" }
		' "$work/calls" | sort -u >"$work/complaints"
		complain functions
		;;
	*)
		echo 'functions: not checked, as the calls of this machine are not known'
		;;
	esac

	# The core knows nothing of the system.
	awk -v allowed="$(words core-headers)" '
	BEGIN {
		count = split(allowed, word)
		for (i = 1; i <= count; i++)
			listed[word[i]]
	}
	/^[ \t]*#[ \t]*include[ \t]*</ {
		split($0, part, /[<>]/)
		if (!(part[2] in listed))
			print FILENAME ":" FNR ": <" part[2] "> is not for the core"
	}
	/^[ \t]*#[ \t]*include[ \t]*"shell\// { print FILENAME ":" FNR ": the core includes the shell" }
	' $(echo "$sources" | grep /core/) >"$work/complaints"
	nm -A -P $core | awk -v allowed="$(words core-calls)" '
	BEGIN {
		count = split(allowed " _GLOBAL_OFFSET_TABLE_", word)
		for (i = 1; i <= count; i++)
			listed[word[i]]
	}
	$3 ~ /[Uwv]/ && NF == 3 { users[$2] = users[$2] " " $1 }
	$3 ~ /[A-TV-Z]/ { listed[$2] }
	END {
		for (name in users)
			if (!(name in listed))
				print name " is not for the core:" users[name]
	}' >>"$work/complaints"
	complain core

	# Which file writes what. Each file is compiled alone, with the members that it may not write made const: members.awk.
	# So the compiler finds assignments, increments and addresses given away. Allowed besides: the owner of a struct sets
	# all of it at once, what others own in it too. Not seen: memset and memcpy over a whole struct, and casts.
	mkdir -p $(echo "$sources" | sed "s,[^/]*\$,,; s,^,$work/," | sort -u)
	: >"$work/complaints"
	awk -v values="$(words values)" -v writers="$(words writers)" -v to="$work" -v complaints="$work/complaints" \
		-f "$tools/members.awk" $sources $sources >"$work/structs"
	complain members
	grep -rhow 'WRITTEN_BY_[A-Za-z0-9_]*' "$work/include" "$work/src" | sort -u |
		sed 's/.*/#ifndef &\n#define & const\n#endif/' >"$work/written.h"
	for unit in $units; do
		module=$(echo "$unit" | sed 's,^src/,,; s,\.c$,,')
		define=$(echo "$module" | sed 's,[^A-Za-z0-9_],_,g')
		(cd "$work" && $cc -fsyntax-only -include written.h "-DWRITTEN_BY_$define=" "$unit" 2>&1) |
			awk -v unit="$unit" -v own="$module.h" '
			FILENAME != "-" {
				if ($4 == "include/" own || $4 == "src/" own)
					own_tags[$1]
				next
			}
			$1 !~ /:[0-9]+:[0-9]+:$/ || !/error:|warning:/ { next }
			{
				split($1, place, ":")
				if (place[1] != unit && substr(place[1], length(place[1]) - length(own) + 1) != own)
					next
				if (/read-only|const-qualified|discards/) {
					for (line = 0; line < place[2] && (getline text <place[1]) > 0; line++)
						;
					close(place[1])
					sub(/^[ \t]*/, "", text)
					tag = text
					if (sub(/^\*?[a-z_]+ = \(struct /, "", tag) && sub(/\).*/, "", tag) && tag in own_tags)
						next
					print place[1] ":" place[2] ": writes what is not its own: " text
				} else if (/error:/)
					print
			}' "$work/structs" -
	done | uniq >"$work/complaints"
	complain members

	for header in $headers; do
		echo "#include \"$header\"" | $cc -I. -Werror -fsyntax-only -x c - >&2 || echo "$header does not compile alone"
	done >"$work/complaints"
	complain headers

	awk -f "$tools/length.awk" $(find include src test -name node_modules -prune -o -name '*.[ch]' -print) || failed=1
	sort -k 2,2nr "$work/structs" |
		awk 'NR == 1 { print "largest struct: " $1 " (" $4 "), " $2 " members, " $3 " booleans" }'
}

if [ $failed = 0 ]; then
	echo "floors: $(echo "$sources" | wc -l) files and $(grep -c '^call' "$work/calls") calls in order"
else
	echo 'floors: FAILED'
	exit 1
fi
