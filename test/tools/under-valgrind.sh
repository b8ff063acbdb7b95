#!/bin/sh
# canceld ($VALGRIND_PROGRAM) under valgrind, as its tests start it: what is found goes to files in $VALGRIND_REPORTS, as the
# guardian has no stderr; there is none but of that.
exec valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \
	--log-file="$VALGRIND_REPORTS/%p" "$VALGRIND_PROGRAM" "$@"
