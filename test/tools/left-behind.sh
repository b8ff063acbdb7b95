#!/bin/bash
# Usage: left-behind.sh BUILD
# Kills each runner of tests in the middle, and every canceld with it: 60 s later no process may be left of all that they
# have started. Also without what a runner leaves to clean up ("all"), and with a canceld that ends nothing (a stub). Each
# try has a pid namespace, so that it sees its own processes only. Needs unshare and, for interop, Node.js 20.
set -u

# As process 1. The runner has begun when it has started something that has started something.
try() # what is killed, after how many seconds, command...
{
	local what=$1 after=$2 count start pid killed
	shift 2
	"$@" >/dev/null 2>&1 </dev/null &
	disown
	while others && [ ${#left[@]} -lt 3 ] && kill -0 $! 2>/dev/null; do
		sleep 0.1
	done
	# What has only begun may be one process again when it is looked at once more.
	[ "$after" -eq 0 ] || { sleep "$after" && others; }
	count=${#left[@]}
	killed=($!)
	for pid in "${!left[@]}"; do
		! is_killed "$pid" "$what" || killed+=("$pid")
	done
	kill -KILL "${killed[@]}" 2>/dev/null
	start=$SECONDS
	while others && [ ${#left[@]} -gt 0 ] && [ $((SECONDS - start)) -le 60 ]; do
		sleep 0.2
	done
	printf '%3d processes; %2d s later %2d %s\n' "$count" $((SECONDS - start)) ${#left[@]} "${left[*]}"
	# A fast runner may have ended before a later moment.
	[ "$count" -gt 1 ] || [ "$after" -gt 0 ] && [ ${#left[@]} = 0 ]
}

# All but this one, with their names.
others()
{
	local stat name
	left=()
	for stat in /proc/[0-9]*/stat; do
		{ read -r stat <"$stat"; } 2>/dev/null || continue
		name=${stat#* }
		# The leader of a server's group is a zombie, for as long as it is needed.
		[[ $stat == "$$ "* || ($name != "(cancel-guard)"* && ${stat##*) } == [ZX]*) ]] ||
			left[${stat%% *}]=${name%%)*}')'
	done
}

# No peer, which is a mode of a runner.
is_killed() # pid, what
{
	local program words
	for program in canceld $([ "$2" = runner ] || echo cancelctl e2e stress bench); do
		[ "/proc/$1/exe" -ef "$B/$program" ] && mapfile -d '' -t words <"/proc/$1/cmdline" &&
			[ "${words[1]-}" != --peer ] && return
	done 2>/dev/null
}

tries() # name, command...
{
	local name=$1 canceld what after result real=$CANCELD
	shift
	while read -r canceld what after; do
		CANCELD=$real
		[ "$canceld" = real ] || CANCELD=$stub
		if ! result=$("${apart[@]}" bash test/tools/left-behind.sh try "$what" "$after" "$@"); then
			result="$result FAILED"
			: >"$work/failed"
		fi
		printf '%-8s %s canceld, %-7s after %2d s: %s\n' "$name" "$canceld" "$what" "$after" "$result"
	done <<-'END'
		real runner 0
		real all 2
		real runner 5
		real all 9
		stub runner 1
		stub all 4
	END
}

if [ "${1-}" = try ]; then
	"$@"
	exit
fi
export B
B=$(cd "${1:?BUILD is missing}" && pwd)
cd "$(dirname "$0")/../.." || exit
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
apart=(unshare --pid --fork --kill-child --mount-proc)
[ "$(id -u)" = 0 ] || apart+=(--map-root-user)
stub=$work/stub
cat >"$stub" <<'END'
#!/bin/sh
case " $* " in
*' -- '*) until [ "$1" = -- ]; do shift; done && shift ;;
*) while [ "${1#-}" != "$1" ]; do shift; done ;;
esac
exec "$@"
END
chmod +x "$stub"
export CANCELD=$B/canceld CANCELCTL=$B/cancelctl DEMO_SERVER=$B/demo-server LAUNCHER=$PWD/src/package/npm/launcher.js RELAY=$B/bench-relay SERVER=$B/bench-server
export TMPDIR=$work

tries e2e "$B/e2e" &
CK_RUN_SUITE=sweep tries sweep "$B/e2e" &
tries matrix "$B/e2e" --matrix 9 npx &
tries stress "$B/stress" &
HOME=$work tries bench "$B/bench" &
! command -v node >/dev/null || tries interop test/interop/run &
wait
[ ! -e "$work/failed" ]
