#!/bin/sh
# Usage: bare-root.sh [DIRECTORY]
# Runs what README promises of a fresh machine, make demo and make check, in a Debian root in which only make was
# installed: what the build and the tests need beyond that must come from deps.sh. Between them make install and make
# uninstall, which leave /usr/local as it was. The root is made in DIRECTORY (build/bare-root) and removed. Needs root's
# rights; installs debootstrap.
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=test/tools/fresh-root.sh
. test/tools/fresh-root.sh

fresh_root "${1:-build/bare-root}"
mkdir "$root/tree"
git ls-files -z | xargs -0 tar -cf - | tar -xf - -C "$root/tree"

goal() # goal of make
{
	printf '\n== make %s, only make installed\n' "$1"
	inside make -C /tree "$1"
}

goal demo
find "$root/usr/local" | sort >"$root/before"
goal install
inside /usr/local/bin/cancelctl --version
goal uninstall
find "$root/usr/local" | sort | diff "$root/before" -
goal check
