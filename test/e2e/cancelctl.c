/* cancelctl and the control socket of a real canceld: what people see, cancel and set. */
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"
#include "needs.h"
#include "process.h"
#include "shell.h"

SUITE("cancelctl", .seconds = 40);

TEST(a_hanging_call_is_seen_and_cancelled)
{
	struct run *run = run_hanging("--name hangs", "7");

	run_expect_shell(run, "$C ls", 0, "hangs");
	run_expect_shell(run, "$C ls $PID", 0, "tools/call  stubborn");
	run_expect_shell(run, "$C ls -j | grep \"^{.pid.:$PID,\"", 0, "\"in_flight\":1");
	run_expect_shell(run, "$C ls --json $PID", 0, "\"id\":\"7\"");
	run_expect_shell(run, "$C cancel hangs 7 --reason 'too slow'", 0,
	    "cancelled 7 tools/call stubborn");
	run_expect_error(run, "7", CODE_CANCELLED, "operator");
	run_expect_cancelled(run, "7");
	run_expect_shell(run, "$C cancel hangs 7 -f nobody", 2, "want client or server");
	run_expect_shell(run,
	    "$C cancel hangs 7 2>said; s=$?; sed \"s/$PID/PID/\" said; rm said; exit $s", 1,
	    "cancelctl: hangs[PID]: request 7 not found or already completed\n");
	run_expect_shell(run, "$C ls hangs -j | grep . || echo empty", 0, "empty");
	run_release(run);
	run_end(run);
}

TEST(an_id_without_quotes_is_a_number_first)
{
	struct run *run = run_hanging(NULL, "7");

	run_call(run, "\"7\"", "sleep", FOR_EVER);
	run_expect_received(run, "\"7\"");
	run_expect_shell(run, "$C cancel $PID 7 --from server", 1, "not found");
	run_expect_shell(run, "$C cancel -j -f client $PID 7", 0, "\"cancelled\":true");
	run_expect_error(run, "7", CODE_CANCELLED, "operator");
	run_expect_shell(run, "$C cancel $PID 7", 0, "cancelled \"7\" tools/call sleep");
	run_expect_error(run, "\"7\"", CODE_CANCELLED, "operator");
	run_call(run, "\"p\\/q\"", "sleep", FOR_EVER);
	run_expect_received(run, "p\\/q");
	run_expect_shell(run, "$C cancel $PID p/q", 0, "cancelled \"p\\/q\" tools/call sleep");
	run_expect_error(run, "\"p\\/q\"", CODE_CANCELLED, "operator");
	run_release(run);
	run_end(run);
}

/* As a program that a debugger or a person has stopped. */
TEST(one_that_does_not_answer_is_shown)
{
	struct run *run = run_session("--name sleeps", NULL),
		   *other = run_session("--name wakes", NULL);

	run_stop(run);
	run_expect_shell(run, "$C ls | grep \"^ *$PID  -  .*not answering$\" && $C ls", 0, "wakes");
	run_expect_shell(run, "$C ls -j | grep '\"answering\":true' && $C ls -j", 0,
	    ",\"answering\":false}");
	run_expect_shell(run, "$C ls wakes && $C stats wakes", 0, "wakes[");
	run_expect_shell(run, "$C ls $PID", 125, "does not answer");
	run_expect_shell(run,
	    "for c in ls top; do $C $c sleeps 2>&1 | grep -c \"canceld $PID does not answer and may be it\"; done",
	    0, "1\n1\n");
	run_expect_shell(run, "$C cancel sleeps 2", 125,
	    "no canceld that answers is called 'sleeps'");
	run_expect_shell(run, "$C stats", 0, "does not answer");
	run_expect_shell(run, "$C metrics", 0, "does not answer");
	ck_assert_int_eq(kill(run->pid, SIGCONT), 0);
	run_expect_shell(run, "$C ls $PID >rows 2>said; cat said; [ ! -s rows ]", 0,
	    "no request is open");
	run_expect_shell(run,
	    "$C ls -a 2>&1 >rows | grep -c 'no request is open'; [ ! -s rows ]; rm rows said", 0,
	    "1\n");
	run_end(run);
	run_end(other);
}

#define HOSTILE "\x7f\xc2\x9b\xd8\x9c\xe2\x80\xae\xe2\x80\xa8\xe2\x81\xa6"
#define NAMES \
	"(?!\\n)[[:cntrl:]]|\\xc2[\\x80-\\x9f]|\\xd8\\x9c|\\xe2(\\x80[\\x8e\\x8f\\xa8-\\xae]|\\x81[\\xa6-\\xa9])"

/* No canceld there can be seen: that must not look as if there were none. */
TEST(a_folder_that_cannot_be_looked_into_is_told)
{
	shell_expect("true",
	    "home=$(mktemp -d /tmp/canceld-e2e.XXXXXX); chmod 755 $home; cp $CANCELCTL $home/cancelctl; as=; "
	    "mkdir -p $home/.local/state/canceld; "
	    "if [ $(id -u) = 0 ]; then user=$((100000 + $$)); chown -R $user $home; "
	    "as=\"setpriv --reuid $user --regid $user --clear-groups\"; fi; "
	    "for mode in 0 500 600 755 711; do chmod $mode $home/.local/state/canceld; "
	    "for c in metrics ls 'ls -a' stats 'cancel -a -o 1s' 'reload -a' 'ls nobody' history; do "
	    "said=$(HOME=$home $as $home/cancelctl $c 2>&1); status=$?; "
	    "case \"$mode $status $said\" in *' no canceld of this user is running;'* | *' no canceld is called'*) echo \"$c: $said\";; "
	    "*' 125 '*\"/canceld: not this user alone has all rights there: chmod 700\"*) ;; "
	    "*) echo \"$c: $mode $status $said\";; esac; "
	    "done; done; chmod 700 $home/.local/state/canceld; rm -r $home; echo over",
	    0, "over");
	ck_assert_str_eq(shell_output, "over\n");
}

/* As it was before somebody put it there, it may have had sockets and the history. */
TEST(what_is_in_the_place_of_a_folder_is_told)
{
	shell_expect("true",
	    "home=$(mktemp -d /tmp/canceld-e2e.XXXXXX); state=$home/.local/state; "
	    "mkdir -p -m 700 $state $home/own; "
	    "for what in 'ln -s $home/own' 'ln -s $home/none' 'touch'; do eval $what $state/canceld; "
	    "for c in 'ls nobody' history; do said=$(HOME=$home $CANCELCTL $c 2>&1); status=$?; "
	    "case \"$status $said\" in '125 cancelctl: '*'/canceld: it is no folder, but a file or a link: remove it'*) ;; "
	    "*) echo \"$what: $c: $status $said\";; esac; done; rm $state/canceld; done; "
	    "touch $home/file; rm -r $state; ln -s $home/file $state; "
	    "said=$(HOME=$home $CANCELCTL ls nobody 2>&1); echo \"$? $said\" | grep -c '^125 .*: Not a directory'; "
	    "rm -r $home; echo over",
	    0, "over");
	ck_assert_str_eq(shell_output, "1\nover\n");
}

/* What canceld no longer adds to is shown, and the status tells of it. */
TEST(a_history_that_others_may_enter_is_shown)
{
	shell_expect("true",
	    "home=$(mktemp -d /tmp/canceld-e2e.XXXXXX); mkdir -p -m 755 $home/.local/state/canceld; "
	    "echo '{\"time\":\"2026-11-26T10:00:00.000Z\",\"pid\":7,\"server\":\"old\",\"why\":\"FAILED\",\"doing\":\"start an event loop\"}' "
	    ">$home/.local/state/canceld/history; "
	    "HOME=$home XDG_STATE_HOME= $CANCELCTL history -n 9 old; s=$?; rm -r $home; exit $s",
	    125, "FAILED  cannot start an event loop\n");
	ck_assert_ptr_nonnull(strstr(shell_output, ": chmod 700\n"));
}

