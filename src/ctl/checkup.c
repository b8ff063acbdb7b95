#include "ctl/checkup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl/footprint.h"
#include "ctl/visit.h"
#include "shell/child.h"

enum {
	BUSY_AFTER = 100,   /* ms of work before the server counts as busy */
	LEAST_CALL = 300,   /* ms: in a shorter call a cancel proves nothing */
	LEAST_CANCEL = 100, /* ms of work before the cancel */
	CROSSING = 200,     /* ms in which a message may cross the cancel */
	STILL_WORKS = 500,  /* ms after which progress shows that the work goes on */
	BEYOND = 500,       /* ms to wait beyond the time in which a late answer is expected */
	CAP_UNKNOWN = 500,  /* ms: the deadline of a call whose time is not known */
	PAGES = 16,         /* of a list of tools */
	TOOLS_SHOWN = 200,  /* bytes of names */
};

enum opening { OPENED, REFUSED, CLOSED };

struct run {
	const struct checkup *checkup;
	struct verdicts *verdicts;
	struct visit visit;
	char *failure;
	int signal;
	uint64_t peak; /* bytes of memory, in the visit that took the most */
	msec_t called; /* how long the call takes; MSEC_NEVER: longer than the timeout, or not known */
	bool callable; /* it may be called */
};

#define TELL_ONE(run, check, verdict, ...) verdict_tell((run)->verdicts, check, verdict, MSEC_NEVER, __VA_ARGS__)

/* Where a time means ms since then. */
static long long
since(struct run *run, msec_t then)
{
	return (long long)(peer_now(&run->visit.peer) - then);
}

static void
tell_untested(struct run *run, const enum check *checks, size_t count, const char *why)
{
	for (size_t i = 0; i < count; i++)
		TELL_ONE(run, checks[i], VERDICT_NOT_TESTED, "%s", why);
}

#define TELL_UNTESTED(run, why, ...) \
	tell_untested(run, (const enum check[]){ __VA_ARGS__ }, \
	    sizeof((const enum check[]){ __VA_ARGS__ }) / sizeof(enum check), why)

static bool
is_alive(struct run *run, msec_t *time)
{
	struct visit *visit = &run->visit;
	struct asked *ping = visit_ask(visit, dialogue_ping(visit->dialogue), json_object());
	bool answered = visit_wait(visit, ping, run->checkup->timeout) && !visit_is_own(ping);

	*time = answered ? ping->answered - ping->sent : MSEC_NEVER;
	return answered;
}

static void
note_server(struct run *run, const struct asked *asked)
{
	const json_t *result = json_object_get(asked->answer, "result");
	const json_t *info = json_object_get(result, "serverInfo");
	const char *name, *version;

	if (info == NULL)
		info = json_object_get(result, "agentInfo");
	name = json_string_value(json_object_get(info, "name"));
	version = json_string_value(json_object_get(info, "version"));
	if (name != NULL)
		verdict_name_server(run->verdicts, name, version);
}

/* Sends the first request. REFUSED: with an error of the server's. */
static enum opening
open_session(struct run *run, const struct asked **opening)
{
	struct visit *visit = &run->visit;
	struct asked *asked =
	    visit_ask(visit, dialogue_opening(visit->dialogue), dialogue_opening_params(visit->dialogue));

	*opening = asked;
	/* The time that canceld itself takes to start is not the server's. */
	visit_wait_start(visit, asked);
	if (!visit_wait(visit, asked, run->checkup->start) || visit_is_own(asked))
		return CLOSED;
	if (!json_is_object(json_object_get(asked->answer, "result")))
		return REFUSED;
	if (dialogue_opened(visit->dialogue) != NULL)
		visit_notify(visit, dialogue_opened(visit->dialogue));
	return OPENED;
}

