#!/bin/sh
# Usage: readme-install.sh VERSION [WAY...]
# Runs what README's section Install says for each WAY (npm tarball deb source), as it stands there, where only the file is
# that a person would have fetched; for npm the packed files take the place of the package's name. Then both programs,
# the manual and the completions must be there. The home is an empty one below build/; the deb is installed in a Debian
# root of its own, which needs root's rights. make release, make npm and make deb must have run.
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=test/tools/fresh-root.sh
. test/tools/fresh-root.sh

version=$1
shift
[ $# -gt 0 ] || set -- npm tarball deb source
top=$PWD
scratch=$top/build/readme-install
system=$(uname -m)

fail()
{
	echo "readme-install: $*" >&2
	exit 1
}

# Two lines, behind the way's name.
commands_of() # way
{
	awk -v way="$1" '
		/^---+$/ { section = before }
		{ before = $0 }
		/^    [a-z]/ { current = $1 }
		/^$/ { current = "" }
		section == "Install" && current == way { print substr($0, 14) }' README >"$scratch/$1.sh"
	[ "$(wc -l <"$scratch/$1.sh")" = 2 ] || fail "README has not two lines for $1"
}

at_home() # command...
{
	env -i PATH="$home/.local/bin:$PATH" HOME="$home" npm_config_prefix="$home/.local" npm_config_offline=true \
		npm_config_update_notifier=false "$@"
}

expect() # way, prefix, command that runs a program...
{
	way=$1 prefix=$2
	shift 2
	for program in canceld cancelctl; do
		[ "$("$@" $program --version)" = "$program $version" ] || fail "$way: $program"
		files=share/man/man1/$program.1
		[ "$way" = npm ] || files="$files share/bash-completion/completions/$program
			share/zsh/*/_$program share/fish/vendor_completions.d/$program.fish"
		for file in $files; do
			# shellcheck disable=SC2086,SC2144
			[ -s "$prefix"/$file* ] || fail "$way: no $file"
		done
	done
}

install_deb()
{
	fresh_root "$scratch/root"
	cp "build/deb/canceld_${version}_$(dpkg --print-architecture).deb" "$scratch/deb.sh" "$root/root/"
	echo 'APT::Get::Assume-Yes "true";' >"$root/etc/apt/apt.conf.d/yes"
	inside apt-get -qq update
	inside env DEBIAN_FRONTEND=noninteractive sh -c 'cd && sh -ex deb.sh'
	expect deb "$root/usr" inside
	remove_root
}

install_at_home() # way
{
	home=$scratch/$1/home
	mkdir -p "$home" "$scratch/$1/files"
	cd "$scratch/$1/files"
	case $1 in
	npm)
		cp "$top/build/release-files/npm/canceld-$version.tgz" \
			"$top/build/release-files/npm/canceld-$(node -p 'process.platform + "-" + process.arch')-$version.tgz" .
		sed -i 's|install -g canceld$|install -g ./canceld-*.tgz|' "$scratch/npm.sh"
		;;
	tarball) cp "$top/build/release-files/canceld-$version-$system-unknown-linux-musl.tar.gz" . ;;
	source) make -s -C "$top" dist >/dev/null && tar -xzf "$top/build/canceld-$version.tar.gz" --strip-components=1 ;;
	esac
	at_home sh -ex "$scratch/$1.sh"
	# Again, as an upgrade would: below the canceld that is replaced.
	mkfifo "$scratch/$1/client"
	at_home canceld -- sh -ex "$scratch/$1.sh" <>"$scratch/$1/client"
	cd "$top"
	expect "$1" "$home/.local" at_home
}

rm -rf "$scratch"
mkdir -p "$scratch"
for way; do
	printf '\n== README, %s\n' "$way"
	commands_of "$way"
	case $way in
	deb) install_deb ;;
	*) install_at_home "$way" ;;
	esac
done
