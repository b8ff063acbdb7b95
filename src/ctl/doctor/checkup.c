#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl/doctor.h"
#include "shell/child.h"

enum {
	BUSY_AFTER = 100,   /* ms of work before the server counts as busy */
	LEAST_CALL = 300,   /* ms: in a shorter call a cancel proves nothing */
	LEAST_CANCEL = 100, /* ms of work before the cancel */
	STILL_WORKS = 500,  /* ms after which progress shows that the work goes on */
	BEYOND = 500,       /* ms to wait beyond the time in which a late answer is expected */
	TOOLS_SHOWN = 200,  /* bytes of names */
};

struct run {
	const struct checkup *checkup;
	struct verdicts *report;
	struct visit visit;
	char *failure;
	struct dialogue dialogue;
	bool opened;   /* the first session */
	msec_t called; /* how long it takes; MSEC_NEVER: longer than the timeout, or not known */
};

#define TELL(run, check, verdict, time, ...) verdicts_tell((run)->report, check, verdict, time, __VA_ARGS__)
#define UNTESTED(run, check, ...) TELL(run, check, VERDICT_NOT_TESTED, MSEC_NEVER, __VA_ARGS__)
#define YES(run, check, time, ...) TELL(run, check, VERDICT_YES, time, __VA_ARGS__)
#define NO(run, check, ...) TELL(run, check, VERDICT_NO, MSEC_NEVER, __VA_ARGS__)

/* For a text: ms since then. */
static long long
since(struct run *run, msec_t then)
{
	return (long long)(visit_now(&run->visit) - then);
}

/* The first and the last of these checks, and those between them. */
static void
tell_untested(struct run *run, enum check first, enum check last, const char *why)
{
	for (int check = (int)first; check <= (int)last; check++)
		UNTESTED(run, (enum check)check, "%s", why);
}

static const json_t *
result_of(const struct asked *asked)
{
	return json_object_get(asked->answer, "result");
}

/* Why the answer is of no use; otherwise: if it is no error. */
static const char *
error_of(const struct asked *asked, const char *otherwise)
{
	const char *error = visit_error(asked);

	return asked->answer == NULL ? "no answer" : error == NULL ? otherwise : error;
}

static msec_t
elapsed(const json_t *decision)
{
	return decision == NULL ? MSEC_NEVER : json_integer_value(json_object_get(decision, "elapsed"));
}

static msec_t
heard(const json_t *decision)
{
	return json_integer_value(json_object_get(decision, "heard"));
}

/* After what time the late answer to this request came, by canceld's clock; MSEC_NEVER: none did. */
static msec_t
late_after(const struct run *run, const struct asked *call)
{
	json_t *decision;
	size_t i;

	json_array_foreach(json_object_get(run->visit.decisions, "LATE"), i,
	    decision) if (json_integer_value(json_object_get(decision, "id")) == call->id) return elapsed(decision);
	return MSEC_NEVER;
}

/* "status 3" or "signal 11". true: a signal. */
static bool
describe_end(const json_t *ended, char text[48])
{
	const json_t *number = json_object_get(ended, "signal");
	bool crashed = json_is_integer(number);

	if (!crashed)
		number = json_object_get(ended, "status");
	snprintf(text, 48, "%s %d", crashed ? "signal" : "status", (int)json_integer_value(number));
	return crashed;
}

static void
note_server(struct run *run, const json_t *result)
{
	const json_t *info = json_object_get(result, run->dialogue.kind == DIALOGUE_ACP ? "agentInfo" : "serverInfo");
	const char *name = json_string_value(json_object_get(info, "name"));
	const char *version = json_string_value(json_object_get(info, "version"));

	if (name != NULL)
		snprintf(run->report->server, sizeof(run->report->server), "%s%s%s", name, version == NULL ? "" : " ",
		    version == NULL ? "" : version);
}