static void
tell_opening(struct run *run, enum opening opening, const struct asked *asked)
{
	const char *method = dialogue_opening(run->visit.dialogue);

	if (opening == OPENED) {
		note_server(run, asked);
		verdict_tell(run->verdicts, CHECK_INITIALIZE, VERDICT_YES, asked->answered - asked->sent,
		    "%s was answered after %lld ms", method, (long long)(asked->answered - asked->sent));
	} else if (asked->answer != NULL && visit_is_own(asked)) {
		TELL_ONE(run, CHECK_INITIALIZE, VERDICT_NO, "%s", visit_error(asked) + strlen("canceld: "));
		verdict_end(run->verdicts);
	} else if (asked->answer != NULL) {
		TELL_ONE(run, CHECK_INITIALIZE, VERDICT_NO, "%s: %s", method,
		    visit_error(asked) == NULL ? "the result is no object" : visit_error(asked));
	} else {
		TELL_ONE(run, CHECK_INITIALIZE, VERDICT_NO, "%s was not answered within %lld ms", method,
		    since(run, asked->sent));
	}
}

/* Appends the names of a page of tools to shown. Returns how many there are. */
static size_t
note_tools(struct run *run, const json_t *tools, char shown[TOOLS_SHOWN])
{
	const char *name;
	size_t i, len;

	for (i = 0; i < json_array_size(tools); i++) {
		name = json_string_value(json_object_get(json_array_get(tools, i), "name"));
		if (name == NULL)
			continue;
		len = strlen(shown);
		snprintf(shown + len, TOOLS_SHOWN - len, "%s%s", len > 0 ? ", " : ": ", name);
		run->callable |= run->checkup->call != NULL && strcmp(name, run->checkup->call) == 0;
	}
	return json_array_size(tools);
}

static void
check_tools(struct run *run, const struct asked *opening)
{
	struct visit *visit = &run->visit;
	const json_t *declared = json_object_get(json_object_get(opening->answer, "result"), "capabilities");
	json_t *params = json_object();
	const json_t *result = NULL, *next;
	const struct asked *asked;
	char shown[TOOLS_SHOWN] = "";
	size_t count = 0;

	if (json_object_get(declared, "tools") == NULL) {
		json_decref(params);
		TELL_ONE(run, CHECK_TOOLS, VERDICT_NOT_TESTED, "it declares none");
		return;
	}
	for (int page = 0; page < PAGES && params != NULL; page++) {
		asked = visit_ask(visit, "tools/list", params);
		params = NULL;
		if (!visit_wait(visit, asked, run->checkup->timeout)) {
			TELL_ONE(run, CHECK_TOOLS, VERDICT_NO, "tools/list was not answered within %lld ms",
			    since(run, asked->sent));
			return;
		}
		result = json_object_get(asked->answer, "result");
		if (!json_is_array(json_object_get(result, "tools"))) {
			TELL_ONE(run, CHECK_TOOLS, VERDICT_NO, "tools/list: %s",
			    visit_error(asked) == NULL ? "the result has no list" : visit_error(asked));
			return;
		}
		count += note_tools(run, json_object_get(result, "tools"), shown);
		next = json_object_get(result, "nextCursor");
		if (json_is_string(next))
			params = json_pack("{s:s}", "cursor", json_string_value(next));
	}
	json_decref(params);
	TELL_ONE(run, CHECK_TOOLS, VERDICT_YES, "%zu%s", count, shown);
}

/* Opens the ACP session that a call needs. */
static bool
open_agent_session(struct run *run)
{
	struct visit *visit = &run->visit;
	const char *id, *call = run->checkup->call;
	char directory[4096];
	struct asked *asked;

	if (visit->dialogue.kind != DIALOGUE_ACP || strncmp(call, "session/", strlen("session/")) != 0)
		return true;
	asked = visit_ask(visit, "session/new",
	    json_pack("{s:s, s:[]}", "cwd", getcwd(directory, sizeof(directory)) == NULL ? "/" : directory,
		"mcpServers"));
	id = visit_wait(visit, asked, run->checkup->start) ?
	    json_string_value(json_object_get(json_object_get(asked->answer, "result"), "sessionId")) :
	    NULL;
	if (id != NULL && visit_set_session(visit, id))
		return true;
	TELL_ONE(run, CHECK_CALL, VERDICT_NO, "session/new: %s",
	    asked->answer == NULL          ? "no answer" :
		visit_error(asked) == NULL ? "no usable id" :
					     visit_error(asked));
	return false;
}

