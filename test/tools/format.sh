#!/bin/sh
# Usage: format.sh -i | --dry-run
# clang-format with .clang-format over every source. Its releases disagree with each other: only one is asked.
set -eu

release=14
program=
for candidate in clang-format-$release clang-format; do
	if $candidate --version 2>/dev/null | grep -q "version $release\\."; then
		program=$candidate
		break
	fi
done
if [ -z "$program" ]; then
	echo "clang-format $release not found"
	exit 69
fi
find include src test -name node_modules -prune -o -name '*.[ch]' -print0 |
	xargs -0 "$program" -style=file -Werror "$@"
