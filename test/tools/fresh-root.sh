#!/bin/sh
# Sourced by scripts that need a Debian root of their own. Needs root's rights; installs debootstrap.
#   fresh_root DIRECTORY   makes it, with make and nothing else beyond the least, /proc and /dev/pts; it is removed when
#                          the script ends. What debootstrap has made is kept in build for a day, for the next one
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
	made=build/fresh-root-$codename.tar
	if [ -n "$(find "$made" -mtime -1 2>/dev/null)" ]; then
		tar -xpf "$made" -C "$root"
	elif debootstrap --variant=minbase --include=make "$codename" "$root" "$mirror" >"$root.log" 2>&1; then
		tar --one-file-system -cpf "$made.new" -C "$root" . && mv "$made.new" "$made"
	else
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
