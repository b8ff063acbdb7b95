#!/bin/sh
# Usage: recipes.sh VERSION ARCHIVE URL HOMEPAGE DIRECTORY
# Writes Homebrew's formula and Arch's PKGBUILD into DIRECTORY, out of the templates beside this script, with the checksum
# of ARCHIVE: the file that make dist has made and that a person has put at URL. What a forge packs by itself has another.
set -eu
here=$(dirname "$0")
version=$1 archive=$2 url=$3 homepage=$4 directory=$5

if [ -z "$url" ] || [ -z "$homepage" ]; then
	echo "recipes: say where $archive can be fetched: make recipes URL=https://... HOMEPAGE=https://..." >&2
	exit 1
fi
sum=$(sha256sum "$archive")
mkdir -p "$directory"
for recipe in homebrew/canceld.rb arch/PKGBUILD; do
	sed -e '/^# Template/d' -e "s|@VERSION@|$version|" -e "s|@URL@|$url|" -e "s|@HOMEPAGE@|$homepage|" \
		-e "s|@SHA256@|${sum%% *}|" "$here/$recipe" >"$directory/${recipe#*/}"
	echo "$directory/${recipe#*/}"
done