static struct asked *
ask_call(struct run *run)
{
	const struct checkup *checkup = run->checkup;
	struct visit *visit = &run->visit;
	const char *session = visit->session[0] == '\0' ? NULL : visit->session;

	return visit_ask(visit, dialogue_call_method(visit->dialogue, checkup->call),
	    dialogue_call_params(visit->dialogue, checkup->call, checkup->arguments, session, visit_next_id(visit)));
}

/* Waits, whatever happens, unless the visit is over. */
static void
pass_time(struct run *run, msec_t until)
{
	while (peer_turn(&run->visit.peer, until))
		;
}

static void
tell_busy(struct run *run, const struct asked *call, const struct asked *ping)
{
	msec_t after = ping->answer == NULL ? MSEC_NEVER : ping->answered - ping->sent;

	if (ping->answer == NULL || visit_is_own(ping))
		TELL_ONE(run, CHECK_BUSY, VERDICT_NO, "%s was not answered within %lld ms", ping->method,
		    since(run, ping->sent));
	else if (call->answer == NULL || ping->order < call->order)
		verdict_tell(run->verdicts, CHECK_BUSY, VERDICT_YES, after,
		    "%s was answered after %lld ms, before the call", ping->method, (long long)after);
	else if (call->answered - call->sent < LEAST_CALL)
		TELL_ONE(run, CHECK_BUSY, VERDICT_NOT_TESTED, "the call takes %lld ms only",
		    (long long)(call->answered - call->sent));
	else if (call->answered - ping->sent < BUSY_AFTER)
		TELL_ONE(run, CHECK_BUSY, VERDICT_NOT_TESTED, "the call was over %lld ms after %s was sent",
		    (long long)(call->answered - ping->sent), ping->method);
	else
		verdict_tell(run->verdicts, CHECK_BUSY, VERDICT_NO, after,
		    "%s was answered after %lld ms, behind the call", ping->method, (long long)after);
}

static void
tell_call(struct run *run, const struct asked *call)
{
	msec_t time = call->answer == NULL ? MSEC_NEVER : call->answered - call->sent;
	const char *error = call->answer == NULL ? NULL : visit_error(call);

	if (call->answer == NULL)
		TELL_ONE(run, CHECK_CALL, VERDICT_NOT_TESTED, "it takes longer than %lld ms (see --timeout)",
		    since(run, call->sent));
	else if (error != NULL)
		verdict_tell(run->verdicts, CHECK_CALL, VERDICT_NO, time, "%s", error);
	else
		verdict_tell(run->verdicts, CHECK_CALL, VERDICT_YES, time, "%s took %lld ms", run->checkup->call,
		    (long long)time);
	if (call->progress > 0)
		TELL_ONE(run, CHECK_PROGRESS, VERDICT_YES, "%d times during the call", call->progress);
	else if (error != NULL || (time != MSEC_NEVER && time < LEAST_CALL))
		TELL_ONE(run, CHECK_PROGRESS, VERDICT_NOT_TESTED, "the call takes %lld ms only", (long long)time);
	else
		TELL_ONE(run, CHECK_PROGRESS, VERDICT_NO, "none during a call of %lld ms", since(run, call->sent));
}

/* The whole call. Returns it; unanswered if it takes too long. */
static struct asked *
check_call(struct run *run)
{
	struct visit *visit = &run->visit;
	struct asked *call = ask_call(run), *ping;
	msec_t until = call->sent + run->checkup->timeout;

	if (visit_wait(visit, call, BUSY_AFTER)) {
		TELL_ONE(run, CHECK_BUSY, VERDICT_NOT_TESTED, "the call takes less than %d ms", BUSY_AFTER);
	} else {
		ping = visit_ask(visit, dialogue_ping(visit->dialogue), json_object());
		visit_wait_until(visit, call, until);
		visit_wait_until(visit, ping, until + BUSY_AFTER);
		tell_busy(run, call, ping);
	}
	tell_call(run, call);
	run->called = call->answer == NULL ? MSEC_NEVER : call->answered - call->sent;
	run->callable = call->answer == NULL || visit_error(call) == NULL;
	return call;
}

