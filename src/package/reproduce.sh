#!/bin/sh
# Usage: reproduce.sh
# Makes the release of the commit that is checked out in a clone, and again, in a longer path, with another umask, time
# zone and language, in what `make dist` packs, which has no git: there for TARGETS, else for one target of each system.
# All bytes must be the same. The files are left in build/release-files. Takes TARGETS, WERROR and MAKEFLAGS from the
# environment.
set -eu
cd "$(dirname "$0")/../.."

top=$PWD/build/reproduce
first=$top/a
second=$top/another/and-a-longer/path

# What one has fetched serves both; what they compile they do not share.
give_fetched() # from, to
{
	[ -d "$1/build/cross" ] || return 0
	mkdir -p "$2/build/cross"
	find "$1/build/cross" -mindepth 1 -maxdepth 1 -name '*-[0-9]*' -exec cp -al {} "$2/build/cross/" \;
}

unset SOURCE_DATE_EPOCH
rm -rf "$top"
mkdir -p "$top"
git clone -q . "$first"
give_fetched . "$first"
make -C "$first" release
[ -d build/cross ] || give_fetched "$first" .

make -C "$first" dist
(
	umask 077
	export TZ=Asia/Tokyo LANG=de_DE.UTF-8
	mkdir -p "$second"
	tar -xzf "$first"/build/canceld-*.tar.gz -C "$second" --strip-components=1
	give_fetched "$first" "$second"
	make -C "$second" release TARGETS="${TARGETS:-x86_64-linux-musl aarch64-macos}"
	# Each of its files has the bytes of the first one's.
	cd "$first/build/release-files"
	sha256sum --strict -c "$second/build/release-files/SHA256SUMS"
)

rm -f build/release-files/*.tar.gz
mkdir -p build/release-files
cp -p "$first"/build/release-files/* build/release-files/
rm -rf "$top"
