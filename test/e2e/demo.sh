#!/bin/sh
# Usage: CANCELD=... DEMO_SERVER=... demo.sh
# Shows canceld at work in front of a small server: what each side sends and receives, and what goes to stderr. Fails if
# anything that it shows did not happen.
set -eu

LIMIT=30 # seconds in all: far more than it ever takes
scratch=$(mktemp -d)
export HOME="$scratch" # no configuration of the developer's
export E2E_MARK=demo    # the server ends itself soon, whatever happens
session=
watchdog=

clean_up()
{
	[ -z "$watchdog" ] || kill "$watchdog" 2>/dev/null || :
	[ -z "$session" ] || kill "$session" 2>/dev/null || :
	rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 1' INT HUP

fail()
{
	printf '\nFAILED: %s\n' "$1" >&2
	exit 1
}

limit_time()
{
	trap 'fail "something was waited for in vain"' TERM
	(
		trap 'kill "$nap"; exit' TERM
		sleep $LIMIT &
		nap=$!
		wait $nap
		kill $$
	) >/dev/null 2>&1 &
	watchdog=$!
}

# The opening of a fifo waits for the other end: so both sides open them in the same order.
start() # option...
{
	printf '$ canceld %s -- demo-server\n' "$*"
	mkfifo "$scratch/in" "$scratch/out" "$scratch/errors" "$scratch/record"
	"$CANCELD" "$@" -- "$DEMO_SERVER" --record "$scratch/record" \
		<"$scratch/in" >"$scratch/out" 2>"$scratch/errors" &
	session=$!
	exec 3>"$scratch/in" 4<"$scratch/out" 5<"$scratch/errors"
	stderr_has 'canceld*: STARTED *'
	exec 6<"$scratch/record"
}

title()
{
	printf '\n%s\n' "$1"
}

# On the wire each message is one line; a long one is broken here, for the eye.
show() # who, line
{
	printf '%-14s%s\n' "$1" "$2" | sed -e 's/,"error":/,\
              "error":/' -e 's/ and was given up/\
               and was given up/' -e 's/,"data":/,\
              "data":/' -e 's/,"reason":/,\
              "reason":/'
}

call() # id, tool, arguments
{
	set -- "{\"jsonrpc\":\"2.0\",\"id\":$1,\"method\":\"tools/call\",\"params\":{\"name\":\"$2\",\"arguments\":$3}}"
	show 'client says' "$1"
	printf '%s\n' "$1" >&3
}

matches() # line, pattern
{
	# shellcheck disable=SC2254
	case $1 in $2) ;; *) return 1 ;; esac
}

# Exactly the next line.
client_receives() # pattern
{
	IFS= read -r line <&4 || fail "the client received nothing more, but should receive $1"
	show 'client gets' "$line"
	matches "$line" "$1" || fail "the client should have received $1"
}

# Lines before it are not shown.
server_receives() # pattern
{
	while IFS= read -r line <&6; do
		matches "$line" "$1" && show 'server gets' "$line" && return
	done
	fail "the server never received $1"
}

# Two processes write there, so the lines come in any order. All are shown.
stderr_has() # pattern...
{
	while [ $# -gt 0 ]; do
		IFS= read -r line <&5 || fail "stderr lacks $1"
		show stderr "$line"
		for pattern; do
			shift
			matches "$line" "$pattern" || set -- "$@" "$pattern"
		done
	done
}

introduce()
{
	client='"clientInfo":{"name":"demo","version":"1"}'
	printf '%s%s\n' '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",' \
		"\"capabilities\":{},$client}}" >&3
	IFS= read -r line <&4 || fail 'there was no answer to initialize'
	matches "$line" '{"jsonrpc":"2.0","id":0,"result":*' || fail "initialize: $line"
	echo '{"jsonrpc":"2.0","method":"notifications/initialized"}' >&3
}

# All three pipes are at their end: no process is left that could write to them.
expect_end()
{
	if IFS= read -r line <&4; then
		fail "the client received more: $line"
	fi
	while IFS= read -r line <&5; do
		show stderr "$line"
	done
	while IFS= read -r line <&6; do :; done
	status=0
	wait "$session" || status=$?
	session=
	[ $status = 0 ] || fail "canceld exited with $status"
}

limit_time
start -v -t 1s
introduce

title '1. What is answered in time passes, byte for byte.'
call 1 echo '{"price":1.10}'
client_receives '{"jsonrpc":"2.0","id":1,"result":*price*1.10*'

title '2. A call that would take ten minutes: after a second the server is told to stop, and the client is answered.'
call 2 sleep '{"ms":600000}'
client_receives '{"jsonrpc":"2.0","id":2,"error":{"code":-32800,*"cause":"timeout"*'
server_receives '*"notifications/cancelled"*"requestId":2,*'
stderr_has 'canceld*: TIMED_OUT *id=2 *' 'demo-server: cancelled id=2'

title '3. A tool that does not stop and answers too late: the client gets none of it, and the connection goes on.'
call 3 stubborn '{"ms":1500}'
client_receives '{"jsonrpc":"2.0","id":3,"error":{"code":-32800,*"cause":"timeout"*'
stderr_has 'canceld*: TIMED_OUT *id=3 *' 'demo-server: late answer id=3' 'canceld*: LATE *id=3 *'
call 4 echo '{}'
client_receives '{"jsonrpc":"2.0","id":4,"result":*'

title '4. What the server prints on stdout that is no message goes to stderr and does not break the connection.'
call 5 noise '{"kind":"text"}'
client_receives '{"jsonrpc":"2.0","id":5,"result":*'
stderr_has 'canceld*: NOISE *starting up...' 'canceld*: NOISE *listening on port 8080'

title '5. The client goes away in the middle of a call: the server is told, and no process is left.'
call 6 sleep '{"ms":600000}'
server_receives '*"id":6,*' >/dev/null
show 'client' '... is gone'
exec 3>&-
server_receives '*"notifications/cancelled"*"requestId":6,*'
stderr_has 'canceld*: CLIENT_GONE *id=6 *' 'demo-server: cancelled id=6'
expect_end

printf '\nAll of this happened as shown.\n'
