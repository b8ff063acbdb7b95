#include "core/compose.h"
#include "doctor.h"
#include "ctl/show.h"
#include "ctl/trace.h"
#include "shell/system.h"
#include "shell/words.h"

enum {
	BUSY_AFTER = 100,  /* ms of work before the server counts as busy */
	LEAST_CALL = 300,  /* ms: in a shorter call a cancel proves nothing */
	STILL_WORKS = 500, /* ms after which progress shows that the work goes on */
	BEYOND = 500,      /* ms to wait beyond the time in which a late answer is expected */
	TOOLS_SHOWN = 200, /* bytes of names */
	EXITS_AFTER = 300, /* ms behind an answer in which the server may exit by itself */
	END = 10000,       /* ms that canceld gets to end */
};

struct run {
	const struct examination *what;
	struct verdicts *report;
	struct visit visit;
	const struct asked *ping; /* the first one, with nothing else open */
	/* ms that the call takes; MSEC_NEVER: longer than the timeout, or not known */
	long long called;
	bool died;    /* the server, in a call or after it */
	bool exits;   /* ... and it most likely does so after each answer, or when it is idle */
	bool alone;   /* one of two calls at once failed */
	bool goes_on; /* the cancelled call: the option -K makes up for that */
	bool mute;    /* it does not answer tools/list */
};

#define UNTESTED(run, check, ...) \
	verdicts_tell((run)->report, check, VERDICT_NOT_TESTED, MSEC_NEVER, __VA_ARGS__)
#define YES(run, check, time, ...) \
	verdicts_tell((run)->report, check, VERDICT_YES, time, __VA_ARGS__)
#define NO(run, check, ...) verdicts_tell((run)->report, check, VERDICT_NO, MSEC_NEVER, __VA_ARGS__)

/* The caller made a mistake: ends the visit, and there is no report. */
#define MISTAKE(run, ...) \
	(visit_begin(&(run)->visit, "", 0), (run)->report->status = ctl_usage(__VA_ARGS__))

/* Sets this check and those that follow, up to CHECK_CANCEL, to "not tested". */
static void
tell_untested(struct run *run, enum check first, const char *why)
{
	for (int check = (int)first; check <= CHECK_CANCEL; check++)
		UNTESTED(run, (enum check)check, "%s", why);
}

/* Why the answer is of no use; `otherwise` is the reason if it is no error. */
static const char *
error_of(const struct asked *asked, const char *otherwise)
{
	return asked->answer == NULL ? "no answer" :
	    asked->error == NULL     ? otherwise :
				       asked->error;
}

/* Whether canceld can continue the session with another server. */
static bool
can_continue(const struct run *run, const json_t *result)
{
	const json_t *agent = json_object_get(result, "agentCapabilities");
	const json_t *sessions = json_object_get(agent, "sessionCapabilities");

	return run->what->kind == DIALOGUE_MCP ||
	    json_is_true(json_object_get(agent, "loadSession")) ||
	    json_is_object(json_object_get(sessions, "resume"));
}

static void
tell_opening(struct run *run, const struct asked *asked)
{
	const json_t *info = json_object_get(asked->result, run->visit.dialogue->info);
	const char *name = show_chars(info, "name"), *version = show_chars(info, "version");
	long long time = visit_took(asked);

	run->report->continues = can_continue(run, asked->result);
	if (asked->result != NULL) {
		print_into(run->report->server, "%s%s%s", name,
		    name[0] != '\0' && version[0] != '\0' ? " " : "", version);
		YES(run, CHECK_INITIALIZE, time, "%s was answered after %lld ms", asked->method,
		    time);
	} else if (asked->served) {
		NO(run, CHECK_INITIALIZE, "%s: %s", asked->method,
		    error_of(asked, "the result is no object"));
	} else if (asked->answer != NULL) {
		NO(run, CHECK_INITIALIZE, "%s", asked->error + strlen("canceld: "));
		run->report->ended = true;
	} else {
		NO(run, CHECK_INITIALIZE, "%s was not answered within %lld ms", asked->method,
		    time);
	}
}

