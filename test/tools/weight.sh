#!/bin/sh
# Usage: weight.sh [--check]
# Prints how much code the tree is, row by row, beside the limits; --check fails if one is exceeded. Counted is every file
# that git lists under src, include and test, but each README under src and the npm lock file of the tests.
# Row "core, shell": src/core, src/shell, their headers, canceld.c. "cancelctl": src/ctl, its headers, the completions.
# "package": src/package, lines only.
# Tokens are those of C: names, numbers, strings, signs such as "->"; comments are none, nor is a \ at the end of a line,
# nor what #include and #pragma say, so that no headers are merged to save that. Functions are what stands between
# "{" and "}" in the first column, without const tables.
set -eu
cd "$(dirname "$0")/../.."

source=$(git ls-files src include | grep -v '/README$')
tests=$(git ls-files test | grep -v '/package-lock\.json$')
# The lists are names without blanks, meant to be split.
# shellcheck disable=SC2086
{
	sum=$(cat $source | wc -l)
	pages=$(for page in canceld.1 canceld.7 cancelctl.1; do
		echo "$page $(wc -l <man/$page)"
	done)
	LC_ALL=C awk -v sum="$sum" -v pages="$pages" -v check="${1:-}" -f test/tools/weight.awk $source $tests
}