/* Sends the first request. Its answer is the server's, if it has answered. */
static const struct asked *
open_session(struct run *run)
{
	struct visit *visit = &run->visit;
	struct asked *asked =
	    visit_ask(visit, dialogue_opening(visit->dialogue), dialogue_opening_params(visit->dialogue));

	/* The time that canceld itself takes to start is not the server's. */
	visit_wait_start(visit, asked);
	visit_wait(visit, asked, run->checkup->start);
	if (json_is_object(result_of(asked)) && dialogue_opened(visit->dialogue) != NULL)
		visit_notify(visit, dialogue_opened(visit->dialogue));
	return asked;
}

static void
tell_opening(struct run *run, const struct asked *asked)
{
	long long time = (long long)(asked->answered - asked->sent);

	run->opened = json_is_object(result_of(asked));
	if (run->opened) {
		note_server(run, result_of(asked));
		YES(run, CHECK_INITIALIZE, time, "%s was answered after %lld ms", asked->method, time);
	} else if (visit_is_answered(asked)) {
		NO(run, CHECK_INITIALIZE, "%s: %s", asked->method, error_of(asked, "the result is no object"));
	} else if (asked->answer != NULL) {
		NO(run, CHECK_INITIALIZE, "%s", visit_error(asked) + strlen("canceld: "));
		run->report->ended = true;
	} else {
		NO(run, CHECK_INITIALIZE, "%s was not answered within %lld ms", asked->method, since(run, asked->sent));
	}
}

static void
check_tools(struct run *run, const struct asked *opening)
{
	const json_t *declared = json_object_get(result_of(opening), "capabilities"), *tools, *tool;
	const struct asked *asked;
	char shown[TOOLS_SHOWN] = "";
	size_t i, len;

	if (json_object_get(declared, "tools") == NULL) {
		UNTESTED(run, CHECK_TOOLS, "it declares none");
		return;
	}
	asked = visit_ask(&run->visit, "tools/list", json_object());
	visit_wait(&run->visit, asked, run->checkup->timeout);
	tools = json_object_get(result_of(asked), "tools");
	json_array_foreach(tools, i, tool)
	{
		const char *name = json_string_value(json_object_get(tool, "name"));

		len = strlen(shown);
		snprintf(shown + len, sizeof(shown) - len, "%s%s", i > 0 ? ", " : "", name == NULL ? "" : name);
	}
	if (asked->answer == NULL)
		NO(run, CHECK_TOOLS, "tools/list was not answered within %lld ms", since(run, asked->sent));
	else if (!json_is_array(tools))
		NO(run, CHECK_TOOLS, "tools/list: %s", error_of(asked, "the result has no list"));
	else
		YES(run, CHECK_TOOLS, MSEC_NEVER, "%s%s", shown,
		    json_object_get(result_of(asked), "nextCursor") != NULL ? ", and more" : "");
}

/* Opens the ACP session that a call needs. */
static bool
open_agent_session(struct run *run)
{
	struct visit *visit = &run->visit;
	char directory[4096];
	const char *id;
	struct asked *asked;

	if (run->dialogue.kind != DIALOGUE_ACP || strncmp(run->checkup->call, "session/", strlen("session/")) != 0)
		return true;
	asked = visit_ask(visit, "session/new",
	    json_pack("{s:s, s:[]}", "cwd", getcwd(directory, sizeof(directory)) == NULL ? "/" : directory,
		"mcpServers"));
	visit_wait(visit, asked, run->checkup->start);
	id = json_string_value(json_object_get(result_of(asked), "sessionId"));
	if (id != NULL && strlen(id) < sizeof(visit->session)) {
		memcpy(visit->session, id, strlen(id) + 1);
		return true;
	}
	NO(run, CHECK_CALL, "session/new: %s", error_of(asked, "no usable id"));
	return false;
}

static struct asked *
ask_call(struct run *run)
{
	const struct checkup *checkup = run->checkup;
	struct visit *visit = &run->visit;

	return visit_ask(visit, dialogue_call_method(visit->dialogue, checkup->call),
	    dialogue_call_params(visit->dialogue, checkup->call, checkup->arguments, visit->session, visit->count + 1));
}

