/*
 * cancelctl doctor: the verdicts on servers that keep their promises, and on those that break one
 * each.
 */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "hide.h"
#include "needs.h"
#include "process.h"
#include "client.h"
#include "shell.h"

#define DOCTOR "sh:exec \"$CANCELCTL\" doctor --json --timeout 5s "
#define DEMO " -- \"$DEMO_SERVER\""
#define ORPHAN "setsid sleep 50 </dev/null >/dev/null 2>&1 & "

/*
 * Answers the requests of an MCP session in sh; first: what it does with a line, before the usual.
 */
#define SHELL_SERVER(before, first) \
	" -- sh -c '" before \
	"; answer() { printf \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":%s,%s}\\n\" \"$id\" \"$1\"; };" \
	"while read -r line; do id=${line#*\\\"id\\\":}; id=${id%%,*}; case $line in " first \
	"*initialize\\\",*) answer \"\\\"result\\\":{\\\"protocolVersion\\\":\\\"2025-11-25\\\",\\\"capabilities\\\":{}," \
	"\\\"serverInfo\\\":{\\\"name\\\":\\\"sh\\\",\\\"version\\\":\\\"1\\\"}}\";;" \
	"*\\\"id\\\":*) answer \"\\\"error\\\":{\\\"code\\\":-32601,\\\"message\\\":\\\"no\\\"}\";; esac; done'"

/*
 * Has a tool on each of two pages, of which the second one needs n; next: behind the second page.
 */
#define TOOLS_SERVER(next) \
	SHELL_SERVER(":", \
	    "*initialize\\\",*) answer \"\\\"result\\\":{\\\"protocolVersion\\\":\\\"2025-11-25\\\"," \
	    "\\\"capabilities\\\":{\\\"tools\\\":{}}}\";;" \
	    "*cursor*) answer \"\\\"result\\\":{\\\"tools\\\":[{\\\"name\\\":\\\"b\\\",\\\"inputSchema\\\":" \
	    "{\\\"required\\\":[\\\"n\\\"]}}],\\\"nextCursor\\\":\\\"" next "\\\"}\";;" \
	    "*tools/list*) answer \"\\\"result\\\":{\\\"tools\\\":[{\\\"name\\\":\\\"a\\\"}],\\\"nextCursor\\\":\\\"1\\\"}\";;" \
	    "*\\\"b\\\"*) answer \"\\\"error\\\":{\\\"code\\\":-32602,\\\"message\\\":\\\"n is odd\\\"}\";;")

/* Its tool x answers with this error in a result. */
#define FAILING_SERVER(text) \
	SHELL_SERVER(":", \
	    "*initialize\\\",*) answer \"\\\"result\\\":{\\\"protocolVersion\\\":\\\"2025-11-25\\\"," \
	    "\\\"capabilities\\\":{\\\"tools\\\":{}}}\";;" \
	    "*tools/list*) answer \"\\\"result\\\":{\\\"tools\\\":[{\\\"name\\\":\\\"x\\\"}]}\";;" \
	    "*tools/call*) answer \"\\\"result\\\":{\\\"isError\\\":true,\\\"content\\\":[{\\\"type\\\":" \
	    "\\\"text\\\",\\\"text\\\":\\\"" text "\\\"}]}\";;")

/* Does this before and after it answers a call of its tool x; n has an x for each call. */
#define DYING_SERVER(before, after) \
	SHELL_SERVER(":", \
	    "*initialize\\\",*) answer \"\\\"result\\\":{\\\"protocolVersion\\\":\\\"2025-11-25\\\"," \
	    "\\\"capabilities\\\":{\\\"tools\\\":{}}}\";;" \
	    "*tools/list*) answer \"\\\"result\\\":{\\\"tools\\\":[{\\\"name\\\":\\\"x\\\"}]}\";;" \
	    "*tools/call*) n=x$n; echo boom >&2; " before \
	    "; answer \"\\\"result\\\":{\\\"content\\\":[]}\"; " after ";;")
/* It asks its client for this, and goes on with the next line. */
#define ASKS(method) \
	"printf \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":\\\"r\\\",\\\"method\\\":\\\"" method \
	"\\\"}\\n\"; continue"
/* Its answer to such a call is no JSON, and it lives on. */
#define MALFORMED_ANSWER DYING_SERVER("id=$id,]; answer \"\\\"result\\\":1\"; continue", "")

/* An agent that dies in a turn. */
#define DYING_AGENT(capabilities) \
	SHELL_SERVER(":", \
	    "*initialize\\\",*) answer \"\\\"result\\\":{\\\"protocolVersion\\\":1," \
	    "\\\"agentCapabilities\\\":{" capabilities "}}\";;" \
	    "*session/new*) answer \"\\\"result\\\":{\\\"sessionId\\\":\\\"s\\\"}\";;" \
	    "*session/prompt*) exit 3;;")

/*
 * Speaks LSP, and does not end with its input; first: what it does with a message, before the
 * usual.
 */
#define LANGUAGE_SERVER(first) \
	" -- sh -c 'answer() { b=\"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":$id,\\\"result\\\":$1}\";" \
	"printf \"Content-Length: %d\\r\\n\\r\\n%s\" ${#b} \"$b\"; }; s=1;" \
	"while read -r head; do len=${head#*: }; read -r head; line=$(head -c ${len%?}); id=${line#*\\\"id\\\":};" \
	"id=${id%%,*}; case $line in " first \
	"*\\\"shutdown\\\"*) s=0; answer null;; *\\\"exit\\\"*) exit $s;; *cancelRequest*) ;; *\\\"id\\\":*) answer {};; esac; done; sleep 50'"

static struct run *
examine(const char *command)
{
	return run_start(&(struct setup){ .bare = true, .command = command });
}

/* The report, for the caller to free. */
static json_t *
expect_report(struct run *run)
{
	const char *line = run_line(run, HARNESS_LIMIT);
	json_t *report = line == NULL ? NULL : json_loads(line, 0, NULL);

	if (report == NULL)
		run_fail(run, "no report");
	return report;
}

