#!/bin/sh
# Usage: [SEEDS=3000] test/sim/bugs.sh [PATCH...], from the top of the tree. Builds the simulation once for each patch in
# test/sim/bugs, or for these, and runs up to so many seeds: each planted bug must be found. A patch is for one file.
set -eu
top=build/sim-bugs
seeds=${SEEDS:-3000}
jobs=2
missed=0
count=0

[ $# -gt 0 ] || set -- test/sim/bugs/*.patch
rm -rf "$top"
mkdir -p "$top/sound"

# So many at a time.
pace() {
	count=$((count + 1))
	[ $((count % jobs)) -ne 0 ] || wait
}

compile() { # source, object
	${CC:-cc} -std=c11 -D_GNU_SOURCE -O1 -w -Iinclude -Itest -Isrc/core -c -o "$2" "$1"
}

# All objects but the one that has the bug.
sound_but() {
	for object in "$top"/sound/*.o; do
		[ "${object##*/}" = "$1" ] || echo "$object"
	done
}

# The last line of its output tells how it ended.
try_bug() {
	tree=$top/$(basename "$1" .patch)
	source=$(sed -n 's,^+++ b/,,p' "$1")
	object=$(basename "$source" .c).o
	mkdir -p "$tree/$(dirname "$source")"
	cp "$source" "$tree/$source"
	# shellcheck disable=SC2046
	if ! patch -s -p1 -d "$tree" <"$1" >"$tree/out" 2>&1; then
		echo "DOES NOT APPLY" >>"$tree/out"
	elif ! compile "$tree/$source" "$tree/$object" >>"$tree/out" 2>&1 ||
		! ${CC:-cc} -o "$tree/world" "$tree/$object" $(sound_but "$object") -ljansson -lm >>"$tree/out" 2>&1; then
		echo "DOES NOT COMPILE" >>"$tree/out"
	else
		timeout 120 "$tree/world" --seeds "$seeds" --most 1 >>"$tree/out" 2>&1 && echo "NOT FOUND" >>"$tree/out"
	fi
}

for source in src/core/*.c test/sim/*.c; do
	compile "$source" "$top/sound/$(basename "$source" .c).o" &
	pace
done
wait

for patch; do
	try_bug "$patch" &
	pace
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
echo "$# planted bugs, $missed not found within $seeds seeds"
[ "$missed" -eq 0 ]