/* Where nothing may follow a cancel: what did? Called when a late answer would have come. */
static void
tell_silent_cancel(struct run *run, const struct asked *call, msec_t cancelled)
{
	const struct witness *witness = &run->visit.witness;
	/* By canceld's clock, from when it read the call. */
	msec_t late = witness_late(witness, call->id), stop = witness->cancelled;
	long long progress = witness->late_progress == 0 ? -1 : (long long)(witness->last_progress - stop);

	if (progress > STILL_WORKS)
		TELL_ONE(run, CHECK_CANCEL, VERDICT_NO, "it still reported progress %lld ms after the cancel",
		    progress);
	else if (run->called == MSEC_NEVER && late != MSEC_NEVER && late - stop > STILL_WORKS)
		TELL_ONE(run, CHECK_CANCEL, VERDICT_NO, "it answered %lld ms after the cancel",
		    (long long)(late - stop));
	else if (run->called == MSEC_NEVER && late == MSEC_NEVER)
		TELL_ONE(run, CHECK_CANCEL, VERDICT_NOT_TESTED,
		    "no answer within %lld ms, but the call takes longer than --timeout", since(run, cancelled));
	else if (late != MSEC_NEVER && run->called != MSEC_NEVER && late * 10 > run->called * 7)
		verdict_tell(run->verdicts, CHECK_CANCEL, VERDICT_NO, late - stop,
		    "it answered after %lld ms, cancelled after %lld; the call takes %lld ms", (long long)late,
		    (long long)stop, (long long)run->called);
	else if (late != MSEC_NEVER)
		verdict_tell(run->verdicts, CHECK_CANCEL, VERDICT_YES, late - stop,
		    "it stopped %lld ms after the cancel", (long long)(late - stop));
	else
		TELL_ONE(run, CHECK_CANCEL, VERDICT_YES,
		    "no answer within %lld ms after the cancel; the call takes %lld ms", since(run, cancelled),
		    (long long)run->called);
	if (late != MSEC_NEVER)
		verdict_tell(run->verdicts, CHECK_SILENCE, VERDICT_NO, late - stop,
		    "a response came %lld ms after the cancel", (long long)(late - stop));
	else if (progress > CROSSING)
		TELL_ONE(run, CHECK_SILENCE, VERDICT_NO, "progress came %lld ms after the cancel", progress);
	else
		TELL_ONE(run, CHECK_SILENCE, VERDICT_YES, "nothing within %lld ms", since(run, cancelled));
}

/* Where a cancelled request is owed an answer. */
static void
tell_answered_cancel(struct run *run, const struct asked *call, msec_t cancelled)
{
	const char *method = call->method;
	long long after = call->answer == NULL ? since(run, cancelled) : (long long)(call->answered - cancelled);

	if (run->visit.witness.unsent)
		TELL_ONE(run, CHECK_CANCEL, VERDICT_NOT_TESTED, "%s was cancelled before canceld had sent it", method);
	else if (call->answer == NULL || visit_is_own(call))
		TELL_ONE(run, CHECK_CANCEL, VERDICT_NO, "%s was not answered within %lld ms after the cancel", method,
		    after);
	else if (dialogue_says_cancelled(call->answer))
		verdict_tell(run->verdicts, CHECK_CANCEL, VERDICT_YES, after,
		    "%s was answered as cancelled after %lld ms", method, after);
	else if (run->called != MSEC_NEVER && run->called >= LEAST_CALL &&
	    (call->answered - call->sent) * 10 > run->called * 7)
		verdict_tell(run->verdicts, CHECK_CANCEL, VERDICT_NO, after,
		    "%s was answered in full %lld ms after the cancel; it takes %lld ms", method, after,
		    (long long)run->called);
	else if (run->called != MSEC_NEVER && run->called >= LEAST_CALL)
		verdict_tell(run->verdicts, CHECK_CANCEL, VERDICT_YES, after, "%s stopped %lld ms after the cancel",
		    method, after);
	else
		TELL_ONE(run, CHECK_CANCEL, VERDICT_NOT_TESTED,
		    "%s was answered in full %lld ms after the cancel: too short to tell", method, after);
	if (call->answer != NULL && !visit_is_own(call)) {
		pass_time(run, peer_now(&run->visit.peer) + CROSSING);
		if (witness_late(&run->visit.witness, call->id) == MSEC_NEVER)
			TELL_ONE(run, CHECK_SILENCE, VERDICT_YES, "one answer, and nothing within %d ms", CROSSING);
	} else
		TELL_ONE(run, CHECK_SILENCE, VERDICT_NOT_TESTED, "the server did not answer what was cancelled");
	if (witness_late(&run->visit.witness, call->id) != MSEC_NEVER)
		TELL_ONE(run, CHECK_SILENCE, VERDICT_NO, "another answer came after the cancelled one");
}

