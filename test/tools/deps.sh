#!/bin/sh
# Usage: deps.sh build|test...
# Looks for the packages that a build ("build") or the tests ("test") need. Where apt-get can be used, installs the
# missing ones; elsewhere names them and fails. Costs one compiler run if nothing is missing.
set -eu

cc=${CC:-cc}
pkg_config=${PKG_CONFIG:-pkg-config}
want_tests=no
case " $* " in *' test '*) want_tests=yes ;; esac

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

links() # includes, libraries: does a program with them compile and link?
{
	{
		for header in $1; do echo "#include <$header>"; done
		echo 'int main(void) { return 0; }'
	} >"$scratch/probe.c"
	# The variables are lists of flags, as make hands them over.
	# shellcheck disable=SC2086
	$cc ${CPPFLAGS:-} "$scratch/probe.c" -o "$scratch/probe" ${LDFLAGS:-} $2 >"$scratch/why" 2>&1
}

module_flags() # module, fallback
{
	"$pkg_config" --cflags --libs "$1" 2>/dev/null || echo "$2"
}

find_missing()
{
	ev_flags="${EV_CFLAGS:-} ${EV_LIBS:--lev}"
	jansson_flags=$(module_flags jansson -ljansson)
	system_headers=stdlib.h
	[ "$(uname -s)" != Linux ] || system_headers="stdlib.h linux/seccomp.h"
	check_headers=
	check_flags=
	if [ $want_tests = yes ]; then
		check_headers=check.h
		check_flags=$(module_flags check -lcheck)
	fi
	missing=
	command -v "$pkg_config" >/dev/null || missing=pkg-config
	links "$system_headers ev.h jansson.h $check_headers" "$ev_flags $jansson_flags $check_flags" && return
	if links "$system_headers" ''; then
		links ev.h "$ev_flags" || missing="$missing libev"
		links jansson.h "$jansson_flags" || missing="$missing jansson"
		[ $want_tests = no ] || links check.h "$check_flags" || missing="$missing check"
	else
		missing="compiler${missing:+ $missing} libev jansson"
		[ $want_tests = no ] || missing="$missing check"
	fi
}

packages() # package manager: the names there of what is missing
{
	compiler=gcc
	case ${cc##*/} in clang*) compiler=clang ;; esac
	for item in $missing; do
		case $1:$item in
		apt:compiler) echo $compiler libc6-dev ;;
		apt:libev | apt:jansson) echo "lib${item#lib}-dev" ;;
		dnf:compiler) echo $compiler glibc-devel ;;
		dnf:pkg-config) echo pkgconf-pkg-config ;;
		dnf:*) echo "$item-devel" ;;
		apk:compiler) echo $compiler musl-dev linux-headers ;;
		apk:pkg-config) echo pkgconf ;;
		apk:*) echo "$item-dev" ;;
		brew:compiler) ;;
		*) echo "$item" ;;
		esac
	done | tr '\n' ' '
}

as_root()
{
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
		sudo "$@"
	else
		return 1
	fi
}

apt_install()
{
	# shellcheck disable=SC2046
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends \
		-o DPkg::Lock::Timeout=300 install $(packages apt)
}

install_missing()
{
	command -v apt-get >/dev/null || return 0
	as_root true || return 0
	echo "deps: installing $(packages apt)"
	apt_install >"$scratch/apt" 2>&1 && return
	as_root apt-get -qq -o DPkg::Lock::Timeout=300 update >>"$scratch/apt" 2>&1 || return 0
	apt_install >>"$scratch/apt" 2>&1 || tail -n 5 "$scratch/apt" >&2
}

find_missing
if [ -n "$missing" ]; then
	install_missing
	find_missing
fi
missing=${missing# }
[ -z "$missing" ] && exit

exec >&2
echo "missing: $missing"
echo 'Install them, then run make again:'
echo "  Debian, Ubuntu:  apt-get install $(packages apt)"
echo "  Fedora:          dnf install $(packages dnf)"
echo "  Alpine:          apk add $(packages apk)"
echo "  macOS:           xcode-select --install; brew install $(packages brew)"
echo 'Libraries that are somewhere else: say where with CPPFLAGS and LDFLAGS in config.mk.'
if [ -s "$scratch/why" ]; then
	echo "$cc said:"
	head -n 5 "$scratch/why"
fi
exit 1
