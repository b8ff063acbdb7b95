#!/bin/bash
# Usage: CANCELD=... CANCELCTL=... DEMO_SERVER=... faults.sh calls|nth [STEP]
# calls: lets system calls of canceld and its guardian fail, one in each run: every call that a session makes, its first
# three, or every write, with some errors each. A run has to end in time, with all answers and status 0 or with a word on stderr;
# nothing may be left, and its loop may not spin. A call that takes long puts no deadline off. Likewise those of cancelctl's
# commands: each ends in time, says what failed, and leaves a client's file as it was or as it should be. Needs strace.
# nth, with NTH=nth.so, which needs glibc: each allocation of each process of canceld's and of cancelctl fails, or all from there
# on; and each read or write moves one byte, or half of the bytes, which must change nothing at all. Of the numbers of
# each, every STEP-th, from a random one on.
set -u

occurrences=3
step=${2:-1}
nth=${NTH:-}
seed=${SEED:-$RANDOM}
writes=40 # of them each may be the one that loses an answer
: "${CANCELD:?}" "${CANCELCTL:?}" "${DEMO_SERVER:?}"
limit=20 # seconds for one run
rounds=60 # of the loop, in a short session
runner=$$
export CANCELD CANCELCTL DEMO_SERVER limit runner nth
work=$(mktemp -d)
export work
trap 'rm -rf "$work"' EXIT

# The configuration file is read too.
mkdir -p "$work/home/.config/canceld"
echo '{"timeout":{"tools/call":"20m"},"servers":{"server":{"grace":"5s"}}}' >"$work/home/.config/canceld/config.json"
chmod 600 "$work/home/.config/canceld/config.json"
export HOME="$work/home"

cat >"$work/in" <<'END'
{"jsonrpc":"2.0","id":"start","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"faults","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{}}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{}}}
END
# With -r the server crashes between two calls.
sed '$s/"echo","arguments":{}/"crash","arguments":{"status":9}/p; $s/"id":2/"id":3/' "$work/in" >"$work/in-r"

cat >"$work/server" <<END
#!/bin/sh
setsid sleep 50 >/dev/null 2>&1 &
exec "$DEMO_SERVER"
END
chmod +x "$work/server"

# A command in which one call goes wrong.
failing() # call and error, or the name of a process and what goes wrong in it; number; whose counts
{
	case $2 in
	memory | starved | byte | half)
		wrapper=(env LD_PRELOAD="$nth" NTH_PROCESS="$1" NTH_KIND="$2" NTH_NUMBER="$3" NTH_FILE="$work/$4.counts")
		;;
	*) wrapper=(strace -f -b execve -o /dev/null -e trace="$1" -e inject="$1:error=$2:when=$3" --) ;;
	esac
}

# The server leaves a process in a session of its own. It is no longer traced once it is executed. Without --drain stdin stays open for the answers.
session() # name, canceld's options, what runs it...
{
	local name=$1 options=$2 in=$work/in wanted=3 end=$((SECONDS + 2 * limit))
	shift 2
	[[ $options != *-r* ]] || in=$in-r wanted=4
	: >"$work/$name.out"
	# shellcheck disable=SC2086
	{
		cat "$in"
		while [[ $options != *--drain* && ! -e $work/$name.end && $SECONDS -le $end ]] &&
			[ "$(grep -c '"id":' "$work/$name.out")" -lt $wanted ]; do
			sleep 0.05
		done
	} | {
		FAULT_MARK=$work.$name XDG_STATE_HOME=$work/$name.state timeout -k 1 "$limit" "$@" \
			"$CANCELD" --term-after=200ms --kill-after=500ms ${options/LOG/$work/$name.log} -- "$work/server" 2>"$work/$name.err" | cat >"$work/$name.out"
		echo "${PIPESTATUS[0]}"
		: >"$work/$name.end"
	}
}

left() # name
{
	grep -lazs "^FAULT_MARK=$work.$1\$" /proc/[0-9]*/environ 2>/dev/null | grep -v "/$$/" | grep -c .
}