static void
tell_busy(struct run *run, const struct asked *call, const struct asked *ping)
{
	long long after = (long long)(ping->answered - ping->sent), work = (long long)(call->answered - ping->sent);

	if (!visit_is_answered(ping))
		NO(run, CHECK_BUSY, "%s was not answered within %lld ms", ping->method, since(run, ping->sent));
	else if (call->answer == NULL || ping->order < call->order)
		YES(run, CHECK_BUSY, after, "%s was answered after %lld ms, before the call", ping->method, after);
	else if (call->answered - call->sent < LEAST_CALL || work < BUSY_AFTER)
		UNTESTED(run, CHECK_BUSY, "the call was over %lld ms after %s was sent", work, ping->method);
	else
		NO(run, CHECK_BUSY, "%s was answered after %lld ms, behind the call", ping->method, after);
}

static void
tell_call(struct run *run, const struct asked *call)
{
	const char *error = visit_error(call);
	long long time = call->answer == NULL ? since(run, call->sent) : (long long)(call->answered - call->sent);

	if (call->answer == NULL)
		UNTESTED(run, CHECK_CALL, "it takes longer than %lld ms (see --timeout)", time);
	else if (error != NULL)
		NO(run, CHECK_CALL, "%s", error);
	else
		YES(run, CHECK_CALL, time, "%s took %lld ms", run->checkup->call, time);
	if (call->progress > 0)
		YES(run, CHECK_PROGRESS, MSEC_NEVER, "%d times during the call", call->progress);
	else if (error != NULL || time < LEAST_CALL)
		UNTESTED(run, CHECK_PROGRESS, "the call takes %lld ms only", time);
	else
		NO(run, CHECK_PROGRESS, "none during a call of %lld ms", time);
	run->called = call->answer == NULL ? MSEC_NEVER : time;
}

/* The whole call. Returns it; unanswered if it takes too long. */
static struct asked *
check_call(struct run *run)
{
	struct visit *visit = &run->visit;
	struct asked *call = ask_call(run), *ping;
	msec_t until = call->sent + run->checkup->timeout;

	if (visit_wait(visit, call, BUSY_AFTER)) {
		UNTESTED(run, CHECK_BUSY, "the call takes less than %d ms", BUSY_AFTER);
	} else {
		ping = visit_ask(visit, dialogue_ping(visit->dialogue), json_object());
		visit_wait(visit, call, until - visit_now(visit));
		visit_wait(visit, ping, until + BUSY_AFTER - visit_now(visit));
		tell_busy(run, call, ping);
	}
	tell_call(run, call);
	return call;
}

/* Called when an answer would have come, or has. */
static void
tell_cancel(struct run *run, const struct asked *call, msec_t cancelled)
{
	const json_t *reports = json_object_get(run->visit.decisions, "LATE_PROGRESS");
	const json_t *forwarded = visit_saw(&run->visit, "CANCEL_FORWARDED", NULL, NULL);
	bool owed = run->dialogue.kind != DIALOGUE_MCP, unknown = run->called == MSEC_NEVER;
	/* Where no answer is owed canceld has dropped it: by its clock, from when it read the call. */
	msec_t late = late_after(run, call), stop = forwarded == NULL ? 0 : elapsed(forwarded);
	msec_t taken = visit_is_answered(call) ? call->answered - call->sent : late;
	msec_t after = visit_is_answered(call) ? call->answered - cancelled : late - stop;
	size_t count = json_array_size(reports);
	long long progress = count == 0 ? -1 : (long long)(elapsed(json_array_get(reports, count - 1)) - stop);

	if (visit_saw(&run->visit, "CANCEL_UNSENT", NULL, NULL) != NULL)
		UNTESTED(run, CHECK_CANCEL, "%s was cancelled before canceld had sent it", call->method);
	else if (progress > STILL_WORKS)
		NO(run, CHECK_CANCEL, "it still reported progress %lld ms after the cancel", progress);
	else if (taken == MSEC_NEVER && owed)
		NO(run, CHECK_CANCEL, "no answer within %lld ms after the cancel", since(run, cancelled));
	else if (taken == MSEC_NEVER && unknown)
		UNTESTED(run, CHECK_CANCEL, "no answer within %lld ms, but the call takes longer than --timeout",
		    since(run, cancelled));
	else if (taken == MSEC_NEVER)
		YES(run, CHECK_CANCEL, MSEC_NEVER, "no answer within %lld ms after the cancel; the call takes %lld ms",
		    since(run, cancelled), (long long)run->called);
	else if (owed && dialogue_says_cancelled(call->answer))
		YES(run, CHECK_CANCEL, after, "it was answered as cancelled after %lld ms", (long long)after);
	else if (!unknown && run->called < LEAST_CALL)
		UNTESTED(run, CHECK_CANCEL, "it answered %lld ms after the cancel: too short to tell",
		    (long long)after);
	else if (unknown ? after > STILL_WORKS : taken * 10 > run->called * 7)
		NO(run, CHECK_CANCEL, "it answered %lld ms after the cancel, %lld ms after the call", (long long)after,
		    (long long)taken);
	else
		YES(run, CHECK_CANCEL, after, "it stopped %lld ms after the cancel", (long long)after);
}