/* A member of the check's finding; "absent": there is no such check. */
static const char *
finding_of(json_t *report, const char *check, const char *key)
{
	json_t *checks = json_object_get(report, "checks");

	for (size_t i = 0; i < json_array_size(checks); i++)
		if (strcmp(at_text(json_array_get(checks, i), "check"), check) == 0)
			return at_text(json_array_get(checks, i), key);
	return "absent";
}

/* expected: words CHECK=VERDICT, where VERDICT is yes, no, not (tested) or absent. */
static void
expect_verdicts(struct run *run, json_t *report, const char *expected)
{
	char copy[512], *rest = copy, *word;

	snprintf(copy, sizeof(copy), "%s", expected);
	while ((word = strsep(&rest, " ")) != NULL) {
		char *equals = strchr(word, '=');
		const char *verdict, *wanted = equals + 1;

		*equals = '\0';
		if (strcmp(word, "orphans") == 0 && !system_has(SYSTEM_ADOPTS))
			wanted = "not tested";
		else if (strcmp(wanted, "not") == 0)
			wanted = "not tested";
		verdict = finding_of(report, word, "verdict");
		if (strcmp(verdict, wanted) != 0)
			run_fail(run, "%s: %s instead of %s: %s", word, verdict, wanted,
			    finding_of(report, word, "evidence"));
	}
}

enum { BESIDE = 6 }; /* servers that are judged at a time */

#define ROUNDS(servers) ((int)((sizeof(servers) / sizeof((servers)[0]) + BESIDE - 1) / BESIDE))

struct server {
	const char *command, *verdicts;
	int status;
};

/*
 * The calls take long, so that a ping and a cancel reach the server within them on a busy machine
 * too. A short --timeout or --start is for what a server never answers.
 */
static const struct server servers[] = {
	{ DOCTOR "--call sleep --arguments '{\"ms\":2000}'" DEMO,
	    "initialize=yes discover=yes tools=yes call=yes success=yes busy=yes cancel=yes alive=yes "
	    "stdout=yes exit=yes orphans=yes",
	    0 },
	{ DOCTOR "--call progress --arguments '{\"steps\":3,\"everyMs\":700}'" DEMO,
	    "call=yes cancel=yes", 0 },
	{ DOCTOR DEMO,
	    "initialize=yes tools=yes call=not busy=not cancel=not alive=yes "
	    "stdout=yes exit=yes orphans=yes",
	    0 },
	{ DOCTOR "--call echo" DEMO, "call=yes busy=not cancel=not", 0 },
	/* It ignores a cancel. */
	{ DOCTOR "--call stubborn --arguments '{\"ms\":2000}'" DEMO,
	    "call=yes busy=yes cancel=no alive=yes stdout=yes", 1 },
	{ DOCTOR "--call d" TOOLS_SERVER("2"),
	    "tools=yes call=yes success=no cancel=not alive=yes exit=yes", 1 },
	{ DOCTOR "--call noise --arguments '{\"kind\":\"text\"}'" DEMO,
	    "initialize=yes stdout=no exit=yes", 1 },
	{ DOCTOR "--call noise --arguments '{\"kind\":\"glued\"}'" DEMO, "stdout=no", 1 },
	{ DOCTOR "--call twice" DEMO, "call=yes stdout=no", 1 },
	{ DOCTOR "--call crash --arguments '{\"status\":3}'" DEMO, "call=no success=not alive=not",
	    1 },
	/*
	 * The second call, of which nobody has cancelled anything yet, and what comes after an
	 * answer.
	 */
	{ DOCTOR "--call x" DYING_SERVER("case $n in xx) exit 3;; esac; sleep 0.6", ""),
	    "call=no success=yes cancel=not alive=not", 1 },
	{ DOCTOR "--call x" DYING_SERVER(":", "exit 4"), "call=no success=yes cancel=not alive=not",
	    1 },
	/* It answers a ping before it ends, a moment after its answer. */
	{ DOCTOR "--call x" DYING_SERVER(":", "(sleep 0.1; kill $$) &"),
	    "call=no success=yes cancel=not alive=not", 1 },
	/* canceld's answer has another reason; in the second row that of a canceld between. */
	{ DOCTOR "--call x" MALFORMED_ANSWER,
	    "call=no success=not cancel=not alive=yes stdout=no exit=yes", 1 },
	{ DOCTOR
	    "--call x -- \"$CANCELD\" --max-message=64K --no-control --no-history" DYING_SERVER(
		"answer \"\\\"result\\\":{\\\"x\\\":\\\"$(printf %070000d 0)\\\"}\"; continue", ""),
	    "call=no success=not cancel=not alive=yes exit=yes", 1 },
	/* It stops reading for ever. */
	{ DOCTOR "--timeout 2s --call block" DEMO, "call=no busy=no cancel=not alive=no exit=no",
	    1 },
	{ DOCTOR "--call sleep --timeout 3s --arguments '{\"ms\":60000}'" DEMO,
	    "call=no success=not busy=yes cancel=not alive=yes", 1 },
	/* It is slow, but shows that it works. */
	{ DOCTOR "--call progress --timeout 3s --arguments '{\"steps\":90,\"everyMs\":1200}'" DEMO,
	    "call=not cancel=not", 0 },
	{ DOCTOR DEMO " --ignore-eof", "stdout=yes exit=no orphans=not", 1 },
	{ DOCTOR DEMO " --ignore-eof --ignore-term", "exit=no orphans=not", 1 },
	{ DOCTOR "--start 500ms" DEMO " --mute initialize",
	    "initialize=no tools=not alive=not exit=yes", 1 },
	{ DOCTOR "--start 5s" DEMO " --mute server/discover", "initialize=yes discover=no exit=yes",
	    1 },
	{ DOCTOR "--timeout 500ms" DEMO " --mute tools/list", "tools=no exit=yes", 1 },
	/* It works, and knows no ping; a ping that nobody answers is no sign of a hang then. */
	{ DOCTOR "--timeout 2s" DEMO " --mute ping", "initialize=yes tools=yes alive=not exit=yes",
	    0 },
	{ DOCTOR "--timeout 2s --call sleep --arguments '{\"ms\":1000}'" DEMO " --mute ping",
	    "call=yes success=yes busy=not cancel=yes alive=not exit=yes", 0 },
	{ DOCTOR "--timeout 2s" SHELL_SERVER(":",
	      "*\\\"ping\\\"*) ;; *notifications/cancelled*) kill -SEGV $$;;"),
	    "alive=no", 1 },
	{ DOCTOR SHELL_SERVER(":", "*\\\"ping\\\"*) exit 3;;"),
	    "initialize=yes tools=not call=not alive=no", 1 },
	/* It leaves an orphan, in a session of its own. */
	{ DOCTOR "-- sh -c '" ORPHAN "exec \"$DEMO_SERVER\"'", "exit=yes orphans=no stdout=yes",
	    1 },
	{ DOCTOR SHELL_SERVER(":", ""),
	    "initialize=yes discover=yes tools=not alive=yes stdout=yes exit=yes", 0 },
	{ DOCTOR SHELL_SERVER("echo starting up", ""), "initialize=yes stdout=no exit=yes", 1 },
	/* It writes Latin-1. */
	{ DOCTOR SHELL_SERVER(":",
	      "*\\\"ping\\\"*) answer \"\\\"result\\\":{\\\"x\\\":\\\"$(printf \"\\\\351\")\\\"}\";;"),
	    "initialize=yes stdout=no alive=yes exit=yes", 1 },
	/* It answers a notification. */
	{ DOCTOR SHELL_SERVER(":",
	      "*notifications/initialized*) printf \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"error\\\":{\\\"code\\\":-32601,"
	      "\\\"message\\\":\\\"no\\\"}}\\n\";;"),
	    "initialize=yes stdout=no alive=yes exit=yes", 1 },
	{ DOCTOR SHELL_SERVER(":", "*server/discover*) exit 1;;"), "initialize=yes discover=no",
	    1 },
	{ DOCTOR SHELL_SERVER(":", "*notifications/cancelled*) kill -SEGV $$;;"),
	    "alive=no exit=yes", 1 },
	/* Agents: the second one answers a turn only when that is cancelled. */
	{ DOCTOR "-D acp --call session/prompt" SHELL_SERVER(":", ""),
	    "initialize=yes discover=absent tools=absent call=not success=no cancel=not alive=yes exit=yes",
	    1 },
	{ DOCTOR "-D acp --timeout 2s --call session/prompt" SHELL_SERVER(":",
	      "*session/new*) answer \"\\\"result\\\":{\\\"sessionId\\\":\\\"s\\\"}\";;"
	      "*session/prompt*) p=$id;;"
	      "*session/cancel*) id=$p; answer \"\\\"result\\\":{\\\"stopReason\\\":\\\"cancelled\\\"}\";;"),
	    "initialize=yes call=no busy=yes cancel=yes alive=yes exit=yes", 1 },
	{ DOCTOR "-D lsp" LANGUAGE_SERVER(""),
	    "initialize=yes tools=absent alive=yes stdout=yes exit=yes", 0 },
	{ DOCTOR "-D lsp --timeout 1s" LANGUAGE_SERVER("*shutdown*) ;;"), "initialize=yes exit=no",
	    1 },
	{ DOCTOR "-D lsp" LANGUAGE_SERVER("*\\\"exit\\\"*) ;;"), "initialize=yes exit=no", 1 },
	/* It speaks the newest MCP only. */
	{ DOCTOR SHELL_SERVER(":",
	      "*initialize\\\",*) answer \"\\\"error\\\":{\\\"code\\\":-32022,\\\"message\\\":\\\"no\\\"}\";;"
	      "*server/discover*) answer "
	      "\"\\\"result\\\":{\\\"resultType\\\":\\\"complete\\\",\\\"supportedVersions\\\":[\\\"2026-07-28\\\"],"
	      "\\\"capabilities\\\":{},\\\"ttlMs\\\":0,\\\"cacheScope\\\":\\\"private\\\"}\";;"),
	    "initialize=yes discover=yes tools=not alive=yes exit=yes", 0 },
};

