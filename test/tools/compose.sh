#!/bin/sh
# Usage: compose.sh FILE.c...
# The compiler checks the formats of compose_json and compose_text and their arguments as those of printf. A format that is
# no literal, as that of a row, is not checked.
set -eu
here=$(dirname "$0")
failed=0

for file; do
	grep -q '^[^a-z].*\<compose_\(json\|text\)(' "$file" || continue
	awk -f "$here/compose.awk" "$file" |
		"${CC:-cc}" -fsyntax-only -std=c11 -Wformat -Wpedantic -Werror -Wno-format-zero-length \
			-D_GNU_SOURCE '-DCANCELD_VERSION="0"' -Iinclude -I"$(dirname "$file")" \
			-include "$here/compose.h" -x c - || {
		echo "$file: a format of compose_json or compose_text"
		failed=1
	}
done
exit $failed
