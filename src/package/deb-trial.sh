#!/bin/sh
# Usage: deb-trial.sh OLDER.deb NEWER.deb
# Installs the older package in a fresh Debian root, upgrades, removes and purges it: each version speaks make demo's
# conversation, what cancelctl wrap wrote outlives the upgrade, and no file of the packages is left. Needs root's rights
# and build/release/demo-server; installs debootstrap. The root is made in build/deb-trial and removed.
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=test/tools/fresh-root.sh
. test/tools/fresh-root.sh

older=$1 newer=$2
trial=build/deb-trial

fail()
{
	echo "deb-trial: $*" >&2
	exit 1
}

files()
{
	(cd "$root" && find . \( -path ./proc -o -path ./dev -o -path ./trial \) -prune -o -print | LC_ALL=C sort)
}

apt()
{
	inside env DEBIAN_FRONTEND=noninteractive apt-get -qq -y "$@" >"$trial.log" 2>&1 || {
		tail -n 20 "$trial.log" >&2
		fail "apt-get $*"
	}
}

install() # package
{
	echo "== install $(basename "$1")"
	cp "$1" "$root/trial/canceld.deb"
	apt install /trial/canceld.deb
	inside dpkg --verify canceld
	inside dpkg -L canceld | sed 's,^/,./,' >>"$root/trial/ours"
	version=$(dpkg-deb -f "$1" Version)
	for program in canceld cancelctl; do
		[ "$(inside $program --version)" = "$program $version" ] || fail "$(inside $program --version)"
	done
	inside env CANCELD=/usr/bin/canceld DEMO_SERVER=/trial/demo-server sh /trial/demo.sh >"$trial.log" 2>&1 ||
		fail "$(cat "$trial.log")"
	tail -n 1 "$trial.log"
}

fresh_root "$trial"
mkdir -p "$root/trial/home/.cursor"
cp build/release/demo-server test/e2e/demo.sh "$root/trial/"
echo '{"mcpServers":{"demo":{"command":"/trial/demo-server"}}}' >"$root/trial/home/.cursor/mcp.json"
apt update
files >"$trial.before"

install "$older"
inside env HOME=/trial/home cancelctl wrap --all
grep -q '"command": *"/usr/bin/canceld"' "$root/trial/home/.cursor/mcp.json" ||
	fail "wrap wrote $(cat "$root/trial/home/.cursor/mcp.json")"
install "$newer"

echo '== remove, purge'
apt remove canceld
[ ! -e "$root/usr/bin/canceld" ] || fail 'canceld is there after remove'
inside dpkg --purge canceld
apt autoremove --purge
files >"$trial.after"
echo 'left over:'
LC_ALL=C comm -13 "$trial.before" "$trial.after" | tee "$trial.left"
! grep -xF -f "$root/trial/ours" "$trial.left" || fail 'files of the packages are left'
! grep -e canceld -e cancelctl "$trial.left" || fail 'files of canceld are left'