static const struct server hostile[] = {
	{ DOCTOR "--start 500ms -- sleep 50", "initialize=no discover=not stdout=not exit=no", 1 },
	{ DOCTOR "--start 500ms -- yes", "initialize=no stdout=no", 1 },
	{ DOCTOR "--start 500ms -- cat /dev/urandom", "initialize=no stdout=no", 1 },
	{ DOCTOR "--start 500ms -- sh -c 'tr \"\\0\" x </dev/zero'", "initialize=no", 1 },
	{ DOCTOR "--start 500ms -- sh -c 'trap \"\" TERM; sleep 50'", "initialize=no exit=no", 1 },
	{ DOCTOR "--start 500ms -- yes '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}'",
	    "initialize=no", 1 },
	{ DOCTOR "--timeout 1s -- yes '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}'",
	    "initialize=yes stdout=no", 1 },
	{ DOCTOR "-- true", "initialize=no exit=not orphans=not", 1 },
	{ DOCTOR "-- sh -c 'kill -SEGV $$'", "initialize=no exit=not", 1 },
	{ DOCTOR "-- cat", "initialize=no exit=yes", 1 },
	{ DOCTOR "-D lsp --start 500ms -- yes", "initialize=no stdout=no tools=absent", 1 },
};

static void
expect_judged(struct run *run, const struct server *server)
{
	json_t *report = expect_report(run);

	expect_verdicts(run, report, server->verdicts);
	ck_assert_int_eq(json_is_true(json_object_get(report, "broken")), server->status == 1);
	json_decref(report);
	run_expect_exit(run, server->status);
	run_expect_end(run);
	run_end(run);
}

/* Where orphans are not found, one would be left. */
static bool
can_be_judged(const struct server *server)
{
	return strstr(server->verdicts, "orphans=no ") == NULL ||
	    needs_or_skips(SYSTEM_ADOPTS, __FILE__, "a_server_that_leaves_an_orphan", 0);
}

/* Some side by side, as most of it is waiting. */
static void
expect_all_judged(const struct server *some, size_t count)
{
	struct run *runs[BESIDE];

	for (size_t i = 0; i < count && i < BESIDE; i++)
		runs[i] = can_be_judged(&some[i]) ? examine(some[i].command) : NULL;
	for (size_t i = 0; i < count && i < BESIDE; i++)
		if (runs[i] != NULL)
			expect_judged(runs[i], &some[i]);
}

SUITE("doctor", .seconds = 46);