static void
check_alive(struct run *run, enum check check, const char *after)
{
	const struct witness *witness = &run->visit.witness;
	msec_t time;

	if (is_alive(run, &time))
		verdict_tell(run->verdicts, check, VERDICT_YES, time, "%s it answered %s in %lld ms", after,
		    dialogue_ping(run->visit.dialogue), (long long)time);
	else if (witness->ended != MSEC_NEVER && witness->signal >= 0)
		TELL_ONE(run, check, VERDICT_NO, "%s it was ended by signal %d", after, witness->signal);
	else if (witness->ended != MSEC_NEVER)
		TELL_ONE(run, check, VERDICT_NO, "%s it exited with status %d", after, witness->status);
	else
		TELL_ONE(run, check, VERDICT_NO, "%s it did not answer %s within %lld ms", after,
		    dialogue_ping(run->visit.dialogue), (long long)run->checkup->timeout);
}

/* A request that is not answered yet is cancelled, and what follows is watched. */
static void
cancel_and_watch(struct run *run, const struct asked *call)
{
	msec_t cancelled = peer_now(&run->visit.peer), expected;

	visit_cancel(&run->visit, call);
	if (dialogue_owes_answer(run->visit.dialogue)) {
		visit_wait(&run->visit, call, run->checkup->timeout + BEYOND);
		tell_answered_cancel(run, call, cancelled);
		return;
	}
	expected = run->called == MSEC_NEVER ? cancelled + run->checkup->timeout : call->sent + run->called * 3 / 2;
	pass_time(run, expected + BEYOND);
	tell_silent_cancel(run, call, cancelled);
}

/* call: the whole call, answered or not. */
static void
check_cancel(struct run *run, struct asked *call)
{
	bool owed = dialogue_owes_answer(run->visit.dialogue);
	msec_t work;

	if (call->answer != NULL) {
		if (!run->callable || (!owed && run->called < LEAST_CALL)) {
			TELL_UNTESTED(run,
			    run->callable ? "the call is too short: choose a slower one" : "the call fails",
			    CHECK_CANCEL, CHECK_SILENCE, CHECK_ALIVE);
			return;
		}
		work = run->called / 4 < LEAST_CANCEL ? LEAST_CANCEL : run->called / 4;
		call = ask_call(run);
		if (visit_wait(&run->visit, call, run->called < LEAST_CALL ? 0 : work)) {
			TELL_UNTESTED(run, "the call does not always take as long", CHECK_CANCEL, CHECK_SILENCE,
			    CHECK_ALIVE);
			return;
		}
	}
	cancel_and_watch(run, call);
	check_alive(run, CHECK_ALIVE, "after the cancel");
}