/* The tool that is called is in the list, and its schema has what it needs. */
static void
check_call_line(struct run *run, const json_t *tools)
{
	const json_t *tool;

	visit_begin(&run->visit, "", 0);
	tool = tools_find(tools, run->what->call, false);
	if (tool == NULL || !tools_suffice(tool, run->what->arguments))
		run->report->status = CTL_USAGE;
}

static void
check_tools(struct run *run, const struct asked *opening)
{
	const json_t *declared =
			 json_object_get(json_object_get(opening->result, "capabilities"), "tools"),
		     *tool;
	json_t *tools = json_array();
	const struct asked *asked;
	char shown[TOOLS_SHOWN] = "";
	bool more, cut = false;
	size_t i, len;

	asked = declared != NULL ?
	    tools_ask(&run->visit, "cancelctl: checking tools", run->what->timeout, tools) :
	    opening;
	more = show_chars(asked->result, "nextCursor")[0] != '\0';
	json_array_foreach (tools, i, tool) {
		len = strlen(shown);
		cut |= (size_t)snprintf(shown + len, sizeof(shown) - len, "%s%s", i > 0 ? ", " : "",
			   show_chars(tool, "name")) >= sizeof(shown) - len;
	}
	run->mute = declared != NULL && asked->answer == NULL;
	if (declared == NULL)
		UNTESTED(run, CHECK_TOOLS, "it declares none");
	else if (run->mute)
		NO(run, CHECK_TOOLS, "tools/list was not answered within %lld ms",
		    visit_took(asked));
	else if (!json_is_array(json_object_get(asked->result, "tools")))
		NO(run, CHECK_TOOLS, "tools/list: %s", error_of(asked, "the result has no list"));
	else
		YES(run, CHECK_TOOLS, MSEC_NEVER, "%s%s", shown,
		    cut      ? "..." :
			more ? ", and more" :
			       "");
	if (run->what->call != NULL && run->report->findings[CHECK_TOOLS].verdict != VERDICT_NO &&
	    !more)
		check_call_line(run, tools);
}

/* Opens the ACP session that a call needs. */
static bool
open_agent_session(struct run *run)
{
	struct visit *visit = &run->visit;
	char directory[4096];
	const char *id;
	struct asked *asked;

	if (run->what->kind != DIALOGUE_ACP || !text_begins(run->what->call, "session/"))
		return true;
	asked = visit_ask(visit, "session/new",
	    json_pack("{s:s, s:[]}", "cwd",
		getcwd(directory, sizeof(directory)) == NULL ? "/" : directory, "mcpServers"));
	visit_begin(visit, "cancelctl: opening a session", run->what->start);
	visit_wait(visit, asked, VISIT_FOREVER);
	id = show_chars(asked->result, "sessionId");
	if (id[0] != '\0' && strlen(id) < sizeof(visit->session)) {
		memcpy(visit->session, id, strlen(id) + 1);
		return true;
	}
	NO(run, asked->served ? CHECK_SUCCESS : CHECK_CALL, "session/new: %s",
	    error_of(asked, "no usable id"));
	tell_untested(run, CHECK_CALL, "nothing can be called");
	return false;
}

/*
 * Whether the server died before it answered, which is the fault of the call, or exited by itself
 * when it had answered. canceld's answer has its status and last words; if the session was over
 * before canceld was asked, there is none.
 */
static bool
has_died(struct run *run, enum check check, const struct asked *asked, const char *when)
{
	const char *how = asked->died ? asked->error + strlen("canceld: ") : run->visit.end;

	run->died |= how[0] != '\0';
	/* One that exits after the opening would do so after each replay: nothing helps. */
	run->exits = asked->served && text_is(how, "status 0");
	if (run->exits)
		NO(run, check, "it exits by itself with status 0 when nothing is asked");
	else if (run->died)
		NO(run, check, "it died %s: %s", when, how);
	return run->died;
}