# One fault. Prints "CALL ERROR NUMBER: what is wrong". xargs ends at the status 255.
try()
{
	kill -0 "$runner" 2>/dev/null || exit 255
	local call=$1 error=$2 number=$3 options=$4
	local name=$call.$error.$number.${options//[^a-z]/} status answers wanted=3 tries=0 wrong=
	[[ $options != *-r* ]] || wanted=4
	local wrapper
	failing "$call" "$error" "$number" "$name"
	status=$(session "$name" "$options" "${wrapper[@]}")
	answers=$(grep -c '"id":' "$work/$name.out")
	cat "$work/$name.log" >>"$work/$name.err" 2>/dev/null
	case $status in
	0) [ "$answers" -ge $wanted ] || wrong="status 0 with $answers answers" ;;
	124 | 137) grep -q 'SERVER_EXITED signal=9' "$work/$name.err" || wrong='no end' ;;
	134 | 139) wrong="a crash: status $status" ;;
	*) grep -Eq 'canceld.*(FAILED|SERVER_EXITED|cannot|:)' "$work/$name.err" || wrong="status $status without a word" ;;
	esac
	while [ "$(left "$name")" != 0 ]; do
		tries=$((tries + 1))
		if [ $tries -gt 60 ]; then
			wrong="$wrong; a process is left"
			break
		fi
		sleep 0.1
	done
	case $error in
	byte | half) { [ "$status" = 0 ] || [[ $options == *-r* && $status == 9 ]]; } && [ -s "$work/$name.state/canceld/history" ] || wrong="$wrong; changed by a short count: status $status" ;;
	esac
	# Of a message that is longer than a pipe there may be a part.
	cut -c 1-200 "$work/$name.out" | grep -qv '^{"jsonrpc":"2.0",' && wrong="$wrong; half a message"
	for file in $([ "$status" = 125 ] && tail -n 1 "$work/$name.out" | grep -q xxxxx || echo "$work/$name.out") "$work/$name.log" "$work/$name.state"/canceld/history; do
		[ ! -s "$file" ] || [ -z "$(tail -c 1 "$file")" ] || wrong="$wrong; half a line in $file"
	done
	[ -z "$wrong" ] || echo "$call $error $number '$options': $wrong: $(tail -n 2 "$work/$name.err" | tr '\n' ' ')"
	rm -rf "$work/$name".*
}

# A command of cancelctl's, to the canceld of start_asked, or with a client's file of its own in the place of FILE.
ask() # name, command, what runs it...
{
	local name=$1 command=$2
	shift 2
	mkdir "$work/$name.d"
	cp "$work/unwrapped" "$work/$name.d/file.json"
	# shellcheck disable=SC2086
	timeout -k 1 "$limit" "$@" \
		"$CANCELCTL" ${command/FILE/$work/$name.d/file.json} >"$work/$name.out" 2>"$work/$name.err" </dev/null
}

try_command()
{
	kill -0 "$runner" 2>/dev/null || exit 255
	local call=$1 error=$2 number=$3 command=$4 status=0 wrong=
	local name=$call.$error.$number.${command//[^a-z]/}
	local wrapper
	failing "$call" "$error" "$number" "$name"
	ask "$name" "$command" "${wrapper[@]}" || status=$?
	case $status in
	# A folder that cannot be opened is taken for empty, which metrics shows by silence.
	0) [ "$command" = metrics ] || [ -s "$work/$name.out" ] || [ -s "$work/$name.err" ] || wrong='status 0 and nothing said' ;;
	124 | 137) wrong='no end' ;;
	134 | 139) wrong="a crash: status $status" ;;
	*) grep -qs 'left alone: .' "$work/$name.out" || [ -s "$work/$name.err" ] || wrong="status $status without a word" ;;
	esac
	case $error in
	byte | half) [ "$status" = 0 ] || wrong="$wrong; changed by a short count: status $status" ;;
	esac
	cmp -s "$work/$name.d/file.json" "$work/unwrapped" || cmp -s "$work/$name.d/file.json" "$work/wrapped" ||
		wrong="$wrong; the file is neither the old nor the new one"
	[ -z "$wrong" ] || echo "cancelctl $command: $call $error $number: $wrong: $(tail -n 2 "$work/$name.err" | tr '\n' ' ')"
	rm -rf "$work/$name".*
}
export -f try session left ask try_command failing