/* As after su: canceld keeps no history there either. */
TEST(the_history_of_another_user_is_not_looked_into)
{
	if (geteuid() != 0)
		return;
	shell_expect("true",
	    "home=$(mktemp -d /tmp/canceld-e2e.XXXXXX); chown $((100000 + $$)) $home; "
	    "HOME=$home $CANCELCTL history slow 2>&1; echo $?; rm -r $home",
	    0,
	    "cancelctl: there is no history: there is no home directory of this user's\n"
	    "cancelctl: the history has nothing of that\n1\n");
}

/* An account without an entry has no other place. */
TEST(canceld_tells_of_a_folder_that_it_cannot_use)
{
	if (geteuid() != 0)
		return;
	shell_expect("true",
	    "home=$(mktemp -d /tmp/canceld-e2e.XXXXXX); chmod 755 $home; cp $CANCELD $home/program; "
	    "state=$home/.local/state/canceld; mkdir -p $state; user=$((100000 + $$)); chown -R $user $home; "
	    "start() { HOME=$home setpriv --reuid $user --regid $user --clear-groups $home/program true </dev/null 2>&1; }; "
	    "chmod 755 $state; start; chmod 500 $state; start; rmdir $state; touch $state; chown $user $state; start; "
	    "rm -r $home/.local; chmod 500 $home; start; rm -r $home; echo over",
	    0, "over");
	/* Each of the four has neither a socket nor a history. */
	ck_assert_uint_eq(count_of(shell_output, "CONTROL_REFUSED at=/tmp/canceld-e2e."), 4);
	ck_assert_uint_eq(count_of(shell_output, "HISTORY_REFUSED at=/tmp/canceld-e2e."), 4);
	ck_assert_uint_eq(
	    count_of(shell_output,
		"/.local/state/canceld reason=\"not this user alone has all rights there: chmod 700\"\n"),
	    4);
	ck_assert_uint_eq(
	    count_of(shell_output,
		"/.local/state/canceld reason=\"it is no folder, but a file or a link: "),
	    2);
}

/* No canceld of this user has its socket there, so that nothing is missing. */
TEST(a_folder_of_another_user_is_told_and_no_failure)
{
	if (geteuid() != 0)
		return;
	shell_expect("true",
	    "home=$(mktemp -d /tmp/canceld-e2e.XXXXXX); mkdir -p -m 700 $home/.local/state/canceld; "
	    "chown $((100000 + $$)) $home/.local/state/canceld; "
	    "for c in 'ls nobody' history; do HOME=$home $CANCELCTL $c 2>&1; echo $c $?; done; "
	    "mkdir -p -m 755 $home/a/.local/state/canceld; "
	    "XDG_STATE_HOME=$home/.local/state HOME=$home/a $CANCELCTL history >said 2>&1; "
	    "echo both $? $(grep -c \"/canceld: it is no folder of this user's: \" said) "
	    "$(grep -c '/a/.local/state/canceld: .*: chmod 700' said); rm -r said $home",
	    0, "/canceld: it is no folder of this user's: remove it, or give it to this user\n");
	ck_assert_ptr_nonnull(strstr(shell_output, "\nls nobody 1\n"));
	ck_assert_ptr_nonnull(strstr(shell_output, "\nhistory 1\n"));
	/* One folder does not hide the other. */
	ck_assert_ptr_nonnull(strstr(shell_output, "\nboth 125 1 1\n"));
	ck_assert_ptr_null(strstr(shell_output, "chmod"));
}

/* JSON allows \u0000 in a string: a server could hide itself with it. */
TEST(a_name_neither_hides_nor_steers_the_terminal)
{
	struct run *run = run_session("--name hides" HOSTILE,
	    "sh:read a; echo '{\"jsonrpc\":\"2.0\",\"id\":\"start\",\"result\":{\"protocolVersion\":\"2025-11-25\"}}';"
	    "read a; exec sleep 50");

	run_send(run,
	    "{\"jsonrpc\":\"2.0\",\"id\":\"i\\u0000\",\"method\":\"tools/call\",\"params\":{\"name\":\"a\\u0000b" HOSTILE
	    "\"}}");
	run_expect_shell(run,
	    "i=0; until $C ls $PID | grep x00 || [ $((i += 1)) = 600 ]; do sleep 0.05; done", 0,
	    "a\\x00b");
	run_expect_shell(run, "$C ls -j $PID", 0,
	    "a\\u0000b\\u007F\\u009B\\u061C\\u202E\\u2028\\u2066\"");
	run_expect_shell(run,
	    "for c in ls 'ls -j' 'stats' 'stats -j' metrics \"ls $PID\" \"set -j $PID tools/call:" HOSTILE
	    "=1h\" "
	    "'ls " HOSTILE
	    "'; do $C $c >shown 2>&1; [ -s shown ] || exit 1; LC_ALL=C grep -aP '" NAMES
	    "' shown; done; rm shown",
	    0, "");
	ck_assert_str_eq(shell_output, "");
	run_expect_shell(run, "$C cancel -m 'tools/*' $PID", 0, "cancelled \"i\\u0000\"");
	run_expect_shell(run, "$C stats -j $PID", 0, "\"OPERATOR_CANCELLED\":1");
	run_expect_shell(run, "$CANCELD -l l './n\033 sk-1' </dev/null; s=$?; cat l; rm l; exit $s",
	    127, "start ./n\\x1b*: No such");
	ck_assert_ptr_null(strstr(shell_output, "sk-1"));
	run_end(run);
}

TEST(an_ambiguous_name_is_refused_with_the_choices)
{
	struct run *run = run_hanging("--name twins", "7"),
		   *other = run_session("--name twins", NULL);

	run_expect_shell(run, "$C cancel twins 7; s=$?; $C ls $PID; exit $s", 2,
	    "'twins' is ambiguous: give the PID of one of");
	run_expect_shell(run, "$C ls $PID", 0, "stubborn");
	run_expect_shell(run, "$C ls nobody", 1, "no canceld is called 'nobody'; see");
	run_expect_shell(run, "$C ls wins", 1,
	    "no canceld is called 'wins': it could be twins; see cancelctl ls");
	run_expect_shell(run, "$C cancel tiwns 7", 1,
	    "no canceld is called 'tiwns': it could be twins; see cancelctl ls");
	run_expect_shell(run, "$C set --now twins 1ms", 2, "'twins' is ambiguous");
	run_expect_shell(run, "$C ls $PID", 0, "29m");
	run_end(run);
	run_end(other);
}

/* What the client tells of itself, and where it started canceld. */
TEST(sessions_are_told_apart)
{
	struct run *run = run_options("--name apart", NULL),
		   *other = run_hanging("--name apart", "7");
	char script[4096 + 64];
	char *directory = realpath(".", NULL);

	run_send(run,
	    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
	    "\"clientInfo\":{\"name\":\"an-editor\",\"version\":\"1.2\"}}}");
	run_expect_result(run, "0");
	run_expect_shell(run, "$C ls | grep $PID", 0, "an-editor 1.2");
	run_expect_shell(run, "$C ls -j | grep \"^{.pid.:$PID,\"", 0,
	    "\"title\":\"an-editor\",\"version\":\"1.2\"}");
	snprintf(script, sizeof(script),
	    "$C ls -j | grep -cF '\"directory\":\"%s\"' | sed 's/^[1-9].*/there/'", directory);
	run_expect_shell(run, script, 0, "there\n");
	free(directory);
	run_expect_shell(run, "$C ping apart 2>&1 | grep $PID", 0, "an-editor 1.2");
	run_expect_shell(other, "$C ls --all", 0, "7   client  tools/call  stubborn");
	run_expect_shell(other, "$C ls -aj | grep \"^{.pid.:$PID,\"", 0, "\"id\":\"7\"");
	run_expect_shell(other, "$C ls -a apart", 2,
	    "--all: the requests of all, or those of 'apart'?");
	run_end(run);
	run_end(other);
}