/* Asks for a sign of life, and waits whether the server exits by itself after the last answer. */
static const struct asked *
ask_whether_alive(struct run *run)
{
	struct visit *visit = &run->visit;
	const struct asked *ping = visit_ask(visit, visit->dialogue->ping, json_object());

	visit_begin(visit, "cancelctl: checking alive", run->what->timeout + EXITS_AFTER);
	visit_wait(visit, ping, run->what->timeout);
	visit_rest(visit, EXITS_AFTER);
	return ping;
}

/* A server that answers no such request, not even while it is idle, is not blamed for this one. */
static void
tell_unanswered(struct run *run, enum check check, const char *when, const struct asked *ping)
{
	if (run->ping->answer == NULL)
		UNTESTED(run, check, "it does not answer %s, with nothing else to do either",
		    ping->method);
	else
		NO(run, check, "%s it did not answer %s within %lld ms", when, ping->method,
		    visit_took(ping));
}

static void
tell_busy(struct run *run, const struct asked *call, const struct asked *ping)
{
	long long after = visit_took(ping), work = call->answered - ping->sent;

	if (!ping->served)
		tell_unanswered(run, CHECK_BUSY, "in the call", ping);
	else if (call->answer == NULL || ping->order < call->order)
		YES(run, CHECK_BUSY, after, "%s was answered after %lld ms, before the call",
		    ping->method, after);
	else if (call->answered - call->sent < LEAST_CALL || work < BUSY_AFTER)
		UNTESTED(run, CHECK_BUSY, "the call was over %lld ms after %s was sent", work,
		    ping->method);
	else
		NO(run, CHECK_BUSY, "%s was answered after %lld ms, behind the call", ping->method,
		    after);
}

static void
tell_call(struct run *run, const struct asked *call)
{
	const char *error = call->error;
	long long time = visit_took(call);

	if (call->unfit)
		MISTAKE(run, "%.200s refuses the --arguments: %.200s", run->what->call, error);
	else if (call->unknown && run->visit.dialogue->call == NULL)
		MISTAKE(run, "the server does not know the method '%.200s'", run->what->call);
	if (call->answer == NULL && call->progress == 0)
		NO(run, CHECK_CALL,
		    "no answer and no progress within %lld ms: it hangs, or needs a longer --timeout",
		    time);
	else if (call->answer == NULL)
		UNTESTED(run, CHECK_CALL,
		    "it takes longer than %lld ms (see --timeout); reports of progress: %d", time,
		    call->progress);
	else if (call->served)
		YES(run, CHECK_CALL, time, "%s took %lld ms; reports of progress: %d",
		    run->what->call, time, call->progress);
	else if (!has_died(run, CHECK_CALL, call, "in the call"))
		NO(run, CHECK_CALL, "%s", error);
	if (!call->served)
		UNTESTED(run, CHECK_SUCCESS, "no answer");
	else if (error != NULL)
		NO(run, CHECK_SUCCESS, "%s", error);
	else
		YES(run, CHECK_SUCCESS, MSEC_NEVER, "the answer is no error");
	run->called = call->answer == NULL ? MSEC_NEVER : call->answered - call->sent;
}

/*
 * Makes the call, and waits for its whole time. Returns the request, which has no answer if that
 * took too long.
 */
static struct asked *
check_call(struct run *run)
{
	struct visit *visit = &run->visit;
	struct asked *call = visit_call(visit, run->what->call, run->what->arguments), *ping;
	msec_t limit = run->what->timeout;

	visit_begin(visit, "cancelctl: checking call", limit + BUSY_AFTER);
	if (visit_wait(visit, call, BUSY_AFTER)) {
		UNTESTED(run, CHECK_BUSY, "the call takes less than %d ms", BUSY_AFTER);
	} else {
		ping = visit_ask(visit, visit->dialogue->ping, json_object());
		visit_wait(visit, call, limit - BUSY_AFTER);
		visit_wait(visit, ping, VISIT_FOREVER);
		tell_busy(run, call, ping);
	}
	tell_call(run, call);
	if (call->served)
		run->exits = has_died(run, CHECK_CALL, ask_whether_alive(run), "after its answer");
	return call;
}

