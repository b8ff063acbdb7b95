#!/bin/sh
# Usage: test/sim/bugs.sh [PATCH...], from the top of the tree. Builds the simulation once for each patch in
# test/sim/bugs, or for these, and runs up to 2,000 seeds: each planted bug must be found.
set -eu
top=build/sim-bugs
seeds=2000
missed=0
count=0

[ $# -gt 0 ] || set -- test/sim/bugs/*.patch
rm -rf "$top"
mkdir -p "$top"

# Sources with one bug, compiled and run in a folder of their own; the last line tells how it ended.
try_bug() {
	name=$(basename "$1" .patch)
	tree=$top/$name
	mkdir "$tree"
	cp -R include src/core test/sim "$tree"
	mkdir "$tree/src"
	mv "$tree/core" "$tree/src/core"
	if ! patch -s -p1 -d "$tree" <"$1" >"$tree/out" 2>&1; then
		echo "DOES NOT APPLY" >>"$tree/out"
	elif ! ${CC:-cc} -std=c11 -D_GNU_SOURCE -O1 -w -I"$tree/include" -I"$tree" -o "$tree/world" "$tree"/sim/*.c \
		"$tree"/src/core/*.c -ljansson >>"$tree/out" 2>&1; then
		echo "DOES NOT COMPILE" >>"$tree/out"
	else
		timeout 60 "$tree/world" --seeds $seeds >>"$tree/out" 2>&1 && echo "NOT FOUND" >>"$tree/out"
	fi
}

for patch; do
	try_bug "$patch" &
	count=$((count + 1))
	[ $((count % 2)) -eq 0 ] && wait
done
wait

for patch; do
	name=$(basename "$patch" .patch)
	out=$top/$name/out
	case $(tail -n 1 "$out") in
	"NOT FOUND" | "DOES NOT"*)
		missed=$((missed + 1))
		printf '%-34s %s\n' "$name" "$(tail -n 1 "$out")"
		;;
	*) printf '%-34s %.90s\n' "$name" "$(head -n 1 "$out")" ;;
	esac
done
echo "$count planted bugs, $missed not found within $seeds seeds"
[ "$missed" -eq 0 ]