static void
check_alive(struct run *run, enum check check, const char *after)
{
	struct visit *visit = &run->visit;
	const struct asked *ping = visit_ask(visit, dialogue_ping(visit->dialogue), json_object());
	char end[48];

	visit_wait(visit, ping, run->checkup->timeout);
	if (visit_is_answered(ping))
		YES(run, check, ping->answered - ping->sent, "%s it answered %s in %lld ms", after, ping->method,
		    (long long)(ping->answered - ping->sent));
	else if (visit_ended(visit) == NULL)
		NO(run, check, "%s it did not answer %s within %lld ms", after, ping->method, since(run, ping->sent));
	else
		NO(run, check, "%s %s %s", after,
		    describe_end(visit_ended(visit), end) ? "it was ended by" : "it exited with", end);
}

/* A request that is not answered yet is cancelled, and what follows is watched. */
static void
cancel_and_watch(struct run *run, const struct asked *call)
{
	msec_t cancelled = visit_now(&run->visit), expected;

	visit_cancel(&run->visit, call);
	if (run->dialogue.kind != DIALOGUE_MCP) {
		visit_wait(&run->visit, call, run->checkup->timeout + BEYOND);
	} else {
		expected =
		    run->called == MSEC_NEVER ? cancelled + run->checkup->timeout : call->sent + run->called * 3 / 2;
		while (visit_turn(&run->visit, expected + BEYOND))
			;
	}
	tell_cancel(run, call, cancelled);
}

/* call: the whole call, answered or not. */
static void
check_cancel(struct run *run, struct asked *call)
{
	bool too_short = call->answer != NULL && run->called < LEAST_CALL;

	if (visit_error(call) != NULL || (too_short && run->dialogue.kind == DIALOGUE_MCP)) {
		tell_untested(run, CHECK_CANCEL, CHECK_ALIVE,
		    visit_error(call) != NULL ? "the call fails" : "the call is too short: choose a slower one");
		return;
	}
	if (call->answer != NULL) {
		call = ask_call(run);
		if (visit_wait(&run->visit, call,
			too_short                          ? 0 :
			    run->called / 4 < LEAST_CANCEL ? LEAST_CANCEL :
							     run->called / 4)) {
			tell_untested(run, CHECK_CANCEL, CHECK_ALIVE, "the call does not always take as long");
			return;
		}
	}
	cancel_and_watch(run, call);
	check_alive(run, CHECK_ALIVE, "after the cancel");
}

static void
examine(struct run *run, const struct asked *opening)
{
	if (run->dialogue.kind == DIALOGUE_MCP)
		check_tools(run, opening);
	if (run->checkup->call == NULL)
		tell_untested(run, CHECK_CALL, CHECK_CANCEL, "no --call was given");
	else if (open_agent_session(run))
		check_cancel(run, check_call(run));
	else
		tell_untested(run, CHECK_PROGRESS, CHECK_ALIVE, "nothing can be called");
}