TEST(many_are_cancelled_by_age_and_method)
{
	struct run *run = run_hanging("--name many", "7");

	run_call(run, "8", "sleep", FOR_EVER);
	run_expect_received(run, "\"id\":8");
	run_expect_shell(run, "$C cancel many -o 1h", 1, "nothing was cancelled");
	run_expect_shell(run, "$C cancel many --method tools/list", 1, "nothing was cancelled");
	run_expect_shell(run, "$C cancel --all --method nosuch/method", 1, "nothing was cancelled");
	run_expect_shell(run, "$C cancel many -m 'tools/*:sl*p'", 0,
	    "cancelled 8 tools/call sleep");
	run_expect_error(run, "8", CODE_CANCELLED, "operator");
	run_expect_shell(run, "$C cancel many --older none", 2, "'none' is no duration");
	run_expect_shell(run, "$C cancel many --older 0s -r enough", 0,
	    "cancelled 7 tools/call stubborn");
	run_expect_error(run, "7", CODE_CANCELLED, "operator");
	run_release(run);
	run_end(run);
}

/*
 * An agent has its grace: more than one call of the socket cancels must not cancel the first ones
 * again.
 */
TEST(requests_of_an_agent_keep_their_grace)
{
	struct run *run = run_options("-D acp --grace 50s",
	    "sh:read a; echo '{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":1}}'; while read a; do :; done");

	run_send(run,
	    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}");
	run_expect_result(run, "0");
	for (int id = 1; id <= 300; id++)
		run_sendf(run,
		    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"session/new\",\"params\":{}}", id);
	run_expect_shell(run,
	    "i=0; until [ $($C ls -j $PID | grep -c session/new) = 300 ] || [ $((i += 1)) = 600 ]; do "
	    "sleep 0.05; done; echo $i | grep -vx 600",
	    0, "");
	run_expect_shell(run,
	    "$C cancel $PID -m session/new >said; sort -u said | wc -l; wc -l <said; rm said; $C cancel $PID -m session/new",
	    1, "300\n300\ncancelctl: nothing was cancelled\n");
	run_expect_quiet(run, 1);
	run_end(run);
}

TEST(a_deadline_is_set_while_it_runs)
{
	struct run *run = run_hanging("--name sets", "7");

	run_expect_shell(run, "$C set sets 5", 2,
	    "timeout '5': is the unit missing? for seconds: 5s\n");
	run_expect_shell(run, "$C set sets tools/call:echo=0.5", 2,
	    "? for seconds: tools/call:echo=0.5s\n");
	run_expect_shell(run, "$C set sets soon", 2,
	    "the largest first: 1m30s), such as 30s or tools/call:NAME=5m\n");
	run_expect_shell(run, "$C set sets", 0, "no rule is set: all deadlines are built in\n");
	run_expect_shell(run, "$C set sets tools/call:none=1h", 0,
	    ": set for the requests that come\n");
	run_expect_shell(run, "$C set sets --now tools/call:stubborn=1ms", 0,
	    "set; 1 in flight changed");
	run_expect_error(run, "7", CODE_CANCELLED, "timeout");
	run_expect_shell(run, "$C set --max-time -j sets 'tools/call:sleep=200ms'", 0,
	    "\"changed\":0");
	run_call(run, "8", "sleep", FOR_EVER);
	run_expect_error(run, "8", CODE_CANCELLED, "timeout");
	run_release(run);
	run_end(run);
}

/* It counts as it stands. */
TEST(a_rule_that_was_meant_otherwise_is_told)
{
	struct run *run = run_session(
	    "--name doubts -t forecast=10m -t tools/call:stubborn=1h --answer root/list={} "
	    "--answer list_roots={} --answer workspace/config=[] --answer roots/list=null",
	    NULL);

	run_expect_logged(run,
	    "RULE_DOUBTED from=\"command line --answer root/list=...\" meant=\"roots/list=...\"\n");
	run_expect_logged(run, "RULE_DOUBTED from=\"command line --answer list_roots=...\"\n");
	run_expect_logged(run,
	    "RULE_DOUBTED from=\"command line --answer roots/list=...\" meant=\"roots/list={\\\"roots\\\":[]}\"\n");
	run_expect_logged(run,
	    "RULE_DOUBTED from=\"command line -t forecast=10m\" meant=\"tools/call:forecast=10m\"\n");
	run_expect_shell(run, "$C ls | grep -c doubts!", 0, "1\n");
	run_expect_shell(run, "$C ls doubts", 0,
	    "]: command line -t forecast=10m: was this meant? tools/call:forecast=10m\n");
	run_expect_shell(run, "$C set doubts echo=2h", 0,
	    ": set for the requests that come; was this meant? tools/call:echo=2h\n");
	run_expect_shell(run, "$C set -j doubts tools/cal:echo=2h", 0,
	    "\"changed\":0,\"meant\":\"tools/call:echo=2h\"}\n");
	run_expect_shell(run, "$C set -j doubts tools/call:echo=2h", 0, "\"changed\":0}\n");
	run_expect_echo(run, "2");
	run_leave(run, 0);
	ck_assert_ptr_nonnull(strstr(run->error.data,
	    "RULE_UNUSED from=\"cancelctl set -t tools/cal:echo=2h\" meant=\"tools/call:echo=2h\"\n"));
	ck_assert_ptr_nonnull(strstr(run->error.data,
	    "RULE_UNUSED from=\"command line -t tools/call:stubborn=1h\"\n"));
	ck_assert_ptr_null(
	    strstr(run->error.data, "RULE_UNUSED from=\"cancelctl set -t tools/call:echo"));
	ck_assert_ptr_nonnull(strstr(run->error.data,
	    "RULE_UNUSED from=\"command line --answer root/list=...\" meant=\"roots/list=...\"\n"));
	ck_assert_ptr_nonnull(strstr(run->error.data,
	    "RULE_UNUSED from=\"command line --answer workspace/config=...\"\n"));
	ck_assert_ptr_null(
	    strstr(run->error.data, "RULE_DOUBTED from=\"command line --answer workspace/config"));
	run_end(run);
}

