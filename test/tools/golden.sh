#!/bin/sh
# Usage: [BASE=COMMIT] [GOLDEN=DIRECTORY] golden.sh
# Makes the record of the commit at hand: what canceld writes and decides, as hashes, in all scenarios at 3 splits and with
# fillers, 5,000 simulated worlds and both corpora of the fuzzers. With BASE, tells which cases differ from that commit's,
# whose record is made first if there is none; fails if any does. Records are kept in GOLDEN, by commit; that of a changed
# tree is named after its changes.
set -eu
cd "$(dirname "$0")/../.."
records=${GOLDEN:-build/golden}

record() { # directory of the tree, file
	"${MAKE:-make}" -C "$1" -s build/release/scenario build/release/sim build/release/replay-scan build/release/replay-session
	(
		cd "$1"
		# A case that fails has its hash, too, and those behind it have theirs.
		set +e
		build/release/scenario --golden test/scenario
		build/release/scenario --golden --fillers test/scenario
		build/release/sim --golden --seeds 5000
		build/release/replay-scan --golden test/fuzz/corpus/scan/*
		build/release/replay-session --golden test/fuzz/corpus/session/*
	) | grep ' | ' | sort >"$2.part"
	mv "$2.part" "$2"
}

name_of_changes() {
	git diff HEAD -- src include test Makefile | cksum | tr ' ' -
}

# Prints the file of the commit's record, after making it in a tree of its own.
record_of() { # commit
	file=$records/$1
	if ! [ -f "$file" ]; then
		git worktree add -q --detach "$records/tree-$1" "$1"
		record "$records/tree-$1" "$(realpath "$records")/$1" >&2 || echo "golden: $1 has no golden runs" >&2
		git worktree remove -f "$records/tree-$1"
	fi
	[ -f "$file" ] && echo "$file"
}

mkdir -p "$records"
now=$records/$(git rev-parse HEAD)
[ -z "$(git diff HEAD -- src include test Makefile)" ] || now=$now-$(name_of_changes)
[ -f "$now" ] || record . "$now"
echo "$(wc -l <"$now") cases: $now"
[ -n "${BASE:-}" ] || exit 0
base=$(record_of "$(git rev-parse "$BASE^{commit}")")
differing=$(diff "$base" "$now" | sed -n 's/^[<>] \(.*\) | .*/\1/p' | sort -u)
[ -z "$differing" ] || printf '%s\n' "$differing"
echo "$(printf '%s' "$differing" | grep -c '') cases differ from $base"
[ -z "$differing" ]