static void
tell_exit(struct run *run)
{
	const struct visit *visit = &run->visit;
	const json_t *ended = visit_ended(visit), *closed = visit_saw(visit, "ENDING", NULL, NULL);
	bool killed = visit_saw(visit, "ENDING", "step", "SIGKILL") != NULL;
	bool signalled = killed || visit_saw(visit, "ENDING", "step", "SIGTERM") != NULL;
	long long time = (long long)(heard(ended) - heard(closed));
	char end[48];
	bool crashed = describe_end(ended, end);

	if (ended != NULL && (closed == NULL || time < 0))
		UNTESTED(run, CHECK_EXIT, "it ended before, with %s", end);
	else if (signalled)
		NO(run, CHECK_EXIT, "%s was needed, %d ms after the end of its stdin", killed ? "SIGKILL" : "SIGTERM",
		    VISIT_TERM_AFTER + (killed ? 1000 : 0));
	else if (ended != NULL && crashed)
		NO(run, CHECK_EXIT, "%s ended it when its stdin ended", end);
	else if (ended != NULL)
		YES(run, CHECK_EXIT, time, "after %lld ms, with %s", time, end);
	if (signalled)
		UNTESTED(run, CHECK_ORPHANS, "a signal to the whole process group was needed");
	else if (ended != NULL)
		YES(run, CHECK_ORPHANS, MSEC_NEVER, "none was left");
}

/* How often canceld said one of these words about the server. first: such a decision, if there is one. */
static size_t
count_of(const struct run *run, const char *const words[], const json_t **first)
{
	size_t count = 0, i;
	json_t *decision;

	for (; *words != NULL; words++)
		json_array_foreach(json_object_get(run->visit.decisions, *words), i, decision)
		{
			/* What a client sent is not the server's fault. */
			if (strcmp(visit_text(decision, "to"), "server") != 0 && count++ == 0)
				*first = decision;
		}
	return count;
}

static void
tell_output(struct run *run)
{
	static const char *const dirt[] = { "NOISE", "RECOVERED", "BOM_STRIPPED", "MALFORMED", "OVERSIZED", "TOO_DEEP",
		"REPEATED_ID", "REPEATED_METHOD", "TRUNCATED", "STRAY", NULL };
	static const char *const swept[] = { "SWEPT", NULL };
	const json_t *first = NULL;
	const char *more = visit_saw(&run->visit, "LINES_LOST", NULL, NULL) != NULL ? ", and more" : "";
	size_t left = count_of(run, swept, &first), times;

	if (left > 0)
		NO(run, CHECK_ORPHANS, "%zu left and killed%s, such as %s", left, more, visit_text(first, "name"));
	times = count_of(run, dirt, &first);
	if (times > 0) {
		NO(run, CHECK_STDOUT, "%zu times%s, first %s %.80s", times, more, visit_text(first, "why"),
		    visit_text(first, "text"));
	} else if (more[0] == '\0' && run->report->findings[CHECK_INITIALIZE].verdict == VERDICT_YES) {
		YES(run, CHECK_STDOUT, MSEC_NEVER, "only messages");
	}
}

/* What kept canceld from starting the server. */
static void
tell_failure(struct run *run)
{
	const json_t *failed = visit_saw(&run->visit, "FAILED", NULL, NULL);
	int status = WIFEXITED(run->visit.status) ? WEXITSTATUS(run->visit.status) : -1;

	if (failed != NULL)
		snprintf(run->failure, CHECKUP_FAILURE, "%s: %s", visit_text(failed, "doing"),
		    visit_text(failed, "reason"));
	else
		snprintf(run->failure, CHECKUP_FAILURE, "%s",
		    status == STATUS_NOT_FOUND          ? "cannot run canceld" :
			status == STATUS_NOT_EXECUTABLE ? "cannot enter its directory" :
							  "canceld ended before it started the server");
}

/* The end of each visit is looked at. false: the checkup cannot go on. */
static bool
leave(struct run *run)
{
	visit_close(&run->visit);
	if (visit_saw(&run->visit, "STARTED", NULL, NULL) == NULL)
		tell_failure(run);
	tell_exit(run);
	tell_output(run);
	visit_free(&run->visit);
	return visit_interrupted() == 0 && run->failure[0] == '\0';
}

