#!/bin/sh
# Usage: busy.sh [TIMES [PROCESSES]]
# make check so many times (10) beside processes that compute (4). What failed is left in build/busy.
set -eu
cd "$(dirname "$0")/../.."
times=${1:-10} processes=${2:-4}
failed=0

# Each ends with this one.
for _ in $(seq "$processes"); do
	# shellcheck disable=SC2016
	sh -c 'while kill -0 "$1" 2>/dev/null; do :; done' sh $$ &
done
rm -rf build/busy
mkdir -p build/busy
for i in $(seq "$times"); do
	start=$(date +%s)
	result=passed
	if ! make check >"build/busy/$i.log" 2>&1; then
		result=FAILED failed=$((failed + 1))
		cp -R build/release/check "build/busy/$i"
	fi
	printf '%2d  %s  %4d s\n' "$i" $result $(($(date +%s) - start))
done
echo "$failed of $times failed"
[ $failed = 0 ]
