#!/bin/sh
# Usage: deb.sh VERSION DIRECTORY
# Makes DIRECTORY/canceld_VERSION_ARCH.deb out of what is committed, with all that dpkg-buildpackage leaves beside it.
# Needs debhelper, and what debian/control names. DEB_BUILD_OPTIONS=nocheck: without the tests; DEB_BUILD_PROFILES=nocheck
# too: without what only they need.
set -eu
cd "$(dirname "$0")/../.."
version=$1
mkdir -p "$2"
directory=$(cd "$2" && pwd)
tree=$directory/canceld-$version

if ! command -v dpkg-buildpackage >/dev/null; then
	echo 'deb: dpkg-buildpackage is missing: apt-get install dpkg-dev debhelper' >&2
	exit 1
fi

rm -rf "$tree"
test/tools/dist.sh "canceld-$version" "$2" >/dev/null
tar -xzf "$tree.tar.gz" -C "$directory"
rm "$tree.tar.gz"
cp -R "$tree/src/package/debian" "$tree/"

# Each file of the archive has the date of the commit.
cat >"$tree/debian/changelog" <<END
canceld ($version) unstable; urgency=medium

  * Version $version of canceld.

 -- $(sed -n 's/^Maintainer: //p' "$tree/debian/control")  $(date -u -R -r "$tree/config.mk")
END

# Neither make's variables nor those of a developer are the package's.
cd "$tree"
env -i PATH="$PATH" HOME="$HOME" LC_ALL=C.UTF-8 DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:-}" \
	DEB_BUILD_PROFILES="${DEB_BUILD_PROFILES:-}" dpkg-buildpackage -b -us -uc
echo "$directory/canceld_${version}_$(dpkg --print-architecture).deb"