static void
examine(struct run *run, const struct asked *opening)
{
	const struct checkup *checkup = run->checkup;
	struct asked *call;

	run->callable = run->visit.dialogue.kind != DIALOGUE_MCP && checkup->call != NULL;
	if (run->visit.dialogue.kind == DIALOGUE_MCP)
		check_tools(run, opening);
	if (checkup->call == NULL) {
		TELL_UNTESTED(run, "no --call was given", CHECK_CALL, CHECK_PROGRESS, CHECK_BUSY, CHECK_CANCEL,
		    CHECK_SILENCE, CHECK_TIMEOUT);
		return;
	}
	if (!run->callable || !open_agent_session(run)) {
		if (!run->callable)
			TELL_ONE(run, CHECK_CALL, VERDICT_NO, "it does not list the tool %s", checkup->call);
		run->callable = false;
		TELL_UNTESTED(run, "nothing can be called", CHECK_PROGRESS, CHECK_BUSY, CHECK_CANCEL, CHECK_SILENCE,
		    CHECK_ALIVE, CHECK_TIMEOUT);
		return;
	}
	call = check_call(run);
	check_cancel(run, call);
}

static void
check_memory(struct run *run)
{
	struct footprint footprint;
	size_t most = run->checkup->max_memory;

	if (run->visit.witness.server == 0 || !footprint_measure(&footprint, run->visit.witness.server) ||
	    footprint.peak < run->peak)
		return;
	run->peak = footprint.peak;
	TELL_ONE(run, CHECK_MEMORY,
	    most == 0                 ? VERDICT_NOT_TESTED :
		footprint.peak > most ? VERDICT_NO :
					VERDICT_YES,
	    "%llu KiB in %d process%s%s", (unsigned long long)(footprint.peak >> 10), footprint.processes,
	    footprint.processes == 1 ? "" : "es", most == 0 ? "; no --max-memory was given" : "");
}

static void
tell_exit(struct run *run)
{
	const struct witness *witness = &run->visit.witness;
	msec_t time = witness->ended == MSEC_NEVER || witness->closed == MSEC_NEVER ? MSEC_NEVER :
										      witness->ended - witness->closed;

	if (witness->early)
		TELL_ONE(run, CHECK_EXIT, VERDICT_NOT_TESTED, "it ended before, with %s %d",
		    witness->signal >= 0 ? "signal" : "status",
		    witness->signal >= 0 ? witness->signal : witness->status);
	else if (witness->terminated || witness->killed)
		TELL_ONE(run, CHECK_EXIT, VERDICT_NO, "%s was needed, %d ms after the end of its stdin",
		    witness->killed ? "SIGKILL" : "SIGTERM", VISIT_TERM_AFTER + (witness->killed ? 1000 : 0));
	else if (witness->signal >= 0)
		TELL_ONE(run, CHECK_EXIT, VERDICT_NO, "signal %d ended it when its stdin ended", witness->signal);
	else if (time != MSEC_NEVER)
		verdict_tell(run->verdicts, CHECK_EXIT, VERDICT_YES, time, "after %lld ms, with status %d",
		    (long long)time, witness->status);
}

static void
tell_rest(struct run *run)
{
	const struct witness *witness = &run->visit.witness;
	const char *more = witness->lost > 0 ? ", and more" : "";

	if (witness->swept > 0)
		TELL_ONE(run, CHECK_ORPHANS, VERDICT_NO, "%llu left and killed: %s%s",
		    (unsigned long long)witness->swept, witness->left, more);
	else if (witness->terminated || witness->killed)
		TELL_ONE(run, CHECK_ORPHANS, VERDICT_NOT_TESTED, "a signal to the whole process group was needed");
	else if (witness->ended != MSEC_NEVER)
		TELL_ONE(run, CHECK_ORPHANS, VERDICT_YES, "none was left");
	if (witness->dirty > 0)
		TELL_ONE(run, CHECK_STDOUT, VERDICT_NO, "%llu times%s, first %s", (unsigned long long)witness->dirty,
		    more, witness->dirt);
	else if (witness->lost == 0 && run->verdicts->findings[CHECK_INITIALIZE].verdict == VERDICT_YES)
		TELL_ONE(run, CHECK_STDOUT, VERDICT_YES, "only messages");
	if (witness->strays > 0)
		TELL_ONE(run, CHECK_ONCE, VERDICT_NO, "%llu responses match no request%s",
		    (unsigned long long)witness->strays, more);
	else if (witness->lost == 0 && run->verdicts->findings[CHECK_INITIALIZE].verdict == VERDICT_YES)
		TELL_ONE(run, CHECK_ONCE, VERDICT_YES, "no other response came");
}

