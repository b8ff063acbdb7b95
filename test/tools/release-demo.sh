#!/bin/sh
# Usage: DEMO_SERVER=... release-demo.sh
# Unpacks each archive of build/release-files as a person would, and lets its canceld hold the conversation of `make
# demo`: under qemu-user, if that is there, where it was built for another processor.
set -eu
cd "$(dirname "$0")/../.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail()
{
	echo "release-demo: $1" >&2
	exit 1
}

# Has a file of each kind.
whole() # directory
{
	for file in bin/canceld bin/cancelctl share/man/man1/canceld.1 share/man/man5/canceld.conf.5 \
		share/bash-completion/completions/canceld share/zsh/site-functions/_canceld \
		share/fish/vendor_completions.d/canceld.fish share/doc/canceld/LICENSE \
		share/doc/canceld/LICENSE.libev share/doc/canceld/LICENSE.jansson; do
		[ -s "$1/$file" ] || fail "$1 has no $file"
	done
	case $1 in *-musl) [ -s "$1/share/doc/canceld/LICENSE.musl" ] || fail "$1 has no LICENSE.musl" ;; esac
}

runner_of() # processor
{
	[ "$1" = "$(uname -m)" ] || command -v "qemu-$1-static" || command -v "qemu-$1"
}

# As a script, since canceld is one word to those that start it.
through() # runner, program, script
{
	# shellcheck disable=SC2016
	printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$1" "$2" >"$3"
	chmod +x "$3"
}

try() # directory, processor
{
	if ! runner=$(runner_of "$2"); then
		echo "release-demo: ${1##*/}: not run, as qemu-$2-static is not there"
		return
	fi
	for program in canceld cancelctl; do
		through "$runner" "$1/bin/$program" "$scratch/$program"
		"$scratch/$program" --version
	done
	CANCELD=$scratch/canceld test/e2e/demo.sh >"$scratch/log" 2>&1 || {
		cat "$scratch/log" >&2
		fail "${1##*/}: the demo failed"
	}
	echo "release-demo: ${1##*/}: $(tail -n 1 "$scratch/log")"
}

(cd build/release-files && sha256sum -c SHA256SUMS)
for archive in build/release-files/*.tar.gz; do
	! tar -tzf "$archive" | grep '/$' || fail "$archive has folders, which would replace those of a PREFIX"
	tar -xzf "$archive" -C "$scratch"
	name=$(basename "$archive" .tar.gz)
	whole "$scratch/$name"
	system=${name%-unknown-linux-musl}
	[ "$system" = "$name" ] || try "$scratch/$name" "${system##*-}"
done