/*
 * Judges the cancel, once an answer has come or would have. before: the time from the call to the
 * cancel.
 */
static void
tell_cancel(struct run *run, const struct asked *call, msec_t cancelled, msec_t before)
{
	bool owed = run->visit.dialogue->owed, unknown = run->called == MSEC_NEVER,
	     answered = call->served;
	long long taken = call->answered - call->sent, progress = call->progressed - cancelled;
	long long after = visit_took(call) - before;

	run->goes_on = owed ? !answered : call->progress > 0 && progress > STILL_WORKS;
	if (run->goes_on && !owed)
		NO(run, CHECK_CANCEL, "it still reported progress %lld ms after the cancel",
		    progress);
	else if (run->goes_on)
		NO(run, CHECK_CANCEL, "no answer within %lld ms after the cancel", after);
	else if (!answered && unknown)
		UNTESTED(run, CHECK_CANCEL,
		    "no answer within %lld ms after the cancel, as it should be; whether it has stopped only a --timeout "
		    "longer than the call would show",
		    after);
	else if (!answered)
		YES(run, CHECK_CANCEL, MSEC_NEVER, "no answer within %lld ms after the cancel",
		    after);
	else if (owed && call->cancelled)
		YES(run, CHECK_CANCEL, after, "it was answered as cancelled after %lld ms", after);
	else if (unknown ? call->answered - cancelled > STILL_WORKS : taken * 10 > run->called * 7)
		NO(run, CHECK_CANCEL,
		    "it answered %lld ms after the cancel, %lld ms after the call", after,
		    after + before);
	else
		YES(run, CHECK_CANCEL, after, "it stopped %lld ms after the cancel", after);
}

static void
check_alive(struct run *run, const char *after)
{
	const struct asked *ping = ask_whether_alive(run);
	long long time = visit_took(ping);

	if (has_died(run, CHECK_ALIVE, ping, after))
		return;
	if (ping->served)
		YES(run, CHECK_ALIVE, time, "%s it answered %s in %lld ms", after, ping->method,
		    time);
	else
		tell_unanswered(run, CHECK_ALIVE, after, ping);
}

/*
 * Cancels a call, and watches what follows. call: the first call; if it has been answered, a second
 * one is made and cancelled.
 */
static void
check_cancel(struct run *run, struct asked *call)
{
	struct visit *visit = &run->visit;
	bool again = call->answer != NULL;
	msec_t early = again ? run->called / 3 : 0, limit = run->what->timeout, cancelled, before;
	bool fails = run->died || call->error != NULL;

	if (fails || run->called < LEAST_CALL) {
		UNTESTED(run, CHECK_CANCEL, "%s",
		    fails ? "the call fails" : "the call is too short: choose a slower one");
		return;
	}
	if (again && !visit->dialogue->owed)
		limit = run->called * 3 / 2 - early;
	visit_begin(visit, "cancelctl: checking cancel", early + limit + BEYOND);
	if (again) {
		call = visit_call(visit, run->what->call, run->what->arguments);
		if (visit_wait(visit, call, early)) {
			if (!has_died(run, CHECK_CALL, call, "in the second call"))
				UNTESTED(run, CHECK_CANCEL,
				    "the call does not always take as long");
			return;
		}
	}
	cancelled = visit_now(visit);
	before = visit_took(call);
	visit_cancel(visit, call);
	visit_wait(visit, call, VISIT_FOREVER);
	tell_cancel(run, call, cancelled, before);
	check_alive(run, "after the cancel");
}