/* Once the server has listed its tools, and once only. */
TEST(a_tool_that_the_server_lacks_is_told)
{
	struct run *run = run_session(
	    "--name lacks -t tools/call:slep=10m -t tools/call:forecast=1h -t tools/call:echo=5s",
	    NULL);
	const char *again;

	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/list\",\"params\":{}}");
	run_expect_answer(run, "9");
	run_expect_logged(run,
	    "RULE_DOUBTED from=\"command line -t tools/call:slep=10m\" meant=\"tools/call:sleep=10m\"\n");
	run_expect_logged(run,
	    "RULE_DOUBTED from=\"command line -t tools/call:forecast=1h\" meant=\"another tool: the server lists none of this name\"\n");
	run_expect_shell(run, "$C ls lacks", 0,
	    "]: command line -t tools/call:slep=10m: was this meant? tools/call:sleep=10m\n");
	run_expect_shell(run, "$C set lacks tools/call:ehco=2h", 0,
	    "; was this meant? tools/call:echo=2h\n");
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":10,\"method\":\"tools/list\",\"params\":{}}");
	run_expect_answer(run, "10");
	run_expect_echo(run, "2");
	run_leave(run, 0);
	again = strstr(run->error.data, "RULE_DOUBTED from=\"command line -t tools/call:slep");
	ck_assert_ptr_nonnull(again);
	ck_assert_ptr_null(
	    strstr(again + 1, "RULE_DOUBTED from=\"command line -t tools/call:slep"));
	ck_assert_ptr_null(strstr(run->error.data, "-t tools/call:echo"));
	ck_assert_ptr_nonnull(strstr(again,
	    "RULE_UNUSED from=\"command line -t tools/call:slep=10m\" meant=\"tools/call:sleep=10m\"\n"));
	run_end(run);
}

/* With and without a canceld of that name. */
TEST(a_rule_in_the_place_of_a_canceld_is_told)
{
	struct run *run = run_session("--name place", NULL);

	run_expect_shell(run, "$C set tools/call:slow=3s", 2,
	    "'tools/call:slow=3s' is no canceld: which canceld, and which deadline?");
	run_expect_shell(run, "$C set 30s", 2, "'30s' is no canceld: ");
	run_expect_shell(run, "$C set slow=3s", 2, "'slow=3s' is no canceld: ");
	run_expect_shell(run, "$C set -u tools/call:slow", 2, "'tools/call:slow' is no canceld: ");
	run_expect_shell(run, "$C set place 2>&1", 0, "built in");
	run_expect_shell(run, "$C set ./none.sock", 1, "./none.sock: No such file");
	run_end(run);
}

TEST(what_was_set_is_taken_back)
{
	struct run *run = run_hanging("--name back -t 1h", "7");

	run_expect_shell(run, "$C set --unset back", 1, "no such rule was set\n");
	run_expect_shell(run,
	    "$C set back 2h && $C set back tools/call:a=3h && $C set -n back tools/call:stubborn=4h",
	    0, "changed\n");
	run_expect_shell(run, "$C set -u back tools/call:a && $C set back --unset tools/call:a", 1,
	    "no such rule was set\n");
	run_expect_logged(run,
	    "OPERATOR_SET option=timeout unset=\"cancelctl set -t tools/call:a=3h\" changed=0");
	run_expect_shell(run,
	    "$C set back 'resources/read:https://me:hunter2@h/p?token=s3cret=3h' && $C set back | grep -c hunter2",
	    1, "0\n");
	run_expect_logged(run,
	    "OPERATOR_SET option=timeout rule=\"cancelctl set -t resources/read:https://h=3h\" ");
	run_expect_shell(run,
	    "$C set back -j 'resources/read:https://me:hunter2@h/p?token=s3cret=5h' && $C set -j back",
	    0, "\"name\":\"https://h\"");
	run_expect_shell(run, "$C set -u back 'resources/read:https://me:hunter2@h/p?token=s3cret'",
	    0, "taken back\n");
	run_expect_logged(run, "unset=\"cancelctl set -t resources/read:https://h=5h\" ");
	run_expect_shell(run,
	    "$C set back 'https://me:hunter2@h/p?token=s3cret=6h' && $C set back | grep -c hunter2",
	    1, "0\n");
	run_expect_logged(run, "rule=\"cancelctl set -t https:*=6h\" ");
	run_expect_shell(run, "$C set -n back stubborn=3h && $C set -n back stubborn=4h", 0,
	    "tools/call:stubborn=4h");
	run_expect_shell(run,
	    "$C set -u back stubborn && $C set -u back 'https://me:hunter2@h/p?token=s3cret'", 0,
	    "taken back\n");
	ck_assert_ptr_null(strstr(run->error.data, "hunter2"));
	ck_assert_ptr_null(strstr(run->error.data, "s3cret"));
	run_expect_shell(run, "$C set back 'x:file:///?a=1=3h' && $C set -u back 'x:file:///?a=1'",
	    0, "taken back\n");
	run_expect_shell(run, "$C set -u --now back tools/call:stubborn=4h", 0, "taken back\n");
	run_expect_logged(run,
	    "OPERATOR_SET option=timeout unset=\"cancelctl set -t tools/call:stubborn=4h\" "
	    "changed=1");
	run_expect_shell(run,
	    "$C set back tools/call:a=3h && $C set -T back 5h && $C set -n back tools/call:stubborn=4h",
	    0, "changed\n");
	run_expect_shell(run, "$C set -nu back && $C set back | tr -s ' ' | cut -d ' ' -f 2,5", 0,
	    "OPTION DURATION\nmax-time 5h00m\ntimeout 1h00m\n");
	run_expect_logged(run, "OPERATOR_SET option=timeout unset=all changed=1");
	run_expect_shell(run, "$C set -uT back && $C set -uT back", 1, "no such rule was set\n");
	run_expect_shell(run, "$C set back", 0,
	    "back    timeout  -       -        1h00m  in force  command line -t 1h\n");
	run_expect_shell(run, "$C ls -j back", 0, "\"timeout_ms\":3600000");
	run_end(run);
}

/*
 * The last of one place counts, and covers the others for the same; in another place all of them.
 */
TEST(a_rule_that_another_one_covers_says_so)
{
	struct run *run =
	    run_session("--name rules -t tools/call:sleep=50s -t tools/call:sleep=70s -t 9s", NULL);

	run_call(run, "7", "sleep", FOR_EVER);
	run_expect_received(run, "sleep");
	run_expect_shell(run, "$C ls -j rules", 0, "\"timeout_ms\":70000,");
	run_expect_shell(run, "$C set rules | tr -s ' ' | cut -d ' ' -f 5-", 0,
	    "9s in force command line -t 9s\n"
	    "1m10s in force command line -t tools/call:sleep=70s\n"
	    "50s covered command line -t tools/call:sleep=50s\n");
	run_expect_shell(run, "$C set rules tools/call:sleep=80s && $C set rules | grep -c covered",
	    0, "2\n");
	run_expect_shell(run, "$C set rules 1h && $C set rules | grep -c covered", 0, "3\n");
	run_end(run);
}

/* Of addresses only a part is told: those that look the same may be two. */
TEST(no_rule_is_called_covered_that_may_not_be)
{
	struct run *run = run_session(
	    "--name parts -t resources/read:https://h/a=5s -t resources/read:https://h/b=600s",
	    NULL);

	run_expect_shell(run, "$C set parts | tr -s ' ' | cut -d ' ' -f 4-7", 0,
	    "NAME DURATION STATE FROM\nhttps://h 10m00s in force\nhttps://h 5s - command\n");
	run_end(run);
}

/* In one place the order says nothing: the most specific one counts. */
TEST(the_most_specific_rule_of_a_place_counts)
{
	struct run *run =
	    run_session("--name ranks -t tools/call:sleep=1m -t tools/call:s*=2m -t 9s", NULL);

	run_call(run, "7", "sleep", FOR_EVER);
	run_expect_received(run, "sleep");
	run_expect_shell(run, "$C ls -j ranks", 0, "\"timeout_ms\":60000,");
	run_expect_shell(run, "$C set ranks | tr -s ' ' | cut -d ' ' -f 5-7", 0,
	    "9s in force\n2m00s in force\n1m00s in force\n");
	run_end(run);
}