TESTS(a_server_is_judged_by_what_it_does, 0, ROUNDS(servers))
{
	expect_all_judged(&servers[_i * BESIDE],
	    sizeof(servers) / sizeof(servers[0]) - (size_t)_i * BESIDE);
}

static const struct server without_proc[] = {
	{ DOCTOR DEMO, "initialize=yes tools=yes alive=yes stdout=yes exit=yes orphans=yes", 0 },
	{ DOCTOR "-- sh -c '" ORPHAN "exec \"$DEMO_SERVER\"'", "exit=yes orphans=no stdout=yes",
	    1 },
};

TESTS(without_proc_it_judges_as_with_it, 0, COUNT(without_proc))
{
	const struct setup setup = { .bare = true,
		.command = without_proc[_i].command,
		.hides = "/proc*" };

	if (can_be_judged(&without_proc[_i]) && can_hide())
		expect_judged(run_start(&setup), &without_proc[_i]);
}

SUITE("doctor-hostile", .seconds = 12);

TESTS(a_hostile_server_is_judged_too, 0, ROUNDS(hostile))
{
	expect_all_judged(&hostile[_i * BESIDE],
	    sizeof(hostile) / sizeof(hostile[0]) - (size_t)_i * BESIDE);
}

SUITE("doctor-reports", .seconds = 33);

TEST(the_report_has_evidence_and_what_helps)
{
	struct run *run = examine(DOCTOR "--call stubborn --arguments '{\"ms\":3000}'" DEMO);
	json_t *report = expect_report(run), *check;
	size_t i;

	ck_assert_str_eq(at_text(report, "dialect"), "mcp");
	ck_assert_str_eq(at_text(report, "server"), "demo-server 1");
	ck_assert_int_eq(at_number(report, "yes") + at_number(report, "no") +
		at_number(report, "not_tested"),
	    (long)json_array_size(json_object_get(report, "checks")));
	/* It answers a ping, so that -k would leave it alone. */
	ck_assert_ptr_null(strstr(finding_of(report, "cancel", "help"), "-k"));
	json_array_foreach (json_object_get(report, "checks"), i, check) {
		ck_assert_str_ne(at_text(check, "evidence"), "");
		ck_assert_str_ne(at_text(check, "demand"), "");
		ck_assert_int_eq(at_exists(check, "help"),
		    strcmp(at_text(check, "verdict"), "no") == 0);
	}
	json_decref(report);
	run_expect_exit(run, 1);
	run_end(run);
}

/* A command line that SIGTERM does not end, whatever its words; the input ends when it is there. */
#define CONTAINER(name) \
	"printf '#!/bin/sh\\ntrap \"\" TERM\\n: >ready\\nexec \"$DEMO_SERVER\" --ignore-eof\\n' >" name \
	"; chmod +x " name \
	"; until [ -e ready ]; do sleep 0.05; done | $CANCELD --term-after=0 --kill-after=0 ./" name \
	" "
#define D "$CANCELCTL doctor "
/* With this instead of canceld, in sh. */
#define OTHER_CANCELD(does) \
	"cp $CANCELCTL cancelctl; cat >canceld <<'END'\n#!/bin/sh\n" does \
	"\nEND\nchmod +x canceld; PATH=$PWD:$PATH ./cancelctl doctor "

