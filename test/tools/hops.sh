#!/bin/sh
# Usage: hops.sh [-v] [MODULE]
# Counts the way of a message through the core: calls, functions and files that are entered, and calls from one session
# file to another. Session files are those that floors.txt names from the line of MODULE (state) up; with
# SESSION_FILES=REGEX those whose path below src/ matches. -v: prints these calls. Needs gcc and addr2line.
set -eu
cd "$(dirname "$0")/../.."

verbose=0
[ "${1:-}" != -v ] || { verbose=1; shift; }
floor=${1:-state}
files=${SESSION_FILES:-$(awk -v floor="$floor" '
	/^[^ \t#]/ { core = $1 == "core"; next }
	{
		for (i = 1; core && i <= NF; i++)
			found = found || $i == floor
		for (i = 1; core && found && i <= NF; i++)
			printf "%s^core/%s[.]c$", bar++ ? "|" : "", $i
	}' test/tools/floors.txt)}
work=build/hops
mkdir -p $work

cat >$work/hook.c <<'END'
#include <stdio.h>

void __cyg_profile_func_enter(void *, void *);
void __cyg_profile_func_exit(void *, void *);
static FILE *file;

void __cyg_profile_func_enter(void *function, void *site)
{
	(void)site;
	if (file == NULL)
		file = fopen("build/hops/log", "w");
	fprintf(file, "enter %p\n", function);
}

void __cyg_profile_func_exit(void *function, void *site)
{
	(void)site;
	fprintf(file, "exit %p\n", function);
}
END

# A step lies between two lines "outstanding".
cat >$work/hops.scn <<'END'
message replayed {"jsonrpc":"2.0","id":$1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}

scenario a request, an answer, a timeout, a cancel with a late answer, a restart
options timeout=1s restarts
handshake legacy
client outstanding 0
client > call 1 slow
client outstanding 1
server < same
server > result 1
client outstanding 0
client < same
client => call 2 slow
client outstanding 1
at 1000
client outstanding 0
server < our-cancel 2
client < timed-out 2 tools/call 1000 1000
server > result 2
client < nothing
client => call 3 slow
client outstanding 1
client > cancel 3
server < same
server > result 3
client outstanding 0
client < nothing
why TIMED_OUT CANCEL_SENT LATE CANCEL_FORWARDED LATE
client => call 4 slow
client outstanding 1
server lost signal 9
client < restarted 4 tools/call 0
server back
server < replayed 1073741824
server > served 1073741824 2025-11-25
client outstanding 0
server < initialized
client < nothing
why SERVER_LOST REPLAYED SWALLOWED REPLAYED RESTARTED
END
cp test/scenario/words.inc $work/

cc -c -o $work/hook.o $work/hook.c
make BUILD=$work VARIANT=debug CFLAGS='-fno-pie -finstrument-functions' LDFLAGS="-no-pie $work/hook.o" \
	$work/debug/scenario >$work/make.log
$work/debug/scenario $work/hops.scn >$work/play.log || { cat $work/play.log; exit 1; }

awk '{ print $2 }' $work/log | sort -u >$work/addresses
addr2line -f -e $work/debug/scenario <$work/addresses >$work/places
sed 's/:[0-9?].*//; s,^/.*/\(src\|include\)/,,; s,^/.*/test/,test/,' $work/places |
	paste -d ' ' $work/addresses - - >$work/symbols

# Of the three runs (whole, cut in the middle, each byte alone) the first, without what the player itself asks.
awk -v session="$files" -v verbose="$verbose" '
BEGIN { step[2] = "request"; step[3] = "answer"; step[5] = "timeout"; step[7] = "cancel, late answer"; step[9] = "restart" }
NR == FNR { name[$1] = $2; file[$1] = $3; next }
$1 == "exit" {
	if (--depth < asked)
		asked = 0
	next
}
{
	caller = stack[depth]
	stack[++depth] = $2
	if (file[$2] ~ /^test\//)
		next
	if (name[$2] == "session_free")
		exit
	if (name[$2] == "session_outstanding" && file[caller] ~ /^test\//) {
		if (++mark in step)
			printf "%-20s %5d calls, %4d functions in %2d files, %3d calls between session files\n",
				step[mark], calls, functions, files, hops
		for (hop in times)
			if (verbose && mark in step)
				print "    " hop ": " times[hop]
		split("", times)
		calls = functions = files = hops = 0
		split("", seen)
		asked = depth
		next
	}
	if (file[caller] ~ /^test\// && !asked && name[$2] !~ /^(session_(hear|expire|server)|lane)_?/)
		asked = depth
	if (asked)
		next
	calls++
	functions += !($2 in seen)
	seen[$2]
	files += !(file[$2] in seen)
	seen[file[$2]]
	if (file[caller] != file[$2] && file[caller] ~ session && file[$2] ~ session) {
		hops++
		times[name[caller] " -> " name[$2] " of " file[$2]]++
	}
}' $work/symbols $work/log
