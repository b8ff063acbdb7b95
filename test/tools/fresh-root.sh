#!/bin/sh
# Sourced by scripts that need a Debian root of their own. Needs root's rights; installs debootstrap.
#   fresh_root DIRECTORY [PACKAGE,...]   makes it, with /proc and /dev/pts; it is removed when the script ends
#   inside COMMAND...                    runs a command in it

remove_root()
{
	for directory in proc dev/pts; do
		! mountpoint -q "$root/$directory" || umount -l "$root/$directory"
	done
	rm -rf --one-file-system "$root"
}

fresh_root()
{
	root=$1
	if ! command -v debootstrap >/dev/null; then
		apt-get -qq -o DPkg::Lock::Timeout=300 update
		DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=300 install debootstrap
	fi
	codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
	# shellcheck disable=SC2016
	mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' | sed -n "s/ $codename\$//p" | head -n 1)

	remove_root
	trap remove_root EXIT
	trap 'exit 1' HUP INT TERM
	mkdir -p "$root"
	if ! debootstrap --variant=minbase ${2:+--include="$2"} "$codename" "$root" "$mirror" >"$root.log" 2>&1; then
		tail -n 5 "$root.log" >&2
		exit 1
	fi
	cp /etc/resolv.conf "$root/etc/"
	mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
	mountpoint -q "$root/dev/pts" || mount -t devpts devpts "$root/dev/pts"
}

inside()
{
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root ${http_proxy:+"http_proxy=$http_proxy"} \
		chroot "$root" "$@"
}