/* In a directory of its own. */
static const struct {
	const char *script;
	int status;
	const char *said;
} scripts[] = {
	{ D, 2, "which command?" },
	{ D "--no-such-option -- true", 2, "see cancelctl doctor --help" },
	{ D "--dialect bsp -- true", 2, "--dialect 'bsp': it must be mcp, acp or lsp" },
	{ D "--timeout 5 -- true", 2, "--timeout '5'" },
	{ D "--timeout none -- true", 2, "--timeout 'none'" },
	{ D "--start 0 -- true", 2, "--start '0'" },
	{ D "--call '' -- true", 2, "--call: which" },
	{ D "--call x --arguments '{' -- true", 2, "--arguments: line 1, column 1" },
	{ D "--call x --arguments '[1,' -- true 2>&1 | grep -c quotes", 1, "0\n" },
	{ D "--call x --arguments '{n:1}' -- true", 2,
	    "; a shell takes the quotes, unless all stands in '...'\n" },
	{ D "--call x --arguments '{\"n\":}' -- true", 2, "unexpected token near '}'\n" },
	{ D "--call x --arguments '[]' -- true", 2, "--arguments: must be a JSON object" },
	{ D "--arguments '{\"a\":1}' -- true", 2, "--arguments needs --call" },
	{ D "cursor everything", 125,
	    "start cursor: it is not in PATH: give the absolute path (PATH is /" },
	{ D "-- --parallel 1 true", 2,
	    "'--parallel' is no command; doctor takes none of canceld's options" },
	{ D "-- ./no-such-command", 125, "start ./no-such-command: No such file or directory" },
	{ D "-- /etc/passwd", 125, "Permission denied" },
	{ D "--call stuborn -- $DEMO_SERVER", 2,
	    "the server has no tool 'stuborn': it could be stubborn" },
	{ D "--call c" TOOLS_SERVER(""), 2, "the server has no tool 'c'" },
	{ D "--call x" SHELL_SERVER(":", ""), 2, "the server has no tool 'x'" },
	{ D "--call b" TOOLS_SERVER(""), 2, "the tool b needs the argument 'n'" },
	{ D "--call b --arguments '{\"n\":1}'" TOOLS_SERVER(""), 2,
	    "b refuses the --arguments: n is odd" },
	/*
	 * As the SDKs of MCP for TypeScript and Python refuse them; what they say of a result is
	 * the server's fault.
	 */
	{ D "--call x" FAILING_SERVER("MCP error -32602: Input validation error: b"), 2,
	    "x refuses the --arguments: MCP" },
	{ D "--call x" FAILING_SERVER("Input validation error: b"), 2,
	    "x refuses the --arguments: Input" },
	{ D "--call x" FAILING_SERVER("MCP error -32602: Output validation error: b"), 1,
	    "-32602: Output" },
	{ D "-D acp --call x/y -- $DEMO_SERVER", 2, "the server does not know the method 'x/y'" },
	{ D "--start 1500ms -- sleep 50 2>&1 >text", 1, "cancelctl: checking initialize: 1" },
	/* All that the check may take. */
	{ D "--call sleep --arguments '{\"ms\":3300}' -- $DEMO_SERVER 2>&1 >text | grep -c "
	    "'checking cancel: 1[.0-9]*s, at most [3-9][.0-9]*s more'",
	    0, "1\n" },
	/* Whoever measures was stopped meanwhile. */
	{ D "--call sleep --arguments '{\"ms\":1500}' -- $DEMO_SERVER --record record >text & p=$!; "
	    "until grep -qs tools/call record || ! kill -0 $p; do sleep 0.01; done; kill -STOP $p; sleep 1; kill -CONT $p; "
	    "wait $p; "
	    "awk '/sleep took/ { print ($3 >= 1500 ? \"true\" : $0) }' text",
	    0, "true\n" },
	/* No protocol demands progress: it is told, and not judged. */
	{ D "--call progress --arguments '{\"steps\":3,\"everyMs\":20}' -- $DEMO_SERVER", 0,
	    " ms; reports of progress: 3\n" },
	{ D "-- $DEMO_SERVER", 0,
	    "while it works\nnot tested  honours a cancel\n            no --call was given\nyes" },
	{ D "-- $DEMO_SERVER | grep -c -e --call", 0, "1\n" },
	/* What died, and of what. */
	{ D "--call crash --arguments '{\"status\":3}' -- $DEMO_SERVER", 1,
	    "no          answers the call\n            it died in the call: tools/call cannot be answered: the server has exited with status 3" },
	{ D "--call x" DYING_SERVER("case $n in xx) exit 3;; esac; sleep 0.6", ""), 1,
	    "it died in the second call: tools/call cannot be answered: the server has exited with status 3: boom\n" },
	/* What it does after one answer it does after each. */
	{ D "--call x" DYING_SERVER(":", "exit 4") " | tail -n 1", 0,
	    "canceld --parallel 1 -r1000/1m -- ...\n" },
	{ D "--call x" DYING_SERVER(":", "(sleep 0.1; kill $$) &") " | tail -n 1", 0,
	    "canceld --parallel 1 -r1000/1m -- ...\n" },
	{ D SHELL_SERVER(":",
	      "*initialize\\\",*) answer \"\\\"result\\\":{\\\"protocolVersion\\\":\\\"2025-11-25\\\","
	      "\\\"capabilities\\\":{}}\"; exit 0;;") " | tail -n 1",
	    0, "canceld -r -- ...\n" },
	/* It is not said to have died. */
	{ D SHELL_SERVER(":",
	      "*ping*) answer \"\\\"result\\\":{}\"; exit 0;;") " >text; grep 'it exits' text; tail -n 1 text",
	    0,
	    "            it exits by itself with status 0 when nothing is asked\n"
	    "canceld --parallel 1 -r1000/1m -- ...\n" },
	{ D "--call x" DYING_SERVER(":",
	      "exit 4") " | grep -c 'it died after its answer: .*status 4'",
	    0, "1\n" },
	{ D "--call x" MALFORMED_ANSWER, 1,
	    "no          answers the call\n            canceld: the response was malformed" },
	{ D "--call x" DYING_SERVER(
	      "case $n in xxx) answer \"\\\"error\\\":{\\\"code\\\":1,\\\"message\\\":\\\"busy\\\"}\"; continue;; esac",
	      "") " >text; grep 'one failed' text; tail -n 1 text",
	    0, "            of two calls at once one failed: busy\ncanceld --parallel 1 -- ...\n" },
	{ D "--call x" MALFORMED_ANSWER " | grep -c -e '^canceld -r'", 1, "0\n" },
	/* What the tool says, and what that breaks. */
	{ D "--call x" FAILING_SERVER("no such city"), 1,
	    "no          succeeds in the call\n            no such city\n            MCP, Tools: a result with isError" },
	{ D "--timeout 1s --call sleep --arguments '{\"ms\":60000}' -- $DEMO_SERVER", 1,
	    "no answer and no progress within 1" },
	/* The history is that of real sessions. */
	{ "export XDG_STATE_HOME=$PWD/examined; " D
	  "--call sleep --arguments '{\"ms\":50}' -- $DEMO_SERVER >text; [ -e examined ]",
	    1, "" },
	{ "export XDG_STATE_HOME=$PWD/called; $CANCELCTL call sleep ms=50 -- $DEMO_SERVER >text; [ -e called ]",
	    0, "" },
	/* The last line. */
	{ D "--timeout 1s --call sleep --arguments '{\"ms\":60000}' -- $DEMO_SERVER | sed -n \"\\$s,$DEMO_SERVER,demo,p\"",
	    0, "canceld -t tools/call:sleep=1s -- demo\n" },
	/* It may wait for what it was refused, or not; what it got is no reason to wait. */
	{ D "--timeout 1s --call x" DYING_SERVER(ASKS("roots/list"), "") " | tail -n 1", 0,
	    "canceld --answer 'roots/list={\"roots\":[]}' -t tools/call:x=1s -- ...\n" },
	{ D "--timeout 1s --call x" DYING_SERVER(ASKS("client/registerCapability"),
	      "") " | tail -n 1",
	    0, "canceld -t tools/call:x=1s -- ...\n" },
	{ D "--timeout 1s" SHELL_SERVER(":",
	      "*initialize\\\",*) answer \"\\\"result\\\":{\\\"protocolVersion\\\":\\\"2025-11-25\\\","
	      "\\\"capabilities\\\":{\\\"tools\\\":{}}}\";; *tools/list*) " ASKS(
		  "roots/list") ";;") " | tail -n 1",
	    0, "canceld --answer 'roots/list={\"roots\":[]}' -t tools/list=1s -- ...\n" },
	{ D "-D lsp --timeout 1s --call slow" LANGUAGE_SERVER(
	      "*slow*) b=\"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":\\\"r\\\",\\\"method\\\":"
	      "\\\"workspace/configuration\\\"}\"; printf \"Content-Length: %d\\r\\n\\r\\n%s\" ${#b} \"$b\";;") " | tail -n 1",
	    0, "canceld --answer 'workspace/configuration=[null]' -t slow=1s -- ...\n" },
	{ D "--timeout 1s --call x" SHELL_SERVER(":",
	      "*initialize\\\",*) answer \"\\\"result\\\":{\\\"protocolVersion\\\":\\\"2025-11-25\\\","
	      "\\\"capabilities\\\":{\\\"tools\\\":{}}}\";; *tools/list*) answer \"\\\"result\\\":{\\\"tools\\\":[{\\\"name\\\":\\\"x\\\"}]}\";;"
	      "*tools/call*) t=${line#*progressToken\\\":}; t=${t%%[,\\}]*};"
	      "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do printf \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"method\\\":"
	      "\\\"notifications/progress\\\",\\\"params\\\":{\\\"progressToken\\\":%s,\\\"progress\\\":$i}}\\n\" \"$t\";"
	      "sleep 0.3; done <&- & ;;") " | tail -n 1",
	    0, "canceld -K6s -- ...\n" },
	{ D "--timeout 1s --call stubborn --arguments '{\"ms\":20000}' -- $DEMO_SERVER", 1,
	    "ms after the cancel, as it should be; whether it has stopped only a --timeout longer than the call would "
	    "show\n" },
	/* A bar is for a terminal. */
	{ D "--call progress --arguments '{\"steps\":3,\"everyMs\":500}' -- $DEMO_SERVER 2>&1 | grep -c '\\[#'",
	    1, "0\n" },
	{ D "--timeout 1s --call block -- $DEMO_SERVER | sed -n \"\\$s,$DEMO_SERVER,demo,p\"", 0,
	    "canceld -t tools/call:block=1s -k3s -- demo\n" },
	{ D SHELL_SERVER(":",
	      "*\\\"ping\\\"*) echo oh >&2; exit 3;;") " >text; grep -c 'nothing: .*status 3: oh' text; tail -n 1 text",
	    0, "1\ncanceld -r -- ...\n" },
	{ D SHELL_SERVER(":", "*notifications/cancelled*) exit 3;;") " | tail -n 1", 0,
	    "canceld -r -- ...\n" },
	{ D "--timeout 1s --call block -- $DEMO_SERVER --mute ping >text; grep -c 'it does not answer ping, with' text; tail -n 1 text",
	    0, "2\ncanceld -t tools/call:block=1s -- ...\n" },
	{ D "--call crash -- $DEMO_SERVER secret | tail -n 1", 0, "canceld -r -- ...\n" },
	{ D "-D acp --call session/prompt" DYING_AGENT(
	      "\\\"loadSession\\\":false,\\\"sessionCapabilities\\\":{}") " >text; grep -c -e ' -[rk]' text",
	    1, "0\n" },
	{ D "-D acp" SHELL_SERVER(":",
	      "*_canceld/ping*) kill -SEGV $$;;") " >text; grep -c 'no other server can' text",
	    0, "1\n" },
	{ D "-D acp --call session/prompt" DYING_AGENT("\\\"loadSession\\\":true") " | tail -n 1",
	    0, "canceld -r -- ...\n" },
	/* -K is for one that lives. */
	{ D "-D acp --timeout 1s --call session/prompt" SHELL_SERVER(":",
	      "*session/cancel*) exit 3;; *session/prompt*) ;; *session/new*) answer \"\\\"result\\\":{\\\"sessionId\\\":"
	      "\\\"s\\\"}\";; *initialize\\\",*) answer \"\\\"result\\\":{\\\"protocolVersion\\\":1,"
	      "\\\"agentCapabilities\\\":{\\\"loadSession\\\":true}}\";;") " | tail -n 1",
	    0, "canceld -t session/prompt=1s -r -- ...\n" },
	{ D "-D acp --call session/prompt" DYING_AGENT(
	      "\\\"sessionCapabilities\\\":{\\\"resume\\\":{}}") " | tail -n 1",
	    0, "canceld -r -- ...\n" },
	{ D "-D lsp --timeout 1s --call slow" LANGUAGE_SERVER(
	      "*slow*) ;;") " >text; grep -c KDURATION text; tail -n 1 text",
	    0, "1\ncanceld -t slow=1s -- ...\n" },
	/* A shell would run two commands, or none. */
	{ "ln -s $DEMO_SERVER 's;r'; ln -s $DEMO_SERVER 's r'; for s in 's;r' 's r'; do " D
	  "--timeout 1s --call sleep --arguments '{\"ms\":60000}' -- \"./$s\" 2>text | tail -n 1; done",
	    0, "canceld -t tools/call:sleep=1s -- ...\ncanceld -t tools/call:sleep=1s -- ...\n" },
	{ D "--timeout 1s -- $DEMO_SERVER --mute tools/list | tail -n 1", 0,
	    "canceld -t tools/list=1s -- ...\n" },
	/* It answers, so that no deadline would help. */
	{ D SHELL_SERVER(":",
	      "*initialize\\\",*) answer \"\\\"result\\\":{\\\"protocolVersion\\\":\\\"2025-11-25\\\","
	      "\\\"capabilities\\\":{\\\"tools\\\":{}}}\";; *tools/list*) answer \"\\\"result\\\":{}\";;") " >text; grep 'has no list' text; grep -c '^canceld -' text",
	    1, "            tools/list: the result has no list\n0\n" },
	{ D "--start 2s -- $DEMO_SERVER --mute server/discover | tail -n 1", 0,
	    "canceld --legacy -- ...\n" },
	{ D "-j --start 2s -- $DEMO_SERVER --mute server/discover", 1,
	    "\"options\":\" --legacy\"}\n" },
	/* What outlives docker run is told by canceld, and found. */
	{ "ln -s $DEMO_SERVER docker; " D
	  "-- env A=b ./docker run --ignore-eof --ignore-term image",
	    1,
	    "no          leaves no process behind\n            its container may still run: the end of its command line " },
	{ "ln -s $DEMO_SERVER docker; " D
	  "-- ./docker mcp gateway run --ignore-eof --ignore-term image",
	    1,
	    "not tested  leaves no process behind\n            a signal to the whole process group was needed" },
	{ CONTAINER("podman") "run --init x", 0,
	    "CONTAINER_LEFT reason=\"the end of its command line does not end it, and SIGTERM did not end it either\" "
	    "hint=\"run it with --rm; podman ps shows it\"" },
	/* Only FORCED. */
	{ CONTAINER(
	      "docker") "exec c uv run x 2>&1 | grep -c -e CONTAINER_LEFT -e 'FORCED step=SIGKILL'",
	    0, "1\n" },
	{ CONTAINER(
	      "docker") "mcp gateway run 2>&1 | grep -c -e CONTAINER_LEFT -e 'FORCED step=SIGKILL'",
	    0, "1\n" },
	/* As canceld tells of what is another user's; that it ends everything is not said then. */
	{ OTHER_CANCELD(
	      "for a; do case $a in --log=*) echo \"{\\\"why\\\":\\\"NOT_SWEPT\\\",\\\"name\\\":\\\"x\\\","
	      "\\\"reason\\\":\\\"it is another user's\\\"}\" >>${a#*=};; esac; done; exec $CANCELD \"$@\"") "$DEMO_SERVER",
	    1,
	    "no          leaves no process behind\n"
	    "            1 left that cannot be ended, such as x: it is another user's\n"
	    "            MCP, Shutdown: the process is over\n"
	    "            canceld ends what it may of the processes that the server started, " },
	/* A server of a client's file. */
	{ "echo '{\"mcpServers\":{\"d\":{\"command\":\"'$DEMO_SERVER'\"},\"h\":{\"command\":\"canceld\","
	  "\"args\":[\"x\"]}}}' >f.json; " D "./f.json:d",
	    0, "(mcp, demo-server 1)" },
	{ "echo '{\"mcpServers\":{\"d\":{\"command\":\"'$DEMO_SERVER'\"}}}' >f.json; $CANCELCTL wrap -j ./f.json >wrapped; " D
	  "./f.json:d | head -n 1 | grep -c canceld.*-- ",
	    1, "0\n" },
	{ "echo '{\"mcpServers\":{\"demo\":{\"command\":\"x\"}}}' >f.json; " D "./f.json:deno", 1,
	    "no server 'deno' there: it could be demo; see" },
	{ "echo '{\"lsp\":{\"d\":{\"command\":\"'$DEMO_SERVER'\",\"args\":[\"--lsp\"]}}}' >f.json; " D
	  "./f.json:d",
	    1, "(lsp" },
	{ "echo '{\"context_servers\":{\"lsp\":{\"command\":\"'$DEMO_SERVER'\"}},\"lsp\":{\"lsp\":{\"command\":\"x\"}}}' "
	  ">f.json; " D "./f.json:lsp",
	    0, "(mcp, demo-server 1)" },
	{ "echo '{\"lsp\":{\"a\":{\"command\":\"x\"},\"b\":{\"command\":\"x\"}}}' >f.json; " D
	  "./f.json:lsp",
	    2, "there are several: name its FILE, or GROUP:SERVER" },
	{ D "./f.json:d", 1, "./f.json: No such file or directory" },
	{ "echo '{\"mcpServers\":{\"h\":{\"command\":\"canceld\",\"args\":[\"x\"]}}}' >f.json; " D
	  "f.json:h",
	    1, "f.json:h: canceld stands before its command already, put there by hand" },
	{ D "zed:two --call x", 2,
	    "the options of doctor stand before zed:two; a command with a colon stands behind --" },
	{ D "-- ./a:b", 125, "start ./a*: No such file or directory" },
	{ D "--help", 0, "usage: cancelctl doctor" },
	{ D "-h", 0, "usage: cancelctl doctor" },
	/* Of a server that ends at once only the end is told. */
	{ D "-- sh -c 'echo no config >&2; exit 3'", 1,
	    "sh -c * (mcp)\n\n"
	    "no          initialize cannot be answered: the server has exited with status 3: no config\n\n"
	    "11 checks: 0 kept, 1 broken, 10 not tested\n" },
	{ D "-- sh -c 'printf \"npm error 404 x\\n\\nnpm error A log\\n\" >&2; exit 1'", 1,
	    "no          initialize cannot be answered: the server has exited with status 1: npm error 404 x\n"
	    "            npm error A log\n\n11 checks" },
	/*
	 * As much as canceld quotes in an open session, which one without a dialect is, from a
	 * whole line on.
	 */
	{ D "-- sh -c 'yes 1234567 | head -n 300 >&2; echo end >&2; exit 1' | sed -n '3p;$=' ", 0,
	    "status 1: 1234567\n" },
	{ D "-j -- sh -c 'yes 1234567 | head -n 300 >&2; echo end >&2; exit 1' | grep -o '1234567.n' | wc -l",
	    0, "127\n" },
	{ D "-- cat", 1, "server/discover: the command sends back what it reads\n" },
	{ D "-D acp -- cat 2>&1 | grep -c -e '^asks' -e 'initialize: the command sends back what it reads'",
	    0, "1\n" },
	{ D SHELL_SERVER(":",
	      "*initialize\\\",*) answer \"\\\"result\\\":{\\\"protocolVersion\\\":\\\"2025-11-25\\\","
	      "\\\"capabilities\\\":{\\\"tools\\\":{}}}\";;"
	      "*tools/list*) answer \"\\\"result\\\":{\\\"tools\\\":[{\\\"name\\\":\\\"first\\\"},{\\\"name\\\":"
	      "\\\"$(printf %0300d 0)\\\"}]}\";;"),
	    0, "000...\n" },
	/* No escape of a hostile server or command reaches the terminal. */
	{ D "-- sh -c 'printf \"\\033[2J<evil>&\\n\"; exec $DEMO_SERVER'", 1,
	    "no          keeps stdout clean\n            found 1, first NOISE \\x1b[2J<evil>&\n" },
	{ D "-- sh -c 'printf \"{\\n 1\\n}\\n\"; exec $DEMO_SERVER'", 1,
	    "no          keeps stdout clean\n"
	    "            found 3, first NOISE {, which looks like one message over several lines\n" },
	{ D "--timeout 1s -- sh -c 'printf \"{\\n 1\\n}\\n\"; exec cat >/dev/null'", 1,
	    "the server has closed its standard output: its output looks like one message over several lines: {\n" },
	{ D "-- sh -c 'printf \"\\033[2J<evil>&\\n\"; exec $DEMO_SERVER' >text; grep -c '\033' text",
	    1, "0\n" },
	{ D "-j --call sleep --arguments '{\"ms\":1500}' -- $DEMO_SERVER 2>&1 >/dev/null | grep -c 'cancelled id='",
	    1, "0\n" },
	{ D "-jv --call sleep --arguments '{\"ms\":1500}' -- $DEMO_SERVER", 0,
	    "demo-server: cancelled id=" },
};

