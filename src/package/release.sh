#!/bin/sh
# Usage: release.sh VERSION [TARGET...]
# Makes build/release-files/canceld-VERSION-SYSTEM.tar.gz for each TARGET, or for all of THE TABLE, and SHA256SUMS of
# these. The same commit makes the same bytes, whatever the path, the time, the user and the umask are.
set -eu
cd "$(dirname "$0")/../.."
umask 022
export LC_ALL=C TZ=UTC

# THE TABLE: a target of cross.sh, and SYSTEM.
systems='
x86_64-linux-musl  x86_64-unknown-linux-musl
aarch64-linux-musl aarch64-unknown-linux-musl
x86_64-macos       x86_64-apple-darwin
aarch64-macos      aarch64-apple-darwin
'

version=${1:?'VERSION is missing'}
shift
# shellcheck disable=SC2046,SC2086
[ $# -gt 0 ] || set -- $(printf '%s %s\n' $systems | cut -d ' ' -f 1)
files=$PWD/build/release-files

# An archive of `make dist` has the date of the commit at each file.
date_of_commit()
{
	if [ -e .git ]; then git log -1 --format=%ct; else date -r config.mk +%s; fi
}

system_of() # target
{
	# shellcheck disable=SC2086
	printf '%s %s\n' $systems | sed -n "s/^$1 //p" | grep . || {
		echo "release: no target $1 in THE TABLE of src/package/release.sh" >&2
		exit 1
	}
}

below() # limit in bytes, program
{
	[ "$(wc -c <"$2")" -lt "$1" ] || {
		echo "release: $2 has $1 bytes or more" >&2
		exit 1
	}
}

# Laid out as a PREFIX.
fill() # target, directory
{
	rm -rf "$2"
	src/package/cross.sh "$1" install DESTDIR="$2" PREFIX=
	below 450000 "$2/bin/canceld"
	below 600000 "$2/bin/cancelctl"
	install -d "$2/share/doc/canceld"
	install -m 644 LICENSE "build/$1/libs"/LICENSE.* "$2/share/doc/canceld/"
}

# Files only: unpacked into a PREFIX, a folder changes the mode of the one there, and takes the place of a symbolic link.
pack() # parent directory, name
{
	(cd "$1" && find "$2" ! -type d | sort) | tar -C "$1" -I 'gzip -9n' -cf "$files/$2.tar.gz" --files-from=- \
		--format=ustar --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u+w,go-w
}

SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(date_of_commit)}
export SOURCE_DATE_EPOCH
mkdir -p "$files"
rm -f "$files"/*.tar.gz "$files/SHA256SUMS"
for target; do
	name=canceld-$version-$(system_of "$target")
	fill "$target" "$PWD/build/$target/$name"
	pack "build/$target" "$name"
done
cd "$files"
sha256sum canceld-*.tar.gz >SHA256SUMS
cat SHA256SUMS