/* Some servers of MCP fail when they have several calls at once. */
static void
check_two_calls(struct run *run)
{
	struct visit *visit = &run->visit;
	const struct finding *findings = run->report->findings;
	const struct asked *calls[2];

	if (visit->dialogue->call == NULL || run->died ||
	    findings[CHECK_SUCCESS].verdict != VERDICT_YES ||
	    findings[CHECK_ALIVE].verdict == VERDICT_NO ||
	    findings[CHECK_CANCEL].verdict == VERDICT_NO)
		return;
	visit_begin(visit, "cancelctl: checking two calls at once",
	    3 * run->called + run->what->timeout);
	for (int i = 0; i < 2; i++)
		calls[i] = visit_call(visit, run->what->call, run->what->arguments);
	for (int i = 0; i < 2; i++) {
		if (visit_wait(visit, calls[i], VISIT_FOREVER) && calls[i]->error == NULL)
			continue;
		run->alone = true;
		NO(run, CHECK_SUCCESS, "of two calls at once one failed: %s",
		    error_of(calls[i], ""));
		break;
	}
}

static void
examine(struct run *run, const struct asked *opening)
{
	struct visit *visit = &run->visit;

	run->ping = ask_whether_alive(run);
	if (has_died(run, CHECK_ALIVE, run->ping, "of a request that changes nothing"))
		return;
	if (run->what->kind == DIALOGUE_MCP)
		check_tools(run, opening);
	if (run->report->status != CTL_YES)
		return;
	if (run->what->call == NULL)
		tell_untested(run, CHECK_CALL, "no --call was given");
	else if (open_agent_session(run)) {
		check_cancel(run, check_call(run));
		check_two_calls(run);
	}
	if (run->report->findings[CHECK_ALIVE].verdict == VERDICT_NOT_TESTED && !run->died &&
	    visit->end[0] == '\0') {
		/*
		 * No call has shown what a cancel does: sends a request that changes nothing, and
		 * its cancel, in one write.
		 */
		visit_cancel(visit, visit_ask(visit, visit->dialogue->ping, json_object()));
		check_alive(run, "after the cancel of a harmless request");
	}
}

static void
tell_exit(struct run *run)
{
	const struct visit *visit = &run->visit;
	const json_t *decisions = visit->decisions,
		     *closed = json_object_get(decisions, "ENDING stdin closed"),
		     *killed = json_object_get(decisions, "FORCED SIGKILL"),
		     *container = json_object_get(decisions, "CONTAINER_LEFT");
	bool dismissed = visit->dismissed != MSEC_NEVER;
	long long time = visit->ended - (dismissed ? visit->dismissed : trace_time(closed));

	if (killed != NULL || show_has(decisions, "FORCED SIGTERM")) {
		NO(run, CHECK_EXIT, "%s was needed, %d ms after the end of its stdin",
		    killed ? "SIGKILL" : "SIGTERM", killed ? 3000 : 2000);
		UNTESTED(run, CHECK_ORPHANS, "a signal to the whole process group was needed");
		if (container != NULL)
			NO(run, CHECK_ORPHANS, "its container may still run: %s: %s",
			    show_chars(container, "reason"), show_chars(container, "hint"));
		return;
	}
	if (visit->end[0] == '\0')
		return;
	if ((closed == NULL && !dismissed) || time < 0)
		UNTESTED(run, CHECK_EXIT, "it ended before, with %s", visit->end);
	else if (text_begins(visit->end, "signal"))
		NO(run, CHECK_EXIT, "%s ended it at the end of the session", visit->end);
	else
		YES(run, CHECK_EXIT, time, "after %lld ms, with %s", time, visit->end);
	if (system_has(SYSTEM_ADOPTS))
		YES(run, CHECK_ORPHANS, MSEC_NEVER, "none was left");
	else
		UNTESTED(run, CHECK_ORPHANS, "this system does not show them");
}