/* A language server that registers something twice, and asks for what nobody knows. */
TESTS(what_the_server_asks_its_client_is_told, 0, 2)
{
	static const char server[] =
	    " -- sh -c '"
	    "send() { printf \"Content-Length: %d\\r\\n\\r\\n%s\" ${#1} \"$1\"; };"
	    "send \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":\\\"a\\\",\\\"method\\\":\\\"client/registerCapability\\\"}\";"
	    "send \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":\\\"b\\\",\\\"method\\\":\\\"client/registerCapability\\\"}\";"
	    "send \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":\\\"c\\\",\\\"method\\\":\\\"what/ever\\\"}\";"
	    "send \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":1,\\\"result\\\":{\\\"capabilities\\\":{}}}\";"
	    "exec cat >/dev/null'; true";
	char script[1024];

	snprintf(script, sizeof(script), D "-D lsp --timeout 1s %s%s", _i == 0 ? "" : "--json",
	    server);
	shell_expect("cd $E2E_DIRECTORY", script, 0,
	    _i == 0 ?
		"asks        client/registerCapability, times: 2\n"
		"            if its client does not answer: canceld --answer 'client/registerCapability=null'\n"
		"asks        what/ever, times: 1\n\n" :
		"\"asks\":[{\"method\":\"client/registerCapability\",\"times\":2,"
		"\"option\":\"--answer 'client/registerCapability=null'\"},"
		"{\"method\":\"what/ever\",\"times\":1,\"option\":\"\"}]");
}