calls() # a trace: the calls from main on, with their numbers, as "CALL FIRST LAST"
{
	# What is before belongs to the dynamic linker: main begins with a look at its standard descriptors.
	awk '{ sub(/^[0-9]+ +/, "") }
	/^[a-z_0-9]+\(/ {
		call = $0
		sub(/\(.*/, "", call)
		if (!begun && call == "fcntl" && /F_GETFD/)
			begun = 1
		if (!begun)
			before[call]++
		else
			after[call]++
	}
	END {
		for (call in after)
			print call, before[call] + 1, before[call] + after[call]
	}' "$1"
}

errors_of() # call
{
	case $1 in
	# brk reports no error, so glibc finds none; those of prctl only fail on a kernel that lacks them.
	# After readlink the sweep tries all process ids, which takes too long under strace.
	# glibc aborts where a futex fails; where a folder cannot be read, it is empty.
	futex | getdents64) ;;
	brk | prctl | readlink | exit_group | execve | rt_sigreturn | set_robust_list | getpid | getppid | get*id | wait4) ;;
	rt_sig* | setsid | fstat | newfstatat | ioctl) echo ENOMEM ;;
	open* | pipe* | socketpair | epoll_create1 | eventfd2 | dup* | fcntl) echo EMFILE ENOMEM ;;
	socket | connect) echo ENOMEM EMFILE ;;
	epoll_ctl) echo ENOMEM ENOSPC ;;
	clone* | fork | vfork | mmap | munmap) echo ENOMEM EAGAIN ;;
	sendto | sendmsg | recvfrom | recvmsg) echo ENOBUFS ENOMEM EINTR ;;
	epoll_wait | epoll_pwait | poll | ppoll | pselect6) echo EINTR ENOMEM ;;
	writev | pwritev2 | write) echo EIO ENOSPC EINTR EAGAIN ;;
	read* | pread*) echo EIO ENOMEM EINTR ;;
	*) echo EIO ENOMEM ;;
	esac
}

plan_nth()
{
	local process allocations transfers number
	paste -d ' ' <(printf '%s\n' canceld cancel-start cancel-guard cancel-history cancel-log cancelctl) \
		<(od -An -v -tu4 -w8 "$work/trace.counts") | while read -r process allocations transfers; do
		for ((number = 1 + seed % step; number <= allocations; number += step)); do
			printf '%s\0%s\0%s\0%s\0' "$process" memory "$number" "$1" "$process" starved "$number" "$1"
		done
		for ((number = 1 + seed % step; number <= transfers; number += step)); do
			printf '%s\0%s\0%s\0%s\0' "$process" byte "$number" "$1" "$process" half "$number" "$1"
		done
	done
}

plan()
{
	local call first last error number most options=$1
	calls "$work/trace" | sort | while read -r call first last; do
		most=$occurrences
		[[ $call != *writev* ]] || most=$writes
		for error in $(errors_of "$call"); do
			for ((number = first; number <= last && number < first + most; number++)); do
				printf '%s\0%s\0%s\0%s\0' "$call" "$error" "$number" "$options"
			done
		done
	done
}

# The configuration is read again in a round that this makes 3 s long. The request comes behind the signal, so in that round
# too, and is late at its end; had the machine slept, it would have its time again.
try_slow_round()
{
	local config=$HOME/.config/canceld/config.json log=$work/slow.log end=$((SECONDS + limit)) pid=
	mkfifo "$work/slow"
	timeout -k 1 "$limit" strace -o /dev/null -P "$config" -e trace=openat -e inject=openat:delay_enter=3000000:when=2 -- \
		"$CANCELD" -v -l "$log" -t tools/call=500ms --name server -- "$DEMO_SERVER" <"$work/slow" >"$work/slow.out" &
	exec 3>"$work/slow"
	head -n 2 "$work/in" >&3
	# The log is written by a process of its own: its first line may come behind the answer.
	until grep -qs '"id":"start"' "$work/slow.out" && [ -n "$pid" ] || [ $SECONDS -gt $end ]; do
		sleep 0.05
		pid=$(sed -n '1s/^[^[]*\[\([0-9]*\).*/\1/p' "$log" 2>/dev/null) || :
	done
	kill -USR2 "$pid"
	echo '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sleep","arguments":{"ms":60000}}}' >&3
	until grep -qs '"id":1,' "$work/slow.out" || ! kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
	exec 3>&-
	wait
	grep -q CONFIG_RELOADED "$log" && grep -q TIMED_OUT "$log" && ! grep -q SKEWED "$log"
}