static void
tell_output(struct run *run)
{
	static const char *const dirt[] = { "NOISE", "RECOVERED", "BOM_STRIPPED", "TEXT_REPAIRED",
		"MALFORMED", "OVERSIZED", "TOO_DEEP", "REPEATED_ID", "REPEATED_METHOD", "TRUNCATED",
		"STRAY" };
	const json_t *decisions = run->visit.decisions;
	const json_t *swept = json_object_get(decisions, "SWEPT SIGTERM"), *first = NULL,
		     *left = json_object_get(decisions, "NOT_SWEPT");
	const char *more = show_has(decisions, "LINES_LOST") ? ", and more" : "", *what, *looks;
	long long times = 0;

	for (size_t i = 0; i < COUNT_OF(dirt); i++) {
		const json_t *decision = json_object_get(decisions, dirt[i]);

		first = first == NULL ? decision : first;
		times += show_number(decision, "times");
	}
	if (swept == NULL)
		swept = json_object_get(decisions, "SWEPT SIGKILL");
	if (swept != NULL)
		NO(run, CHECK_ORPHANS, "%lld left and ended%s, such as %s%s",
		    show_number(swept, "times"), more, show_chars(swept, "name"),
		    text_begins(show_chars(swept, "hint"), "--sweep") ?
			" (--sweep group spares it)" :
			"");
	if (left != NULL)
		NO(run, CHECK_ORPHANS, "%lld left that cannot be ended, such as %s: %s",
		    show_number(left, "times"), show_chars(left, "name"),
		    show_chars(left, "reason"));
	what = show_chars(first, "text");
	looks = show_chars(first, "hint");
	if (first != NULL)
		NO(run, CHECK_STDOUT, "found %lld%s, first %s %.80s%s%s", times, more,
		    show_chars(first, "why"), what[0] != '\0' ? what : show_chars(first, "reason"),
		    looks[0] != '\0' ? ", which looks like " : "", looks);
	else if (more[0] == '\0' && run->report->findings[CHECK_INITIALIZE].verdict == VERDICT_YES)
		YES(run, CHECK_STDOUT, MSEC_NEVER, "only messages");
}

/*
 * Ends a visit, and looks at how it ended. false: the checkup cannot go on, because canceld has not
 * started the server.
 */
static bool
leave(struct run *run)
{
	const json_t *decisions = run->visit.decisions, *failed;
	bool started, opened = run->visit.asked[0].result != NULL;

	visit_begin(&run->visit, "cancelctl: checking exit",
	    (run->visit.dialogue->farewell != NULL ? run->what->timeout : 0) + END);
	if (opened && !visit_dismiss(&run->visit, run->what->timeout))
		NO(run, CHECK_EXIT, "%s was not answered within %lld ms",
		    run->visit.dialogue->farewell, (long long)run->what->timeout);
	visit_close(&run->visit);
	/*
	 * STARTED may be missing because a flood of the server's messages left no room in the log.
	 */
	started = opened || show_has(decisions, "STARTED") || show_has(decisions, "LINES_LOST");
	failed = json_object_get(decisions, "FAILED");
	if (!started)
		run->report->status = ctl_failed("%s%s%s",
		    failed == NULL ? "canceld ended before it started the server" :
				     show_chars(failed, "doing"),
		    failed == NULL ? "" : ": ", show_chars(failed, "reason"));
	if (!run->report->ended) {
		tell_exit(run);
		tell_output(run);
	}
	visit_free(&run->visit);
	return started;
}

/* Starts the server, and asks for a session. NULL: canceld cannot be started. */
static const struct asked *
enter(struct run *run, enum dialogue_kind kind, const char *check)
{
	if (visit_start(&run->visit, run->what, &dialogues[kind]) == 0) {
		run->visit.asks = run->report->asks;
		return visit_open(&run->visit, check, run->what->start);
	}
	run->report->status = ctl_failed("cannot start canceld: %s", strerror(errno));
	return NULL;
}