/* Three suites, as most of each is waiting: each has every third one. */
enum { SAYS = 3 };

static void
expect_script(int i)
{
	if (i < COUNT(scripts))
		shell_expect("cd $(mktemp -d $E2E_DIRECTORY/doctor-XXXXXX)", scripts[i].script,
		    scripts[i].status, scripts[i].said);
}

SUITE("doctor-says-1", .seconds = 48);

TESTS(the_command_says_what_is_and_has_a_status, 0, COUNT(scripts) / SAYS + 1)
{
	expect_script(_i * SAYS);
}

SUITE("doctor-says-2", .seconds = 33);

TESTS(the_second_of_three_says_what_is, 0, COUNT(scripts) / SAYS + 1)
{
	expect_script(_i * SAYS + 1);
}

SUITE("doctor-says-3", .seconds = 36);

TESTS(the_third_of_three_says_what_is, 0, COUNT(scripts) / SAYS + 1)
{
	expect_script(_i * SAYS + 2);
}

SUITE("doctor-reports", .seconds = 33);

TEST(the_last_lines_count_the_verdicts_and_have_the_options)
{
	shell_expect("cd $E2E_DIRECTORY", D "-- $DEMO_SERVER", 0,
	    system_has(SYSTEM_ADOPTS) ? "\n11 checks: 7 kept, 0 broken, 4 not tested\n" :
					"\n11 checks: 6 kept, 0 broken, 5 not tested\n");
	ck_assert_ptr_null(strstr(shell_output, "canceld -- "));
}

