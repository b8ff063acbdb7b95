#!/bin/sh
# Runs canceld ($VALGRIND_PROGRAM) under valgrind, as its tests start it. Faults go to files in $VALGRIND_REPORTS, as the
# guardian has no stderr; with -q they contain nothing else.
exec valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \
	--log-file="$VALGRIND_REPORTS/%p" "$VALGRIND_PROGRAM" "$@"