static bool
start(struct run *run, bool modern, bool plain)
{
	const struct checkup *checkup = run->checkup;
	struct visit_setup setup = {
		.command = checkup->command,
		.environment = checkup->environment,
		.directory = checkup->directory,
		.dialogue = { checkup->kind, modern },
		.grace = checkup->timeout,
		.plain = plain,
		.loud = checkup->loud,
	};

	if (visit_start(&run->visit, &setup) == 0)
		return true;
	snprintf(run->failure, CHECKUP_FAILURE, "cannot start canceld: %s", strerror(errno));
	return false;
}

/* The handshake, and all that one run of the server can show. */
static bool
visit_for_most(struct run *run)
{
	const struct asked *asked;

	for (;; run->dialogue.modern = true) {
		if (!start(run, run->dialogue.modern, false))
			return false;
		asked = open_session(run);
		if (!visit_is_answered(asked) || json_is_object(result_of(asked)) ||
		    run->dialogue.kind != DIALOGUE_MCP || run->dialogue.modern)
			break;
		/* A server of the newest MCP only answers initialize with an error. */
		if (!leave(run))
			return false;
	}
	tell_opening(run, asked);
	if (run->opened)
		examine(run, asked);
	return leave(run);
}

/* How a server that speaks initialize takes a newer client. */
static bool
visit_for_discover(struct run *run)
{
	const struct asked *asked;
	long long time;
	char end[48];

	if (run->dialogue.modern) {
		YES(run, CHECK_DISCOVER, MSEC_NEVER, "it speaks MCP 2026-07-28 only");
		return true;
	}
	if (!start(run, true, false))
		return false;
	asked = open_session(run);
	time = (long long)(asked->answered - asked->sent);
	if (visit_is_answered(asked)) {
		YES(run, CHECK_DISCOVER, time, "%s after %lld ms", visit_error(asked) == NULL ? "answered" : "refused",
		    time);
	} else if (visit_ended(&run->visit) != NULL) {
		describe_end(visit_ended(&run->visit), end);
		NO(run, CHECK_DISCOVER, "it exits: %s", end);
	} else {
		NO(run, CHECK_DISCOVER, "no answer within %lld ms", since(run, asked->sent));
	}
	return leave(run);
}

/*
 * Where no call shows what a cancel does: a request that changes nothing, and its cancel, in one write. canceld would
 * not send what is cancelled that soon, so it treats both as any message.
 */
static bool
visit_for_cancel(struct run *run)
{
	struct visit *visit = &run->visit;
	bool symbols = run->dialogue.kind == DIALOGUE_LSP;
	const struct asked *asked;

	if (!start(run, run->dialogue.modern, true))
		return false;
	asked = open_session(run);
	if (json_is_object(result_of(asked))) {
		asked = symbols ? visit_ask(visit, "workspace/symbol", json_pack("{s:s}", "query", "")) :
				  visit_ask(visit, dialogue_ping(visit->dialogue), json_object());
		visit_cancel(visit, asked);
		check_alive(run, CHECK_ALIVE, "after the cancel of a harmless request");
		if (symbols && dialogue_says_cancelled(asked->answer))
			YES(run, CHECK_CANCEL, MSEC_NEVER, "%s was answered as cancelled", asked->method);
	}
	return leave(run);
}

int
checkup_run(const struct checkup *checkup, struct verdicts *report, char failure[CHECKUP_FAILURE])
{
	struct run run = { .checkup = checkup,
		.report = report,
		.failure = failure,
		.dialogue = { checkup->kind, false },
		.called = MSEC_NEVER };
	bool on;

	failure[0] = '\0';
	visit_watch();
	on = visit_for_most(&run) && run.opened;
	if (on && checkup->kind == DIALOGUE_MCP)
		on = visit_for_discover(&run);
	if (on && report->findings[CHECK_ALIVE].verdict == VERDICT_NOT_TESTED)
		visit_for_cancel(&run);
	visit_unwatch();
	return visit_interrupted() != 0 ? visit_interrupted() : failure[0] != '\0' ? -1 : 0;
}
