#!/bin/sh
# Usage: [CC=cc] floors.sh build/floors/libcanceld.a
# The house's plan, enforced: who may include whom, that the core knows nothing of the system, and that every
# header stands alone.
set -eu
LC_ALL=C
export LC_ALL

archive=$1
cc=${CC:-cc}
failed=0

# The lowest floor first. A module may include modules of the lines above its own, and itself. A file belongs
# to the module whose name it has, or whose name and "_" it begins with (session_client.c is session).
floors='
0  clock limits mem why
0  buf
0  utf8
1  alike hash unescape
1  text
1  scan
1  framing
2  lane
2  dialect id timeline
3  compose envelope finished pending policy restart
3  decide
4  session supervisor
5  descriptor proc spin
5  ancestor log sweep
5  guardian
6  options child report relay
7  proxy
8  canceld
'

# All that the core may take from outside: of the headers, and of the names that its objects leave undefined.
core_headers='assert.h emmintrin.h errno.h float.h inttypes.h limits.h arm_neon.h stdalign.h stdarg.h stdbool.h
	stddef.h stdint.h stdlib.h stdnoreturn.h string.h sys/mman.h'
core_names='malloc calloc realloc reallocarray free mmap munmap madvise abort __assert_fail __errno_location
	memcpy memmove memset memcmp bcmp memchr memrchr rawmemchr memmem
	strlen strnlen strcmp strncmp strchr strrchr strstr strtod'

# `nm -u` of these would show a name that stands for no call.
ignored_names='_GLOBAL_OFFSET_TABLE_'

sources=$(find include src -name '*.[ch]' | sort)

# shellcheck disable=SC2086
awk -v floors="$floors" -v core_headers="$core_headers" '
BEGIN {
	count = split(floors, lines, "\n")
	for (i = 1; i <= count; i++) {
		words = split(lines[i], word, " ")
		for (j = 2; j <= words; j++) {
			level[word[j]] = i
			label[word[j]] = word[1]
		}
	}
	count = split(core_headers, word, " ")
	for (i = 1; i <= count; i++)
		allowed[word[i]] = 1
}

function complain(text)
{
	print FILENAME ":" FNR ": " text
	failed = 1
}

function module_of(path,    name)
{
	name = path
	sub(/^.*\//, "", name)
	sub(/\.[ch]$/, "", name)
	while (!(name in level) && name ~ /[_-]/)
		sub(/[_-][^_-]*$/, "", name)
	return name
}

function directory_of(path)
{
	sub(/\/[^\/]*$/, "", path)
	sub(/^.*\//, "", path)
	return path
}

FNR == 1 {
	module = module_of(FILENAME)
	in_core = directory_of(FILENAME) == "core"
	if (!(module in level))
		complain("module \"" module "\" is on no floor (table in test/tools/floors.sh)")
	else if (in_core != (label[module] <= 4))
		complain("floor " label[module] " is " (in_core ? "above" : "below") " the line")
}

/^[ \t]*#[ \t]*include/ {
	quoted = /"/
	name = $0
	sub(/^[^<"]*[<"]/, "", name)
	sub(/[>"].*$/, "", name)
	if (!quoted) {
		if (in_core && !(name in allowed))
			complain("<" name "> is not for the core")
		next
	}
	if (name ~ /^(core|shell)\//) {
		if (in_core && name ~ /^shell\//)
			complain("the core includes \"" name "\" of the shell")
	} else if (name ~ /\//)
		complain("\"" name "\": want \"core/...\", \"shell/...\" or a header beside this file")
	other = module_of(name)
	if (!(other in level))
		complain("\"" name "\" belongs to no module")
	else if (other != module && level[other] >= level[module])
		complain(module " (floor " label[module] ") includes " other " (floor " label[other] ")")
}

END { exit failed }
' $sources || failed=1

leaks=$({
	nm -g --defined-only "$archive" | awk 'NF == 3 { print "defined", $3 }'
	nm -A -u "$archive" | sed 's/:[ \t]*[Uw] / U /' | awk '{ print "wanted", $NF, $1 }'
} | awk -v allowed="$core_names $ignored_names" '
	BEGIN {
		count = split(allowed, word)
		for (i = 1; i <= count; i++)
			known[word[i]] = 1
	}
	$1 == "defined" { known[$2] = 1 }
	$1 == "wanted" && !($2 in known) { print $3 " calls " $2 ", which is not for the core" }
')
if [ -n "$leaks" ]; then
	echo "$leaks"
	failed=1
fi

headers=$(echo "$sources" | grep '\.h$' || :)
for header in $headers; do
	# shellcheck disable=SC2086
	echo "#include \"$header\"" | $cc -std=c11 -D_GNU_SOURCE -I. -Iinclude ${EV_CFLAGS:-} ${CPPFLAGS:-} \
		-Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c - || {
		echo "$header: does not compile alone"
		failed=1
	}
done

[ $failed = 0 ] || exit 1
# shellcheck disable=SC2086
echo "floors: $(echo $sources | wc -w) files and $(nm "$archive" | grep -c '^[^ ].*\.o:') objects are in order," \
	"$(echo $headers | wc -w) headers compile alone"