/* Silence is a quarter of the deadline; a server that is stopped answers no ping. */
TEST(what_hangs_has_a_verdict)
{
	struct run *run = run_hanging("-v --name judged -t tools/call:stubborn=100s", "7");
	static const char until[] =
	    "i=0; until $C ls -j judged | grep '\"verdict\":\"silent\"'; do "
	    "[ $((i += 1)) -lt 600 ] && sleep 0.05; done";

	run_expect_shell(run, "$C ls -j judged", 0, "\"verdict\":\"works\"");
	run_expect_shell(run, "$C ping judged", 0, "]: answered after ");
	run_expect_logged(run, "PROBE_SENT");
	run_expect_shell(run, "$C set --now judged tools/call:stubborn=16s", 0,
	    "1 in flight changed");
	run_expect_shell(run, until, 0, "");
	run_expect_shell(run, "$C ping -j judged", 0, "\"verdict\":\"silent\",\"probe_ms\":");
	run_expect_shell(run, "$C set --now judged tools/call:stubborn=100s", 0,
	    "1 in flight changed");
	run_expect_shell(run,
	    "kill -STOP $($C ls -j | sed -n 's/.*\"server\":{\"pid\":\\([0-9]*\\).*\"name\":\"judged\".*/\\1/p')",
	    0, "");
	run_expect_shell(run, "$C ping judged", 124, "]: not answered for 5s\n");
	run_expect_shell(run, "$C ls judged", 0, "  stuck ");
	run_expect_shell(run, "$C restart judged", 0, "]: restarted\n");
	run_expect_error(run, "7", CODE_INTERNAL, "server-restarted");
	run_expect_shell(run, "$C ls judged | grep -c stuck", 1, "0\n");
	run_end(run);
}

TEST(a_server_is_started_again_by_a_person)
{
	struct run *run = run_hanging("--name renewed", "7"), *editor;

	run_expect_shell(run, "$C restart renewed", 0, "]: restarted\n");
	run_expect_error(run, "7", CODE_INTERNAL, "server-restarted");
	run_expect_logged(run, "OPERATOR_RESTARTED");
	run_expect_echo(run, "8");
	run_expect_shell(run, "$C restart -j renewed", 0, "\"state\":\"running\"");
	run_expect_echo(run, "9");
	run_expect_shell(run, "$C ls -j | grep \"^{.pid.:$PID,\"", 0, "\"restarts\":2");
	run_end(run);
	editor = run_options("-D lsp --name editing", "cat");
	run_expect_shell(editor,
	    "i=0; until $C ls editing; do [ $((i += 1)) -lt 600 ] && sleep 0.05; done", 0, "");
	run_expect_shell(editor, "$C restart editing", 1,
	    "]: sessions of this protocol cannot be replayed (see --restart=stateless)");
	run_expect_shell(editor, "$C ping editing", 1, "the handshake is not answered");
	run_expect_shell(editor, "$C restart --force editing", 0,
	    "]: ended, and not started again\n");
	run_expect_logged(editor, "RESTART_REFUSED");
	run_end(editor);
}

