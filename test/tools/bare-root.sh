#!/bin/sh
# Usage: bare-root.sh [DIRECTORY]
# Runs what README promises of a fresh machine, make demo and make check, in a Debian root in which only make was
# installed, with /proc and /dev/pts mounted: what the build and the tests need beyond that must come from deps.sh.
# The root is made in DIRECTORY (build/bare-root) and removed. Needs root's rights; installs debootstrap.
set -eu
cd "$(dirname "$0")/../.."
root=${1:-build/bare-root}

remove()
{
	for directory in proc dev/pts; do
		! mountpoint -q "$root/$directory" || umount -l "$root/$directory"
	done
	rm -rf --one-file-system "$root"
}

if ! command -v debootstrap >/dev/null; then
	apt-get -qq -o DPkg::Lock::Timeout=300 update
	DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=300 install debootstrap
fi
codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
# shellcheck disable=SC2016
mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' | sed -n "s/ $codename\$//p" | head -n 1)

remove
trap remove EXIT
mkdir -p "$root/tree"
git ls-files -z | xargs -0 tar -cf - | tar -xf - -C "$root/tree"
if ! debootstrap --variant=minbase --include=make "$codename" "$root" "$mirror" >"$root.log" 2>&1; then
	tail -n 5 "$root.log" >&2
	exit 1
fi
cp /etc/resolv.conf "$root/etc/"
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
mountpoint -q "$root/dev/pts" || mount -t devpts devpts "$root/dev/pts"

for goal in demo check; do
	printf '\n== make %s, only make installed\n' $goal
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root ${http_proxy:+"http_proxy=$http_proxy"} \
		chroot "$root" make -C /tree $goal
done
