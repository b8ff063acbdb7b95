#!/bin/sh
# Usage: [LINT_STRICT=1] lint.sh
# Runs every installed checker; with LINT_STRICT a missing one is a fault.
set -eu
cd "$(dirname "$0")/../.."

failed=0
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)

fail()
{
	echo "lint: $1"
	failed=1
}

have()
{
	command -v "$1" >/dev/null && return
	absent "$1"
}

absent()
{
	if [ -n "${LINT_STRICT:-}" ]; then
		fail "$1 is missing"
	else
		echo "lint: $1 is not there: skipped"
	fi
	return 1
}

sources=$(find include src test -name node_modules -prune -o -name '*.[ch]' -print | sort)
units=$(echo "$sources" | grep '\.c$')
tests=$(echo "$units" | grep '^test/')
general=$(echo "$sources" | grep -v -e '^test/' -e '^src/shell/system/system_')
scripts=$(find .ci src test -name node_modules -prune -o -type f -exec awk 'FNR == 1 && /^#!.*sh$/ { print FILENAME }' {} +)
manuals=$(find man -name '*.[1-8]')

# The lists are names without blanks, meant to be split.
# shellcheck disable=SC2086
{
	status=0
	test/tools/format.sh --dry-run || status=$?
	case $status in
	0) ;;
	69) absent 'clang-format 14' || : ;;
	*) fail 'not as clang-format has it: make format' ;;
	esac

	if have cppcheck; then
		cppcheck --quiet --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
			--suppress=missingIncludeSystem --suppress=unknownMacro --std=c11 -j "$jobs" \
			-D_GNU_SOURCE -D__GNUC__ '-DCANCELD_VERSION="0"' -Iinclude -Itest -Isrc $units ||
			fail cppcheck
	fi

	if have clang-tidy; then
		# Headers of another system are not there.
		echo "$units" | grep "^src/" | grep -v system_darwin | xargs -n 1 -P "$jobs" test/tools/tidy.sh || fail clang-tidy
	fi

	echo "$units" | grep '^src/' | grep -v -e system_darwin -e '/compose\.c' | xargs test/tools/compose.sh ||
		fail 'a format of compose_json or compose_text does not fit its arguments'

	if have shellcheck; then
		shellcheck $scripts src/package/arch/PKGBUILD || fail shellcheck
	fi

	if have bash; then
		bash -n src/package/arch/PKGBUILD || fail PKGBUILD
	fi

	if have ruby; then
		ruby -c src/package/homebrew/canceld.rb >/dev/null || fail ruby
	fi

	# Only the files of src/shell/system for a system name one; no test asks the compiler which it is.
	named=$(
		grep -nE '\<SYS_[a-z]|/proc([^e]|$)|<(linux|mach)/|<sys/(epoll|event|prctl|random|syscall|sysctl|xattr)\.h>' $general
		grep -nE '__linux__|__APPLE__' $general $tests
	) || :
	[ -z "$named" ] || fail "a system is named outside of src/shell/system:
$named"

	if [ -n "$manuals" ] && have mandoc; then
		mandoc -T lint -W warning $manuals || fail mandoc
		# It would be set as further options.
		! grep -nE '^\.Fl .* [.:;] [a-z]' $manuals || fail "text behind the punctuation of .Fl"
	fi
}

exit $failed
