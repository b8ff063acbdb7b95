#!/bin/sh
# Usage: check.sh run DIRECTORY SUITE COMMAND...     runs one suite; its output goes to DIRECTORY/SUITE.log
#        check.sh report DIRECTORY SUITES MAKE       which suites passed, how long each took, what to run next
set -eu

run() # directory, suite, command...
{
	directory=$1 suite=$2
	shift 2
	mkdir -p "$directory"
	start=$(date +%s)
	if "$@" >"$directory/$suite.log" 2>&1; then
		result=passed
	else
		result=FAILED
	fi
	printf '  %-10s %-8s %4d s\n' "$suite" $result $(($(date +%s) - start)) | tee "$directory/$suite.result"
	[ $result = passed ]
}

report() # directory, suites, make
{
	failed=
	for suite in $2; do
		if ! grep -q passed "$1/$suite.result" 2>/dev/null; then
			failed="$failed $suite"
			printf '\n== %s failed; the end of %s:\n' "$suite" "$1/$suite.log"
			tail -n 60 "$1/$suite.log" 2>/dev/null | cut -c 1-500 || :
			[ -e "$1/$suite.log" ] || echo 'none: it was not built, see above'
		fi
	done
	printf '\n'
	cat "$1"/*.result | sort -k 3 -rn
	! grep -h '^skipped in all' "$1"/*.log || printf 'Which: grep -h ^skipped: %s/*.log\n' "$1"
	if [ -n "$failed" ]; then
		printf '\n'
		for suite in $failed; do
			grep -s ':[EF]:' "$1/$suite.log" | cut -c 1-500
		done
		printf '\ncheck: FAILED:%s. One of them again: %s SUITE; one test of it: see test/README\n' "$failed" "$3"
		return 1
	fi
	printf '\ncheck: all passed. What it does not run (test/README says what each proves):\n'
	printf '  %-42s %s\n' \
		"$3 sim SEEDS=5000" 'more simulated sessions' \
		"$3 matrix ROUNDS=5 NPX=1" 'faults more often, and behind npx' \
		'make mutants sim-bugs' 'do the scenarios and the simulation find planted bugs?' \
		'make VARIANT=asan check' 'with sanitizers' \
		'make interop' 'the SDKs of the protocols (needs Node.js)' \
		'make stress; make bench' 'much traffic; what canceld costs' \
		'.ci/run' 'all of it'
}

"$@"
