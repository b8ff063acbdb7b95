#!/bin/sh
# Usage: [SEEDS=5000] test/sim/bugs.sh [NAME...], from the top of the tree. Plants each bug of test/sim/bugs.txt, or
# these, alone into the core: the simulation must find each of them within so many seeds.
set -eu
top=build/sim-bugs
bugs=test/sim/bugs.txt
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
export SEEDS="${SEEDS:-5000}"

compile() { # source, object
	${CC:-cc} -std=c11 -D_GNU_SOURCE -O1 -w -Iinclude -Itest -Isrc -Isrc/core/json -Isrc/core/session -c -o "$2" "$1"
}

build_with_bug() { # name, directory
	source=$(awk -v bug="$1" -v dir="$2" -f test/sim/bugs.awk "$bugs" src/core/*/*.c) || {
		echo "CANNOT BE PLANTED: $source"
		return 1
	}
	object=$2/bug.o
	compile "$2/$(basename "$source")" "$object" || {
		echo "DOES NOT COMPILE in $source"
		return 1
	}
	# The linker takes nothing from the archive for what the changed object has.
	${CC:-cc} -o "$2/sim" "$object" "$top"/sim/*.o "$top/core.a" -ljansson -lm || {
		echo "DOES NOT LINK"
		return 1
	}
}

# Prints one line about the bug; fails if it was not found.
try_bug() {
	dir=$top/bugs/$1
	mkdir -p "$dir"
	status=0
	if build_with_bug "$1" "$dir" >"$dir/out" 2>&1; then
		timeout 300 "$dir/sim" --seeds "$SEEDS" --most 1 >"$dir/out" 2>&1 || status=$?
		case $status in
		0) echo "NOT FOUND" >"$dir/out" ;;
		124) echo "NOT FOUND in 300 s" >"$dir/out" ;;
		esac
		status=0
	fi
	case $(tail -n 1 "$dir/out") in
	"NOT FOUND"* | "CANNOT BE PLANTED"* | "DOES NOT"*)
		sed -n '$s/^/MISSED: /; $p' "$dir/out" >"$dir/result"
		status=1
		;;
	*) sed -n 1p "$dir/out" >"$dir/result" ;;
	esac
	printf '%-42s %.200s\n' "$1" "$(cat "$dir/result")"
	return "$status"
}

case ${1:-} in
--compile)
	compile "$3" "$top/$2/$(basename "$3" .c).o"
	exit
	;;
--try)
	try_bug "$2"
	exit
	;;
esac

rm -rf "$top"
mkdir -p "$top/core" "$top/sim" "$top/bugs"
{
	printf 'core %s\n' src/core/*/*.c
	printf 'sim %s\n' test/golden.c test/sim/*.c
} | xargs -n 2 -P "$jobs" "$0" --compile
ar rcs "$top/core.a" "$top"/core/*.o

# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(sed -n 's/^\([a-z-]*\): .*/\1/p' "$bugs")
missed=0
printf '%s\n' "$@" | xargs -n 1 -P "$jobs" "$0" --try || missed=1
echo "$# planted bugs, $([ "$missed" -eq 0 ] && echo all || echo NOT ALL) found within $SEEDS seeds"
exit "$missed"