TEST(the_server_gets_no_descriptor_of_ours)
{
	NEEDS(SYSTEM_OPENS_ANEW);
	shell_expect("cd $(mktemp -d $E2E_DIRECTORY/doctor-XXXXXX)",
	    "ls /proc/self/fd >without; " D
	    "-v -- sh -c 'exec ls /proc/self/fd >&2' 2>with; cmp without with",
	    0, "0 kept, 1 broken");
}

/*
 * Though it has, on some systems, what canceld writes its log to. It is told which option spares
 * it.
 */
TEST(an_orphan_does_not_hold_up_the_report)
{
	bool adopts = system_has(SYSTEM_ADOPTS);

	shell_expect("cd $(mktemp -d $E2E_DIRECTORY/doctor-XXXXXX)",
	    "timeout 10 " D
	    "-- sh -c 'rm -f up; setsid sh -c \": >up; exec sleep 30\" </dev/null >/dev/null 2>&1 &"
	    "until [ -e up ]; do sleep 0.05; done; exec $DEMO_SERVER'",
	    adopts ? 1 : 0, adopts ? " (--sweep group spares it)\n" : "leaves no process behind");
}

/* One line of it tells the seconds; the report is as narrow as it. */
TEST(a_terminal_is_kept)
{
	shell_expect_terminal(60,
	    "$CANCELCTL doctor --call sleep --arguments '{\"ms\":2500}' -- $DEMO_SERVER",
	    "  \rcancelctl: checking call: 2");
	ck_assert_ptr_nonnull(strstr(shell_output, "s, at most "));
	ck_assert_ptr_nonnull(strstr(shell_output, "block,\r\n            noise, "));
}

/* Wherever stdout goes. */
TEST(the_line_of_a_wait_is_as_wide_as_the_terminal)
{
#define REPORTS \
	"$CANCELCTL doctor --call progress --arguments '{\"steps\":2,\"everyMs\":300}' -- $DEMO_SERVER | cat"
	shell_expect_terminal(100, REPORTS, "s more [##########..........] 1/2");
	ck_assert_ptr_null(strstr(shell_output, "\xe2\x80\xa6"));
	shell_expect_terminal(40, REPORTS, "\xe2\x80\xa6\r");
	ck_assert_ptr_null(strstr(shell_output, "] 1/2"));
}

/* run_end fails if a process is left. */
TESTS(a_signal_ends_it_and_the_server, 0, 3)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGKILL };
	struct run *run = examine(
	    "sh:\"$CANCELCTL\" doctor --json -v -- sh -c 'echo runs >&2; sleep 50'; exit $?");

	run_expect_logged(run, "runs");
	kill(process_child(run->pid, "--json"), signals[_i]);
	run_expect_exit(run, 128 + signals[_i]);
	run_end(run);
}

/* Three suites, as much of each is waiting. */