/* The end of each visit is looked at. false: the checkup cannot go on. */
static bool
leave(struct run *run)
{
	const struct witness *witness = &run->visit.witness;
	int status;

	check_memory(run);
	visit_close(&run->visit);
	run->signal = run->visit.peer.interrupted;
	status = WIFEXITED(run->visit.peer.status) ? WEXITSTATUS(run->visit.peer.status) : -1;
	if (witness->server == 0)
		snprintf(run->failure, CHECKUP_FAILURE, "%s",
		    witness->failed[0] != '\0'          ? witness->failed :
			status == STATUS_NOT_FOUND      ? "cannot run canceld" :
			status == STATUS_NOT_EXECUTABLE ? "cannot enter its directory" :
							  "canceld ended before it started the server");
	tell_exit(run);
	tell_rest(run);
	visit_free(&run->visit);
	return run->signal == 0 && run->failure[0] == '\0';
}

static bool
start(struct run *run, enum dialogue_era era, const char *cap, bool plain)
{
	const struct checkup *checkup = run->checkup;
	struct visit_setup setup = {
		.command = checkup->command,
		.environment = checkup->environment,
		.directory = checkup->directory,
		.dialogue = { checkup->kind, era },
		.grace = checkup->timeout,
		.cap = cap,
		.plain = plain,
		.loud = checkup->loud,
	};

	if (visit_start(&run->visit, &setup) == 0)
		return true;
	snprintf(run->failure, CHECKUP_FAILURE, "cannot start canceld: %s", strerror(errno));
	return false;
}

/* The handshake, and all that one run of the server can show. era: what it speaks, if it answers at all. */
static bool
visit_for_most(struct run *run, enum dialogue_era *era, bool *opened)
{
	const struct asked *asked;
	enum opening opening;

	for (*era = ERA_INITIALIZE;; *era = ERA_DISCOVER) {
		if (!start(run, *era, NULL, false))
			return false;
		opening = open_session(run, &asked);
		if (opening != REFUSED || run->checkup->kind != DIALOGUE_MCP || *era == ERA_DISCOVER)
			break;
		/* A server of the newest MCP only: it answers initialize with an error. */
		if (!leave(run))
			return false;
	}
	tell_opening(run, opening, asked);
	*opened = opening == OPENED;
	if (*opened)
		examine(run, asked);
	return leave(run);
}

/* How a server that speaks initialize takes a newer client. */
static bool
visit_for_discover(struct run *run)
{
	const struct asked *asked;
	msec_t time;

	if (!start(run, ERA_DISCOVER, NULL, false))
		return false;
	if (open_session(run, &asked) == CLOSED) {
		if (run->visit.witness.ended != MSEC_NEVER)
			TELL_ONE(run, CHECK_DISCOVER, VERDICT_NO, "it exits: %s %d",
			    run->visit.witness.signal >= 0 ? "signal" : "status",
			    run->visit.witness.signal >= 0 ? run->visit.witness.signal : run->visit.witness.status);
		else
			TELL_ONE(run, CHECK_DISCOVER, VERDICT_NO, "no answer within %lld ms", since(run, asked->sent));
	} else {
		time = asked->answered - asked->sent;
		verdict_tell(run->verdicts, CHECK_DISCOVER, VERDICT_YES, time, "%s after %lld ms",
		    visit_error(asked) == NULL ? "answered" : "refused", (long long)time);
	}
	return leave(run);
}

/* The log, another pipe than stdout, tells of the deadline that canceld's answer shows. */
static void
await_timed_out(struct run *run, const struct asked *call)
{
	const struct witness *witness = &run->visit.witness;
	msec_t until = peer_now(&run->visit.peer) + run->checkup->timeout;

	while (visit_is_own(call) && !witness->timed_out && witness->ended == MSEC_NEVER &&
	    peer_turn(&run->visit.peer, until))
		;
}

