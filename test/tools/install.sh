#!/bin/sh
# Usage: install.sh DIRECTORY
# make install and make uninstall, into folders in DIRECTORY with blanks and quotes in their names: what is there
# afterwards, empty folders too, is what was there before. DIRECTORY is removed.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p "$1"
scratch=$(cd "$1" && pwd)
stage="$scratch/the  stage's"
trap 'rm -rf "$scratch"' EXIT

fail()
{
	echo "install: $*" >&2
	exit 1
}

tree()
{
	(cd "$scratch" && find . ! -name '*.txt' | LC_ALL=C sort)
}

install() # what, setting of make...
{
	what=$1
	shift
	tree >"$scratch/before.txt"
	make DESTDIR="$stage" "$@" install >"$scratch/output.txt" 2>&1 || fail "$what: $(cat "$scratch/output.txt")"
	! grep -vx '  INST   .*' "$scratch/output.txt" || fail "$what: odd output"
}

uninstall() # setting of make...
{
	make DESTDIR="$stage" "$@" uninstall >"$scratch/output.txt" || fail "$what: uninstall"
	tail -n 1 "$scratch/output.txt" | grep -q 'cancelctl unwrap --all' || fail "$what: nothing of wrapped servers"
	tree | diff "$scratch/before.txt" - || fail "$what: not what was there before"
}

has() # file, below the stage
{
	[ -s "$stage$1" ] || fail "$what: no $1"
}

refuses() # setting of make
{
	what=$1
	tree >"$scratch/before.txt"
	for goal in install uninstall; do
		! make DESTDIR="$stage" "$1" $goal >"$scratch/output.txt" 2>&1 || fail "$what: $goal goes well"
		grep -q 'DIR=.*: it must begin with "/"' "$scratch/output.txt" || fail "$what: $(cat "$scratch/output.txt")"
	done
	tree | diff "$scratch/before.txt" - || fail "$what: not what was there before"
}

make all >/dev/null

# shellcheck disable=SC2088
for folder in '~/x' '~'; do
	refuses "PREFIX=$folder"
	refuses "DESTDIR=$folder"
done
refuses PREFIX=some/folder
refuses 'ZSHDIR=functions of zsh'

install 'nothing there before'
for program in canceld cancelctl; do
	[ "$("$stage/usr/local/bin/$program" --version)" = "$(build/release/$program --version)" ] || fail "$program"
	has "/usr/local/share/man/man1/$program.1"
	has "/usr/local/share/bash-completion/completions/$program"
	has "/usr/local/share/zsh/site-functions/_$program"
	has "/usr/local/share/fish/vendor_completions.d/$program.fish"
done
has /usr/local/share/man/man5/canceld.conf.5
has /usr/local/share/man/man7/canceld.7
uninstall

install 'other settings' PREFIX="/opt/it's  here/" MANDIR=/man COMPLETIONS=no
has "/opt/it's  here/bin/canceld"
has /man/man7/canceld.7
! tree | grep -q complet || fail 'COMPLETIONS=no installed some'
uninstall PREFIX="/opt/it's  here" MANDIR=/man COMPLETIONS=no

what='where the programs are'
make PREFIX="$scratch/it's" install | tail -n 1 >"$scratch/output.txt"
grep -Fqx "canceld and cancelctl are in $scratch/it's/bin, which is not in PATH." "$scratch/output.txt" || fail "$what: not told"
PATH="$scratch/it's/bin:$PATH" make PREFIX="$scratch/it's" install | tail -n 1 | grep -q 'bin, which is in PATH' ||
	fail "$what: not found in PATH"
make PREFIX="$scratch/it's" uninstall >/dev/null

install 'completions no longer wanted'
uninstall COMPLETIONS=no

mkdir "$stage" && : >"$stage/usr"
! make DESTDIR="$stage" install >/dev/null 2>&1 || fail 'no failure, though no folder could be made'
rm "$stage/usr"
mkdir -p "$stage/usr/local/bin" "$stage/usr/local/share/man/man1" "$stage/usr/local/share/fish"
echo other >"$stage/usr/local/share/man/man1/other.1"
install "a system's empty folders, another's file"
uninstall

install 'installed twice'
make DESTDIR="$stage" install >/dev/null
uninstall

install "another's file in a folder that was made"
echo other >"$stage/usr/local/share/man/man5/other.5"
make DESTDIR="$stage" uninstall >/dev/null
has /usr/local/share/man/man5/other.5
rm "$stage/usr/local/share/man/man5/other.5"

install 'a folder that was made before, and was of use to others since'
uninstall
