#!/bin/sh
# Usage: CANCELD=... CANCELCTL=... DEMO_SERVER=... without-proc.sh DIRECTORY
# One session with a restart, its end, and the commands of cancelctl that look at processes, under strace: neither program
# nor the guardian opens anything in /proc, or asks for what only Linux has.
set -eu

work=$1/without-proc
rm -rf "$work"
mkdir -p "$work/home"
work=$(cd "$work" && pwd)
HOME=$work/home
export HOME

traced() # name, command...
{
	name=$1
	shift
	strace -f -qq -o "$work/$name" -e trace=all timeout 30 "$@" >"$work/$name.out" 2>"$work/$name.err"
}

mcp='"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}'
# A pipe, as clients have them. The second call is answered by another server.
{
	printf '%s\n' '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{'"$mcp"'}}' \
		'{"jsonrpc":"2.0","method":"notifications/initialized"}' \
		'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"crash","arguments":{"status":9}}}'
	for _ in $(seq 100); do grep -qs RESTARTED "$work/session.err" || sleep 0.1; done
	echo '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{}}}'
} | traced session "$CANCELD" -v -r --drain -- "$DEMO_SERVER"
grep -q '"id":2,"result"' "$work/session.out"
echo '{"mcpServers":{"a":{"command":"x"}}}' >"$HOME/.claude.json"
traced ls "$CANCELCTL" ls || [ $? = 1 ]
traced wrap "$CANCELCTL" wrap claude
grep -q wrapped "$work/wrap.out"

if grep -E '"/proc|pidfd_open|close_range|preadv2|pwritev2|PR_SET_(CHILD_SUBREAPER|PDEATHSIG|NAME)' "$work/session" "$work/ls" \
	"$work/wrap"; then
	echo 'without-proc: FAILED'
	exit 1
fi
echo "without-proc: $(cat "$work/session" "$work/ls" "$work/wrap" | wc -l) system calls, none in /proc"
