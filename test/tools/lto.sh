#!/bin/sh
# Usage: lto.sh CC AR
# Prints the flags for link time optimization through a static library that this compiler, archiver and linker
# understand together; nothing if there are none.
set -eu

cc=$1
ar=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
echo 'int part(void); int part(void) { return 0; }' >part.c
echo 'int part(void); int main(void) { return part(); }' >whole.c

works()
{
	# shellcheck disable=SC2086
	rm -f part.a && $cc -Werror -O2 $1 -c part.c && $ar rcs part.a part.o &&
		$cc -Werror -O2 $1 whole.c part.a -o whole && ./whole
}

for flags in '-flto=auto -ffat-lto-objects' -flto; do
	if works "$flags" >/dev/null 2>&1; then
		echo "$flags"
		exit
	fi
done