# A session with an open request, which the command finds and no other one. It ends after ten minutes, as demo-server does.
start_asked()
{
	env -u E2E_MARK timeout 590 "$CANCELD" --no-history --name asked -- "$DEMO_SERVER" <"$work/asked" >"$work/asked.out" 2>"$work/asked.err" &
	exec 4>"$work/asked"
	head -n 2 "$work/in" >&4
	echo '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sleep","arguments":{"ms":580000}}}' >&4
	for ((tries = 0; tries < 200; tries++)); do
		! "$CANCELCTL" ls asked 2>/dev/null | grep -q sleep || return 0
		sleep 0.05
	done
	return 1
}

failed=0
if [ "$1" = nth ]; then
	failing '' memory 0 trace
	plan=plan_nth
	long=$(printf '%100000s' '' | tr ' ' x)
	sed -i "s/\"echo\",\"arguments\":{}/\"echo\",\"arguments\":{\"text\":\"$long\"}/" "$work/in"
	echo "every $step. number from SEED=$seed"
else
	wrapper=(strace -f -b execve -o "$work/trace" --)
	plan=plan
	if ! try_slow_round; then
		echo "a slow round counts as sleep: $(tail -n 3 "$work/slow.log" | tr '\n' ' ')"
		failed=1
	fi
fi
for options in '-v --drain' '-k' '-r --log LOG'; do
	session trace "$options" "${wrapper[@]}" >/dev/null
	if [ "$1" != nth ] && spun=$(grep -c epoll_wait "$work/trace") && [ "$spun" -gt $rounds ]; then
		echo "'$options': $spun rounds of the loop in a short session"
		failed=1
	fi
	$plan "$options" >>"$work/plan"
	rm -rf "$work/trace".*
done
runs=$(($(tr -dc '\0' <"$work/plan" | wc -c) / 4))
# shellcheck disable=SC2016
xargs -0 -n 4 -P "$(($(nproc) * 2))" bash -c 'try "$@"' try <"$work/plan" >"$work/wrong"
printf '{"mcpServers":{"a":{"command":"%s"}}}\n' "$DEMO_SERVER" >"$work/unwrapped"
cp "$work/unwrapped" "$work/wrapped"
"$CANCELCTL" wrap "$work/wrapped" >/dev/null || failed=1
# Whose history is short.
export XDG_STATE_HOME="$work/state"
"$CANCELD" --name asked --drain -- "$DEMO_SERVER" <"$work/in" >"$work/asked.out" 2>&1
mkdir -m 700 "$work/run"
export XDG_RUNTIME_DIR="$work/run"
mkfifo "$work/asked"
asked=0
for command in 'ls' 'ls asked' 'stats asked' 'ping asked' 'set asked tools/call=1h' 'log asked' 'metrics' 'history asked' 'wrap FILE'; do
	start_asked || failed=1
	ask trace "$command" "${wrapper[@]}" || failed=1
	$plan "$command" >"$work/plan"
	rm -rf "$work/trace".*
	asked=$((asked + $(tr -dc '\0' <"$work/plan" | wc -c) / 4))
	# shellcheck disable=SC2016
	xargs -0 -n 4 -P "$(($(nproc) * 2))" bash -c 'try_command "$@"' try <"$work/plan" >>"$work/wrong"
	grep -q '"id":1,' "$work/asked.out" && echo "the session that was asked has lost its request: $command" >>"$work/wrong"
	exec 4>&-
	wait
done
cat "$work/wrong"
[ "$runs" -gt 0 ] && [ "$asked" -gt 0 ] || failed=1
what='failing system calls'
[ "$1" != nth ] || what='allocations and transfers that go wrong'
echo "$runs $what, $asked of cancelctl's, $(wc -l <"$work/wrong") faults"
[ "$failed" = 0 ] && [ ! -s "$work/wrong" ]
