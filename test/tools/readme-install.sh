#!/bin/sh
# Usage: readme-install.sh VERSION [WAY...]
# Runs what README's section Install says for each WAY (npm tarball deb source), as it stands there, where only the file is
# that a person would have fetched, whose name takes the place of FILE; for npm the packed files take that of the package's
# name. Then both programs, the manual and the completions must be there; at home also after the same lines once more, run
# by the canceld that they replace; and nothing of them after the removal. The home is an empty one below build/; the deb is installed in a Debian
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

# Behind the way's name: two lines to install in WAY-1.sh, one to remove in WAY-2.sh.
commands_of() # way, file
{
	awk -v way="$1" -v file="$2" -v scratch="$scratch" '
		/^---+$/ { section = before }
		{ before = $0 }
		/^    [a-z]/ { current = $1; nth[current]++ }
		/^$/ { current = "" }
		section == "Install" && current == way {
			gsub(/FILE/, file)
			print substr($0, 14) >(scratch "/" way "-" nth[way] ".sh")
		}' README
	[ "$(cat "$scratch/$1"-[12].sh | wc -l)" = 3 ] || fail "README has not two lines for $1, and one to remove it"
}

at_home() # command...
{
	env -i PATH="$home/.local/bin:$PATH" HOME="$home" npm_config_prefix="$home/.local" npm_config_offline=true \
		npm_config_update_notifier=false "$@"
}

is_there() # file, more that begin so...
{
	[ -s "$1" ]
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
			# shellcheck disable=SC2086
			is_there "$prefix"/$file* || fail "$way: no $file"
		done
	done
}

expect_none() # way, prefix
{
	left=$(find "$2" ! -type d -name '*cancel[cd]*')
	[ -z "$left" ] || fail "$1: removal leaves $left"
}

install_deb()
{
	file=canceld_${version}_$(dpkg --print-architecture).deb
	commands_of deb "$file"
	fresh_root "$scratch/root"
	cp "build/deb/$file" "$scratch"/deb-[12].sh "$root/root/"
	echo 'APT::Get::Assume-Yes "true";' >"$root/etc/apt/apt.conf.d/yes"
	inside apt-get -qq update
	inside env DEBIAN_FRONTEND=noninteractive sh -c 'cd && sh -ex deb-1.sh'
	expect deb "$root/usr" inside
	inside sh -ex /root/deb-2.sh
	expect_none deb "$root/usr"
	remove_root
}

install_at_home() # way
{
	home=$scratch/$1/home
	file=canceld-$version-$system-unknown-linux-musl.tar.gz
	commands_of "$1" "$file"
	mkdir -p "$home" "$scratch/$1/files"
	cd "$scratch/$1/files"
	case $1 in
	npm)
		here=$(node -p 'process.platform + "-" + process.arch')
		cp "$top/build/release-files/npm/canceld-$version.tgz" "$top/build/release-files/npm/canceld-$here-$version.tgz" .
		sed -i 's| install -g canceld .*| install -g ./canceld-*.tgz|' "$scratch/npm-1.sh"
		sed -i "s| uninstall -g canceld\$|& @canceld/$here|" "$scratch/npm-2.sh"
		;;
	tarball) cp "$top/build/release-files/$file" . ;;
	source) make -s -C "$top" dist >/dev/null && tar -xzf "$top/build/canceld-$version.tar.gz" --strip-components=1 ;;
	esac
	at_home sh -ex "$scratch/$1-1.sh"
	expect "$1" "$home/.local" at_home
	at_home canceld -- sh -ex "$scratch/$1-1.sh" <&3
	expect "$1" "$home/.local" at_home
	at_home sh -ex "$scratch/$1-2.sh"
	expect_none "$1" "$home/.local"
	cd "$top"
}

rm -rf "$scratch"
mkdir -p "$scratch"
# Open for writing too, so that it has no end.
mkfifo "$scratch/open"
exec 3<>"$scratch/open"
for way; do
	printf '\n== README, %s\n' "$way"
	case $way in
	deb) install_deb ;;
	*) install_at_home "$way" ;;
	esac
done