/* The handshake, and all that one run of the server can show. */
static bool
visit_for_most(struct run *run)
{
	const struct asked *asked = enter(run, run->what->kind, "cancelctl: checking initialize");

	/* A server of the newest MCP only answers initialize with an error. */
	if (asked != NULL && run->what->kind == DIALOGUE_MCP && asked->served &&
	    asked->result == NULL)
		asked = leave(run) ?
		    enter(run, DIALOGUE_MCP_NEWEST, "cancelctl: checking initialize") :
		    NULL;
	if (asked == NULL)
		return false;
	tell_opening(run, asked);
	if (asked->result != NULL)
		examine(run, asked);
	return leave(run);
}

/* Examines how a server that speaks initialize answers a newer client. */
static void
visit_for_discover(struct run *run)
{
	const struct asked *asked = enter(run, DIALOGUE_MCP_NEWEST, "cancelctl: checking discover");
	long long time;

	if (asked == NULL)
		return;
	time = visit_took(asked);
	if (asked->served)
		YES(run, CHECK_DISCOVER, time, "%s after %lld ms",
		    asked->error == NULL ? "answered" : "refused", time);
	else if (run->visit.end[0] != '\0')
		NO(run, CHECK_DISCOVER, "it exits: %s", run->visit.end);
	else
		NO(run, CHECK_DISCOVER, "no answer within %lld ms", time);
	leave(run);
}

/*
 * Appends a deadline for METHOD:NAME; for METHOD alone if a rule or a shell would not take the name
 * literally.
 */
static void
append_deadline(const struct run *run, int64_t seconds, struct buf *options)
{
	const char *method = run->visit.dialogue->call, *name = run->what->call;
	static const char plain[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./$";

	compose_text(options, " -t %s", method != NULL ? method : name);
	if (method != NULL && name[strspn(name, plain)] == '\0')
		compose_text(options, ":%s", name);
	compose_text(options, "=%ds", seconds);
}

/* The options that answer what the server was refused: it may hang for that alone. */
static void
append_answers(json_t *asks, struct buf *options)
{
	const char *method, *option;
	json_t *times;

	json_object_foreach (asks, method, times) {
		option = verdicts_answer(method, true);
		if (*option != '\0')
			compose_text(options, " %s", option);
	}
}

/* The options of canceld that make up for what was found. */
static void
advise(struct run *run)
{
	const struct finding *findings = run->report->findings;
	struct buf *options = &run->report->options;
	int64_t seconds = (run->what->timeout + 999) / 1000;
	bool stuck = findings[CHECK_BUSY].verdict == VERDICT_NO ||
	    findings[CHECK_ALIVE].verdict == VERDICT_NO;
	bool hangs = findings[CHECK_CALL].verdict == VERDICT_NO && run->called == MSEC_NEVER;

	if (stuck || hangs || run->mute)
		append_answers(run->report->asks, options);
	if (findings[CHECK_DISCOVER].verdict == VERDICT_NO)
		compose_text(options, " --legacy");
	if (run->mute)
		compose_text(options, " -t tools/list=%ds", seconds);
	if (hangs)
		append_deadline(run, seconds, options);
	if (run->alone)
		compose_text(options, " --parallel 1");
	if (!run->report->continues)
		return;
	if (run->died)
		compose_text(options, run->exits ? " --parallel 1 -r1000/1m" : " -r");
	/* The time of -k must be longer than any call. */
	else if (stuck)
		compose_text(options, " -k%ds", 3 * seconds);
	/* canceld does not replace a server before the grace is over. */
	if (run->goes_on && !run->died)
		compose_text(options, " -K%ds", seconds + TIME_GRACE / 1000);
}

void
checkup_run(const struct examination *what, struct verdicts *report)
{
	struct run run = { .what = what, .report = report, .called = MSEC_NEVER };

	if (!visit_for_most(&run) || report->status != CTL_YES ||
	    report->findings[CHECK_INITIALIZE].verdict != VERDICT_YES)
		return;
	if (run.visit.dialogue == &dialogues[DIALOGUE_MCP])
		visit_for_discover(&run);
	else if (what->kind == DIALOGUE_MCP)
		YES(&run, CHECK_DISCOVER, MSEC_NEVER, "it speaks MCP 2026-07-28 only");
	advise(&run);
}