/* A deadline of canceld's in the middle of a call. */
static bool
visit_for_timeout(struct run *run, enum dialogue_era era)
{
	const struct checkup *checkup = run->checkup;
	msec_t cap = run->called == MSEC_NEVER ? CAP_UNKNOWN :
	    run->called / 4 < LEAST_CANCEL     ? LEAST_CANCEL :
						 run->called / 4;
	struct dialogue dialogue = { checkup->kind, era };
	const struct asked *asked;
	struct asked *call;
	char rule[512], after[64];

	if (run->called != MSEC_NEVER && run->called < LEAST_CALL) {
		TELL_ONE(run, CHECK_TIMEOUT, VERDICT_NOT_TESTED, "the call is too short: choose a slower one");
		return true;
	}
	snprintf(rule, sizeof(rule), "%.400s=%lldms", dialogue_call_method(dialogue, checkup->call), (long long)cap);
	if (!start(run, era, rule, false))
		return false;
	TELL_ONE(run, CHECK_TIMEOUT, VERDICT_NOT_TESTED, "it did not open a second session");
	if (open_session(run, &asked) == OPENED && open_agent_session(run)) {
		call = ask_call(run);
		visit_wait(&run->visit, call, cap + checkup->timeout + BEYOND);
		await_timed_out(run, call);
		snprintf(after, sizeof(after), "given up by canceld after %lld ms,", (long long)cap);
		if (run->visit.witness.timed_out)
			check_alive(run, CHECK_TIMEOUT, after);
		else
			TELL_ONE(run, CHECK_TIMEOUT, VERDICT_NOT_TESTED, "the call does not always take as long");
	}
	return leave(run);
}

/*
 * Where no call shows what a cancel does: a request that changes nothing, and its cancel, in one write. canceld would
 * not send what is cancelled that soon, so it treats both as any message.
 */
static bool
visit_for_cancel(struct run *run, enum dialogue_era era)
{
	struct visit *visit = &run->visit;
	bool symbols = run->checkup->kind == DIALOGUE_LSP;
	const struct asked *opening, *asked;

	if (!start(run, era, NULL, true))
		return false;
	if (open_session(run, &opening) == OPENED) {
		asked = symbols ? visit_ask(visit, "workspace/symbol", json_pack("{s:s}", "query", "")) :
				  visit_ask(visit, dialogue_ping(visit->dialogue), json_object());
		visit_cancel(visit, asked);
		check_alive(run, CHECK_ALIVE, "after the cancel of a harmless request");
		if (symbols && asked->answer != NULL && dialogue_says_cancelled(asked->answer))
			TELL_ONE(run, CHECK_CANCEL, VERDICT_YES, "%s was answered as cancelled", asked->method);
	}
	return leave(run);
}

enum checkup_end
checkup_run(const struct checkup *checkup, struct verdicts *verdicts, char failure[CHECKUP_FAILURE], int *signal)
{
	struct run run = { .checkup = checkup, .verdicts = verdicts, .failure = failure, .called = MSEC_NEVER };
	enum dialogue_era era;
	bool opened = false, on;

	failure[0] = '\0';
	on = visit_for_most(&run, &era, &opened);
	if (on && checkup->kind == DIALOGUE_MCP && opened) {
		if (era == ERA_DISCOVER)
			TELL_ONE(&run, CHECK_DISCOVER, VERDICT_YES, "it speaks MCP 2026-07-28 only");
		else
			on = visit_for_discover(&run);
	}
	if (on && opened && verdicts->findings[CHECK_ALIVE].verdict == VERDICT_NOT_TESTED)
		on = visit_for_cancel(&run, era);
	if (on && opened && run.callable)
		visit_for_timeout(&run, era);
	else if (on && opened && checkup->call != NULL)
		TELL_ONE(&run, CHECK_TIMEOUT, VERDICT_NOT_TESTED, "the call fails");
	*signal = run.signal;
	return run.signal != 0 ? CHECKUP_INTERRUPTED : failure[0] != '\0' ? CHECKUP_FAILED : CHECKUP_DONE;
}