/* It works once, and has another end at each later start; what -r allows is in what follows. */
TEST(why_a_restart_failed_is_told)
{
	static const struct {
		const char *options, *ending, *said;
	} rows[] = {
		{ "--name fails", "exit 3", "]: it has ended: exit status 3\n" },
		{ "--name fails -r1", "exit 3",
		    "]: it has ended: it has failed more often than --restart=N/DURATION allows" },
		{ "--name fails", "kill -9 $$", "]: it has ended: Killed\n" },
		{ "--name fails -r1", "rm once; exit 3", "]: it has ended: cannot start " },
		{ "--name fails",
		    "read m; i=${m#*id\\\":}; echo \\047{\"jsonrpc\":\"2.0\",\"id\":\\047${i%%%%,*}\\047,\"error\":{\"code\":-32000,"
		    "\"message\":\"no base\"}}\\047; read m",
		    "]: it has ended: it answered with the error -32000: no base" },
		{ "--name fails", "e=sle; exec ${e}ep 50 >&-",
		    "]: it has ended: it had closed its standard output\n" },
		/* Here canceld waits for the client, which does not read. */
		{ "--name fails", "exit 3", "]: ended, and not started again\n" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char script[512], once[512];
		struct run *run;

		snprintf(script, sizeof(script),
		    "rm -f started; printf '#!/bin/sh\\ncd \"${0%%%%/*}\"; [ ! -e started ] || { %s; }\\n"
		    ": >started; exec \"$DEMO_SERVER\"\\n' >once && chmod +x once",
		    rows[i].ending);
		run_expect_shell(NULL, script, 0, "");
		snprintf(once, sizeof(once), "%s/once", getenv("E2E_DIRECTORY"));
		run = run_session(rows[i].options, once);
		if (i == COUNT(rows) - 1) {
			run->stdout_unread = true;
			run_sendf(run,
			    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":[\"%0300000d\"]}}",
			    0);
			run_settle(run);
		}
		run_expect_shell(run, "$C restart $PID", 1, rows[i].said);
		/* Another start is not what was missing. */
		ck_assert_ptr_null(strstr(run->error.data, "-r starts it again"));
		run->stdout_unread = false;
		run_end(run);
	}
}

TEST(a_server_that_could_not_be_started_again_is_kept)
{
	NEEDS(SYSTEM_ISOLATES);
	struct run *run = run_session("--name kept", NULL);
	pid_t starter = process_named(run->pid, "cancel-start");

	ck_assert_int_gt(starter, 1);
	kill(starter, SIGKILL);
	run_expect_shell(run, "$C restart kept", 1, "cancel-start, was killed");
	run_expect_echo(run, "8");
	run_expect_shell(run, "$C restart --force kept", 0, "]: ended, and not started again\n");
	run_expect_logged(run, "RESTART_REFUSED");
	run_end(run);
}

TEST(the_level_of_the_log_is_changed)
{
	struct run *run = run_session("--name logs -t echo=2h", NULL);

	run_expect_shell(run, "$C log logs loud", 2, "want error, notice, decision or traffic");
	run_expect_shell(run, "$C log logs traffic", 0, "the level of the log is changed");
	run_expect_echo(run, "5");
	run_expect_logged(run, "RELAYED to=client");
	run_expect_shell(run, "$C log logs | head -1", 0, "] notice RULE_DOUBTED from=");
	run_expect_shell(run, "$C log logs | sed -n 2p", 0, "] notice STARTED process=");
	run_expect_shell(run, "$C log logs | tail -1", 0, "] traffic RELAYED to=client");
	run_expect_shell(run, "$C log -j logs", 0, "\"why\":\"RELAYED\",\"to\":\"client\"");
	run_expect_shell(run, "$C log -j logs error", 0, "\"server\":\"logs\"");
	run_expect_shell(run, "$C reload logs", 0,
	    "]: command line -t echo=2h: was this meant? tools/call:echo=2h\nlogs[");
	run_expect_shell(run, "$C reload logs", 0, "config.json: nothing changed\n");
	run_end(run);
}

/* Others of the machine may be asked too: how many is not known. */
TEST(one_mistake_of_all_is_told_once)
{
	char options[600];
	struct run *first, *second;

	snprintf(options, sizeof(options), "--name twice -c %s/file", getenv("E2E_DIRECTORY"));
	run_expect_shell(NULL, "echo {} >file && chmod 600 file", 0, "");
	first = run_session(options, NULL);
	second = run_session(options, NULL);
	run_expect_shell(first, "echo '{\"tymeout\":1}' >file; $C reload -a 2>&1 | grep -c tymeout",
	    0, "1\n");
	run_expect_shell(first, "$C reload -a", 1, ": tymeout: unknown key: it could be timeout\n");
	ck_assert_ptr_nonnull(strstr(shell_output, "\ncancelctl: 2 of "));
	run_expect_shell(first,
	    "echo '{' >file; $C reload -a 2>&1 | grep -cE ': 2 of [0-9]+: /.*/file: line '", 0,
	    "1\n");
	run_end(first);
	run_end(second);
}

TEST(a_long_path_cuts_off_no_reason)
{
	char options[4096], folder[2048] = "", *at = folder;
	struct run *run;

	for (int i = 0; i < 7; i++)
		at += snprintf(at, 202, "/%0200d", i);
	snprintf(options, sizeof(options), "--name long -c %s%s/file", getenv("E2E_DIRECTORY"),
	    folder);
	setenv("D", folder + 1, 1);
	run_expect_shell(NULL, "mkdir -p $D && echo {} >$D/file && chmod 600 $D/file", 0, "");
	run = run_session(options, NULL);
	run_expect_shell(run, "echo '{' >$D/file; $C reload long", 1, "/file: line 2, column 0: ");
	ck_assert_ptr_nonnull(strstr(shell_output,
	    "; what was in force stays, until the file says otherwise, {} for nothing\n"));
	run_end(run);
	run = run_options(options, "true");
	run_expect_exit(run, 125);
	run_expect_logged(run, "': line 2, column 0: ");
	run_end(run);
}

TEST(the_rules_and_what_is_wrong_in_the_file_are_shown)
{
	char options[600], wanted[2048];
	struct run *run;

	snprintf(options, sizeof(options), "--name files -T b=5s -c %s/file",
	    getenv("E2E_DIRECTORY"));
	run_expect_shell(NULL, "echo {} >file && chmod 600 file", 0, "");
	run = run_session(options, NULL);
	/* Where none fits, one may have been mistyped. */
	run_expect_shell(run,
	    "echo '{\"servers\":{\"fils\":{},\"else\":{}}}' >file; $C reload files 2>&1 >said | tail -n 1",
	    0, "cancelctl: no server that was asked fits these sections: fils, else\n");
	run_expect_shell(run, "$C set files", 0,
	    "FROM\nfiles   max-time  b       -           5s  in force  command line -T b=5s\n");
	run_expect_shell(run,
	    "echo '{\"timeot\":1,\"timeout\":\"3s\",\"servers\":{\"fil*\":{\"max-time\":\"none\"},\"else\":{}}}' >file\n"
	    "$C reload files 2>&1 | grep 'files.*: command line -T b=5s: was this meant? ' && "
	    "$C ls | grep files! && $C reload files",
	    1, "]: timeot: unknown key: it could be timeout\ncancelctl: files[");
	ck_assert_ptr_null(strstr(shell_output, "else"));
	snprintf(wanted, sizeof(wanted),
	    "]: configuration file %s/file: timeot: unknown key: it could be timeout\n",
	    getenv("E2E_DIRECTORY"));
	run_expect_shell(run, "$C ls files 2>&1 >said && rm said", 0, wanted);
	run_expect_shell(run,
	    "$C ls -j | grep -c '/file\",\"config\":\\[\"timeot: .*\\],\"doubted\":\\[\"command line '",
	    0, "1\n");
	snprintf(wanted, sizeof(wanted),
	    "files   timeout   tools/call  a        5m00s  in force  cancelctl set -t tools/call:a=5m\n"
	    "files   max-time  b           -           5s  in force  command line -T b=5s\n"
	    "files   max-time  -           -         none  in force  %s/file servers.fil* max-time none\n"
	    "files   timeout   -           -           3s  in force  %s/file timeout 3s\n",
	    getenv("E2E_DIRECTORY"), getenv("E2E_DIRECTORY"));
	run_expect_shell(run, "$C set files tools/call:a=5m && $C set -a -j && $C set files", 0,
	    wanted);
	ck_assert_ptr_nonnull(strstr(shell_output, "/file servers.fil* max-time none\"}"));
	/* One that says nothing fits too, and that of a name that was changed does not. */
	run_expect_shell(run,
	    "echo '{\"servers\":{\"files\":{},\"else\":{}}}' >file; $C reload files", 0,
	    "/file: changed timeout, max-time\n");
	ck_assert_ptr_null(strstr(shell_output, "else"));
	run_expect_shell(run,
	    "for s in files fils; do echo '{\"servers\":{\"'$s'\":{\"timeout\":\"3s\"}}}' >file; $C reload files; done",
	    1, "no server that was asked fits these sections: fils\n");
	run_end(run);
}

/* The watcher is another process: it ends with canceld, and has then shown all. */
static FILE *
start_watch(const struct run *run, const char *arguments)
{
	char script[512];

	snprintf(script, sizeof(script), "exec \"$CANCELCTL\" watch %d %s 2>&1", (int)run->pid,
	    arguments);
	return popen(script, "r");
}

/* There may be any number of lines: one must have the text. */
static void
end_watch(FILE *watch, const char *wanted, const char *unwanted)
{
	bool found = false;

	while (fgets(shell_output, sizeof(shell_output), watch) != NULL) {
		found |= strstr(shell_output, wanted) != NULL;
		ck_assert_ptr_null(strstr(shell_output, unwanted));
	}
	ck_assert_msg(found, "no '%s'", wanted);
	ck_assert_int_eq(pclose(watch), 0);
}

/*
 * Each answer is a decision of level traffic, so there is one to read as soon as it watches. Not
 * more of them than it has time for: canceld waits for no watcher.
 */
static void
await_watch(struct run *run, FILE *watch)
{
	struct pollfd shown = { .fd = fileno(watch), .events = POLLIN };

	for (int id = 100; poll(&shown, 1, 20) == 0; id++) {
		char text[16];

		ck_assert_int_lt(id, 1000);
		snprintf(text, sizeof(text), "%d", id);
		run_expect_echo(run, text);
	}
}

static const struct {
	const char *arguments, *wanted, *unwanted;
} watches[] = {
	{ "-l traffic", " LATE ", "{" },
	{ "-l traffic why=RELAYED,SUMMARY", " SUMMARY requests=", " LATE " },
	{ "--json --level traffic 'why!=LATE' server=watched 'method=tools/*'",
	    "\"name\":\"stubborn\",\"id\":7", "LATE" },
};

TESTS(decisions_are_watched_while_they_are_made, 0, COUNT(watches))
{
	struct run *run = run_hanging("--name watched", "7");
	FILE *watch = start_watch(run, watches[_i].arguments);

	await_watch(run, watch);
	run_expect_shell(run, "$C cancel $PID 7", 0, "cancelled");
	run_expect_error(run, "7", CODE_CANCELLED, "operator");
	run_release(run);
	run_end(run);
	end_watch(watch, watches[_i].wanted, watches[_i].unwanted);
}

/* What hangs stands first, though it was called last. A stream is open by nature. */
TEST(what_was_counted_is_shown)
{
	struct run *run = run_session("--name counts", "demo --mute subscriptions/listen");

	run_expect_echo(run, "5");
	run_call(run, "7", "stubborn", FOR_EVER);
	run_expect_received(run, "stubborn");
	run_expect_shell(run, "$C metrics | grep '_oldest_seconds{.*} [0-9.]*[1-9]'", 0,
	    "canceld_request_oldest_seconds{server=\"counts\"} ");
	run_expect_shell(run, "$C cancel counts 7", 0, "cancelled");
	run_send(run, "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"subscriptions/listen\"}");
	run_expect_shell(run,
	    "i=0; until $C ls counts | grep subscr || [ $((i += 1)) = 600 ]; do sleep 0.05; done",
	    0, "listen");
	run_expect_shell(run, "$C metrics", 0,
	    "canceld_request_oldest_seconds{server=\"counts\"} 0\n");
	run_expect_shell(run,
	    "$C stats counts | sed '1,/^METHOD.*  BY PERSON  ANSWERED/d' | grep -oE 'stubborn|echo'",
	    0, "stubborn\necho\n");
	run_expect_shell(run, "$C stats counts", 0, "tools/call  stubborn  ");
	run_expect_shell(run, "$C stats counts", 0, "tools/call  echo  ");
	run_expect_shell(run, "$C stats -j counts", 0,
	    "\"name\":\"stubborn\",\"tallies\":{\"answered\":0,");
	run_expect_shell(run, "$C stats", 0, "\n  queued bytes: none\n");
	run_expect_shell(run, "$C metrics", 0,
	    "method=\"tools/call\",name=\"echo\",outcome=\"answered\"} 1\n");
	run_expect_shell(run, "$C metrics", 0,
	    "method=\"tools/call\",name=\"stubborn\",outcome=\"by_person\"} 1\n");
	run_expect_shell(run, "$C metrics", 0,
	    "_count{server=\"counts\",method=\"tools/call\",name=\"echo\"} 1\n");
	run_expect_shell(run,
	    "command -v promtool >/dev/null || exit 0; $C metrics | promtool check metrics", 0, "");
	run_end(run);
}

TEST(what_was_lost_has_a_number)
{
	struct run *run = run_session("--name lost -r9/1m", "demo");

	run_expect_echo(run, "2");
	run_expect_shell(run, "$C metrics", 0,
	    "canceld_outcomes_total{server=\"lost\",outcome=\"lost\"} 0\n");
	run_expect_shell(run, "$C stats lost | grep -c LOST", 1, "0");
	run_call(run, "3", "crash", "{\"status\":7}");
	run_expect_error(run, "3", CODE_INTERNAL, "server-restarted");
	run_expect_logged(run, "RESTARTED");
	run_expect_shell(run, "$C metrics", 0,
	    "canceld_outcomes_total{server=\"lost\",outcome=\"lost\"} 1\n");
	run_expect_shell(run, "$C stats lost | grep -A3 '^METHOD.*  LOST  ' | grep -E 'crash +1 '",
	    0, "tools/call  crash ");
	run_end(run);
}

/* Or a closed standard output. A watcher has something to write as soon as there is an event. */
TESTS(a_full_disk_is_told, 0, 2)
{
	static const char *const outputs[][2] = { { ">/dev/full", "No space left on device" },
		{ ">&-", "Bad file descriptor" } };
	struct run *run;
	char script[1024];

	if (access("/dev/full", W_OK) == -1)
		return;
	run = run_hanging("--name full", _i == 0 ? "1" : "2");
	snprintf(script, sizeof(script),
	    "mkdir full; cd full; echo '{\"mcpServers\":{\"a\":{\"command\":\"x\"}}}' >w.json\n"
	    "for c in ls 'ls -j' 'ls full' stats 'stats -j' metrics 'set full 1h' 'set -j full 1h' 'log full decision' "
	    "'reload full' 'reload -j full' 'cancel full %d' 'wrap -n w.json' 'wrap -j w.json' 'wrap w.json' "
	    "'unwrap w.json' 'doctor -- true' 'doctor -j -- true' help version 'ls --help' 'wrap --help'; do\n"
	    "$C $c 2>said %s; [ $? = 125 ] && grep -q '%s' said || { echo $c; exit 1; }; done\n"
	    "$C watch full 2>said %s & while kill -0 $! 2>kill; do $C set full 1h >set; done; wait $!\n"
	    "s=$?; cat said; cd ..; rm -r full; exit $s",
	    _i + 1, outputs[_i][0], outputs[_i][1], outputs[_i][0]);
	run_expect_shell(run, script, 125, outputs[_i][1]);
	run_expect_error(run, _i == 0 ? "1" : "2", CODE_CANCELLED, "operator");
	run_release(run);
	run_end(run);
}

/* cancelctl metrics; its line names the port. */
static pid_t
serve_metrics(char *line, size_t room, const char *option, const char *value)
{
	int said[2];
	pid_t pid;
	ssize_t len;

	ck_assert_int_eq(pipe(said), 0);
	pid = process_fork();
	if (pid == 0) {
		dup2(said[1], STDERR_FILENO);
		execl(getenv("CANCELCTL"), "cancelctl", "metrics", "-l", "127.0.0.1:0", option,
		    value, (char *)NULL);
		_exit(127);
	}
	close(said[1]);
	len = read(said[0], line, room - 1);
	ck_assert_int_gt(len, 0);
	line[len] = '\0';
	close(said[0]);
	return pid;
}

static void
end_metrics(pid_t pid)
{
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* A connection to the port that this line names. */
static int
visit(const char *line)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const char *colon = strrchr(line, ':');
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_ptr_nonnull(colon);
	address.sin_port = htons((uint16_t)strtol(colon + 1, NULL, 10));
	ck_assert_int_eq(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* The request has PORT where the port is to stand. */
static void
expect_served(const char *line, const char *request, const char *wanted)
{
	struct text text = { 0 };
	char answer[65536];
	const char *gap;
	size_t len = 0;
	ssize_t got;
	int fd = visit(line);

	for (; (gap = strstr(request, "PORT")) != NULL; request = gap + strlen("PORT"))
		text_print(&text, "%.*s%ld", (int)(gap - request), request,
		    strtol(strrchr(line, ':') + 1, NULL, 10));
	text_print(&text, "%s", request);
	ck_assert_int_eq(send(fd, text.data, text.len, MSG_NOSIGNAL), (ssize_t)text.len);
	while ((got = recv(fd, answer + len, sizeof(answer) - 1 - len, 0)) > 0)
		len += (size_t)got;
	answer[len] = '\0';
	close(fd);
	ck_assert_msg(strstr(answer, wanted) != NULL, "%s: not %s: %s", text.data, wanted, answer);
	if (text.data[0] == 'H')
		ck_assert_msg(strcmp(answer + (len < 4 ? 0 : len - 4), "\r\n\r\n") == 0,
		    "%s: a body: %s", text.data, answer);
	free(text.data);
}

#define GET(header) "GET /metrics HTTP/1.1\r\n" header "\r\n\r\n"

static const struct {
	const char *request, *wanted;
} scrapes[] = {
	{ GET("Host: localhost"), "{server=\"served\"} 1\n" },
	{ GET("Host: localhost"), "_total{" },
	{ "HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", " 200 OK" },
	{ "HEADER /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", " 404 " },
	{ "HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n", " 404 " },
	{ "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", " 404 " },
	{ "POST /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", " 404 " },
	{ "GET /metrics/ HTTP/1.1\r\nHost: localhost\r\n\r\n", " 404 " },
	{ "GET /metrics?a=b HTTP/1.1\r\nHost: localhost\r\n\r\n", " 200 " },
	/* Not to a page whose name leads here. */
	{ GET("Host: evil.example"), " 403 " },
	{ GET("Host: evil.example:PORT"), " 403 " },
	{ GET("Host: localhost:1"), " 200 " },
	{ GET("Host: [::1]:1"), " 200 " },
	{ GET("Host: 127.0.0.1:PORT"), " 200 " },
	{ GET("Accept: */*"), " 403 " },
	{ GET("Host: example"), " 403 " },
	{ GET("Host: host.example:80"), " 200 " },
	{ GET("Host: a"), " 200 " },
};

TEST(metrics_are_served)
{
	struct run *run = run_session("--name served", NULL);
	char line[256], request[9000];
	pid_t pid = serve_metrics(line, sizeof(line), "--allow-host", "a,Host.example");

	for (size_t i = 0; i < COUNT(scrapes); i++)
		expect_served(line, scrapes[i].request, scrapes[i].wanted);
	snprintf(request, sizeof(request), GET("Host: localhost\r\nCookie: %08500d"), 0);
	expect_served(line, request, " 200 OK");
	snprintf(request, sizeof(request), GET("Cookie: %08500d\r\nHost: localhost"), 0);
	expect_served(line, request, " 403 ");
	/* The first 8 KiB end behind an address, which is the head of a name. */
	snprintf(request, sizeof(request),
	    "GET /metrics?%08153d HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\n\r\n", 0);
	ck_assert_ptr_eq(strstr(request, ".evil"), request + (8 << 10));
	expect_served(line, request, " 403 ");
	end_metrics(pid);
	pid = serve_metrics(line, sizeof(line), NULL, NULL);
	expect_served(line, GET("Host: host.example"), " 403 ");
	end_metrics(pid);
	run_expect_shell(run,
	    "mkfifo at; for a in localhost 0.0.0.0; do $C metrics -l $a:0 2>at & { read line; echo $line; [ $a = localhost ]"
	    " || read line; kill $!; echo $line; cat; } <at; done; rm at",
	    0, "other machines may connect");
	ck_assert_ptr_nonnull(strstr(shell_output, "serves http://127.0.0.1:"));
	run_expect_shell(run, "$C metrics --allow-host a", 2, "--allow-host goes with --listen");
	run_expect_shell(run, "$C metrics -l 127.0.0.1:70000", 2,
	    "'70000' is no port from 0 to 65535");
	run_expect_shell(run, "$C metrics --listen example.org:80", 2,
	    "the address must be in numbers, or localhost");
	run_end(run);
}

/* As its socket is below it. */
#define STRANGE_HOME "HOME=$E2E_DIRECTORY/$(printf 'h\\351'); export HOME; "

TEST(one_with_a_home_that_is_no_utf_8_is_counted)
{
	struct run *run = run_start(
	    &(struct setup){ .options = "--name strange", .shell = STRANGE_HOME "mkdir -p $HOME" });

	run_handshake(run);
	run_expect_shell(run, STRANGE_HOME "$C metrics", 0,
	    "canceld_instances{server=\"strange\"} 1");
	run_expect_shell(run, STRANGE_HOME "$C ping strange", 0, "");
	run_end(run);
}

/* Those that say nothing are still there, most of them, when the one that does has its answer. */
TEST(a_visitor_waits_for_no_other)
{
	static const char request[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
	char line[256], answer[32] = "";
	int idle[40], busy;
	pid_t pid = serve_metrics(line, sizeof(line), NULL, NULL);

	for (size_t i = 0; i < COUNT(idle); i++)
		idle[i] = visit(line);
	busy = visit(line);
	ck_assert_int_eq(send(busy, request, strlen(request), MSG_NOSIGNAL),
	    (ssize_t)strlen(request));
	ck_assert_int_gt(recv(busy, answer, sizeof(answer) - 1, 0), 0);
	ck_assert_ptr_nonnull(strstr(answer, " 200 OK"));
	ck_assert_int_eq(recv(idle[COUNT(idle) - 1], answer, 1, MSG_DONTWAIT), -1);
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_int_eq(recv(idle[0], answer, 1, 0), 0);
	end_metrics(pid);
}

static const struct {
	const char *script;
	int status;
	const char *said;
} refusals[] = {
	{ "$C ls --frob", 2, "unknown option '--frob'; see cancelctl ls --help" },
	{ "$C ls --jsno", 2, "'--jsno': it could be --json; see cancelctl ls --help" },
	{ "$C ls --json=yes", 2, "'--json=yes': it could be --json; see" },
	{ "$C ls a b", 2, "'b' is one argument too many" },
	{ "$C ls ./none.sock", 1, "No such file" },
	{ "$C cancel x", 2, "which requests? give either an ID that cancelctl ls PID shows" },
	{ "$C ping", 2, "which canceld? give NAME, or --all; see cancelctl ping --help" },
	{ "$C set --help", 0,
	    "set, command line, or the file, first its section for this server)" },
	{ "$DEMO_SERVER --help", 0, "  stubborn        [ms=N]: does not stop" },
	{ "$C restart -a x", 2, "which canceld? give NAME, or --all" },
	{ "$C ping -f x", 2, "unknown option '-f'" },
	{ "$C restart nobody", 1, "canceld" },
	{ "$C cancel --all 7", 2, "which requests?" },
	{ "$C cancel x --older 1", 2, "'1' is no duration: want a number and its unit" },
	{ "$C cancel x --older", 2, "needs a value" },
	{ "$C set -n x", 2, "which canceld, and which deadline?" },
	{ "$C set x 1s y", 2, "'y' is one argument too many" },
	{ "$C log", 2, "whose log? give NAME" },
	{ "$C log x y z", 2, "'z' is one argument too many" },
	{ "$C reload", 2, "which canceld? give NAME, or --all; see cancelctl reload --help" },
	{ "$C set nobody", 1, "canceld" },
	{ "$C log -T x error", 2, "unknown option" },
	{ "$C watch why=LAET", 2, "it could be LATE" },
	{ "$C watch 'age>5'", 2, "'5': is the unit missing? for seconds: 5s" },
	{ "$C watch 'age>x'", 2, "neither a number nor a duration" },
	{ "$C watch nmae=slow", 2, "unknown key 'nmae': it could be name" },
	{ "$C watch level=error", 2, "unknown key 'level'; cancelctl(1) lists" },
	{ "$C watch 'age=>5'", 2, "'>5' is neither a number nor a duration" },
	{ "$C watch to=clinet", 2, "want client or server" },
	{ "$C watch a b", 2, "is no filter" },
	{ "$C watch -l loud", 2, "none of" },
	{ "$C watch nobody", 1, "canceld" },
	{ "$C top </dev/null", 2, "needs a terminal" },
	{ "$C top nobody", 1, "no canceld is called 'nobody'; see cancelctl ls" },
	{ "$C top nobody", 1, "one with --control PATH is named by that PATH" },
	{ "$C top a b", 2, "'b' is one argument too many" },
	{ "$C top -i 1ms", 2, "100ms to 1h" },
	{ "$C stats a b", 2, "'b' is one argument too many" },
	{ "$C metrics x", 2, "'x' is one argument too many" },
	{ "$C reload nobody", 1, "canceld" },
	{ "for c in ls cancel ping restart set watch top stats metrics reload log wrap unwrap doctor call history trace; do $C $c -h && $C $c --help || exit 1; "
	  "done >h; $CANCELD -h >>h; $C -h >>h; cut -c 81- h | grep . && exit 1; cat h; rm h",
	    0, "usage: cancelctl log" },
	/* All but those that are no report have JSON. */
	{ "for c in $($C help | sed -n 's/^  \\([a-z]*\\).*/\\1/p'); do case $c in top|metrics|trace|help|version) ;; "
	  "*) $C $c -j --json -h | grep -e ' -j, --json  ' >said && echo $c || exit 1 ;; esac; done; rm said",
	    0, "unwrap\ndoctor\n" },
};

TESTS(what_is_wrong_is_refused, 0, COUNT(refusals))
{
	run_expect_shell(NULL, refusals[_i].script, refusals[_i].status, refusals[_i].said);
}
