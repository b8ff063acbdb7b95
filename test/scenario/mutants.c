#include "scenario/mutants.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/table.h"
#include "core/dialect.h"
#include "scenario/play.h"

#ifdef DECISIONS_MUTABLE

enum {
	SECONDS_MAX = 2, /* of processor time; a tenth is enough */
	BITS = 16,       /* bits of a mask that are changed */
};

struct mutants {
	const struct script *script;
	size_t count, found, excused, survived;
};

/* Names, for the report and for the excuses. */

static const char *const states[] = { "none", "queued", "waiting", "cancelling", "abandoned" };

static const char *const events[] = { "response", "failure", "confirmed", "malformed", "oversized",
	"declined", "stream-ended", "progress", "progress-owed", "cancel", "cancel-owed",
	"cancel-acknowledged", "turn-cancelled", "deadline", "deadline-owed", "unanswered",
	"person", "person-owed", "requester-gone", "terminated", "receiver-gone", "receiver-lost",
	"receiver-deaf" };

_Static_assert(sizeof(states) / sizeof(states[0]) == REQUEST_STATES, "each state has a name");
_Static_assert(sizeof(events) / sizeof(events[0]) == DECIDE_EVENTS, "each event has a name");

static const char *const steps[BITS] = { "pass", "cancel", "answer", "extend", "report" };

static const char *const flags[BITS] = { "OWES_ANSWER", "OWN_TOKENS", "HAS_ERAS", "REASONS",
	"CANCELS_START", "DEADLINE_WAITS", "REPLAYS", "TURNS_RUN_ON" };

static const char *const traits[BITS] = { "HANDSHAKE", "DISCOVERY", "SHUTDOWN", "LONG", "STREAM",
	"TURN", "PERSON", "CODE", "TOOL", "SETTING", "UNSETTING", "CLOSE", "EACH" };

struct excuse {
	const char *name; /* a pattern of fnmatch(3) */
	const char *reason;
	bool needed;
};

#define NO_MESSAGE "there is no message at hand that could pass"
#define REPORTED "a message at hand is always reported"
#define SILENT "its word is not reported"
#define NOT_EXTENDED "its idle deadline has ended, or ends now"
#define ONLY_AWAITED "only a request whose answer is awaited is looked for"
#define ONLY_WAITING "only a stream that waits is looked for"
#define NO_HANDSHAKE "it has no handshake"
#define NO_CANCEL "it has no cancel"
#define NO_PROGRESS "it has no progress tokens"
#define NAMED_ONLY "requests of the agent have no deadline unless they are named"
#define NO_TURNS "none of its methods is a turn, and it has no progress that tells of one"
#define SHELL_ONLY "it decides how the shell ends the server"

/*
 * Mutants that cannot be observed, each with its reason. An excuse that excuses nothing is a fault.
 */
static struct excuse excuses[] = {
	{ "*/deadline*: also pass", NO_MESSAGE, false },
	{ "*/person*: also pass", NO_MESSAGE, false },
	{ "*/*-gone: also pass", NO_MESSAGE, false },
	{ "*/unanswered: also pass", NO_MESSAGE, false },
	{ "[ca]*/unanswered: *", "a deadline of what waits no more is that of every request",
	    false },
	{ "queued/declined: *", "the client has gone: nothing of it follows", false },
	{ "*/declined: also report", REPORTED, false },
	{ "cancelling/declined: no report", REPORTED, false },
	{ "*/terminated: also pass", NO_MESSAGE, false },
	{ "*/receiver-lost: also pass", NO_MESSAGE, false },
	{ "*/receiver-deaf: also pass", NO_MESSAGE, false },
	{ "*/cancel-acknowledged: also pass", NO_MESSAGE, false },
	{ "*/turn-cancelled: also pass", NO_MESSAGE, false },
	{ "*/malformed: also pass", NO_MESSAGE, false },
	{ "*/oversized: also pass", NO_MESSAGE, false },
	{ "*/response*: also report", REPORTED, false },
	{ "*/failure: also report", REPORTED, false },
	{ "cancelling/confirmed: also report", REPORTED, false },
	{ "queued/failure: then cancelling", "one cell is written for each response", false },
	{ "[qwa]*/confirmed: *", "only what is CANCELLING is confirmed", false },
	{ "*/progress*: also report", REPORTED, false },
	{ "*/stream-ended: also report", REPORTED, false },
	{ "*/cancel: also report", REPORTED, false },
	{ "*/cancel: no report", REPORTED, false },
	{ "abandoned/cancel-owed: no report", REPORTED, false },
	{ "[wca]*/*: also extend", NOT_EXTENDED, false },
	{ "queued/[!rs]*: also extend", NOT_EXTENDED, false },
	{ "queued/*-gone: also extend", NOT_EXTENDED, false },
	{ "queued/receiver-deaf: also extend", NOT_EXTENDED, false },
	{ "queued/receiver-lost: also extend", "its idle deadline starts when it is released",
	    false },
	{ "abandoned/malformed: *", ONLY_AWAITED, false },
	{ "[ca]*/stream-ended: *", ONLY_WAITING, false },
	{ "[wca]*/turn-cancelled: another word", SILENT, false },
	{ "queued/receiver-lost: another word", SILENT, false },
	{ "waiting/cancel: also pass", "a cancel that is forwarded has passed", false },
	{ "waiting/cancel-owed: also pass", "a cancel that is forwarded has passed", false },
	{ "waiting/stream-ended: another word", "a cancel that passes is reported as one", false },
	{ "abandoned/oversized: another word", "the size itself is reported, not the request",
	    false },
	{ "abandoned/cancel-acknowledged: *", "it has been cancelled: nothing has to be decided",
	    false },
	{ "abandoned/*-gone: another word", SILENT, false },
	{ "abandoned/receiver-lost: another word", SILENT, false },
	{ "abandoned/receiver-deaf: *", ONLY_AWAITED, false },
	{ "abandoned/person*: *", ONLY_AWAITED, false },
	{ "abandoned/turn-cancelled: *", "only turns that have not ended are looked for", false },
	{ "abandoned/terminated: another word", SILENT, false },
	{ "[lb]sp: another closed", SHELL_ONLY, false },
	{ "acp2: another name", "it is told before the version is known", false },
	{ "acp2: another closed_code", "a session is open once the handshake is answered", false },
	{ "none: another closed_code", NO_HANDSHAKE, false },
	{ "none: another name", "users ask for it by this name, and it is reported nowhere",
	    false },
	{ "none: another declared_cancel", NO_CANCEL, false },
	{ "none: also REASONS", NO_CANCEL, false },
	{ "none: also CANCELS_START", NO_CANCEL, false },
	{ "none: also OWN_TOKENS", NO_PROGRESS, false },
	{ "bsp: also OWN_TOKENS", NO_PROGRESS, false },
	{ "bsp: also TURNS_RUN_ON", NO_TURNS, false },
	{ "none: also TURNS_RUN_ON", NO_TURNS, false },
	{ "mcp: tools/list: *", "only the shell tells of a rule whose tool is not listed", false },
	{ "acp: terminal/wait_for_exit: not LONG", NAMED_ONLY, false },
	{ "acp: terminal/wait_for_exit: is unknown", NAMED_ONLY, false },
};

enum { EXCUSES = sizeof(excuses) / sizeof(excuses[0]) };

/* Trying one */

static bool
holds(const struct scenario *scenario)
{
	struct play_setup setup = { SPLIT_WHOLE, FILLER_NONE, false, NULL };
	struct verdict verdict;

	play(scenario, &setup, &verdict);
	buf_free(&verdict.text);
	return !verdict.failed;
}

/*
 * Runs in a child process, as a mutant may trip an assertion or loop for ever: 1, some scenario
 * failed.
 */
static int
play_all(const struct mutants *mutants, const char *name)
{
	struct rlimit limit = { SECONDS_MAX, SECONDS_MAX + 1 };
	int null = open("/dev/null", O_WRONLY);
	size_t i;

	if (null >= 0)
		dup2(null, STDERR_FILENO);
	setrlimit(RLIMIT_CPU, &limit);
	for (i = 0; i < mutants->script->count; i++) {
		const struct scenario *scenario = &mutants->script->scenarios[i];

		if (!holds(scenario)) {
			printf("%-56s -> %s:%u %s\n", name, scenario->file, scenario->number,
			    scenario->title);
			fflush(stdout);
			return 1;
		}
	}
	return 0;
}

static void
count_survivor(struct mutants *mutants, const char *name)
{
	size_t i = 0;

	while (i < EXCUSES && fnmatch(excuses[i].name, name, 0) != 0)
		i++;
	if (i < EXCUSES) {
		excuses[i].needed = true;
		mutants->excused++;
	} else {
		mutants->survived++;
	}
	printf("%-56s -> %s%s\n", name, i < EXCUSES ? "cannot be seen: " : "SURVIVED",
	    i < EXCUSES ? excuses[i].reason : "");
}

/* Plays the scenarios with these bytes at this place of the tables. */
static void __attribute__((format(printf, 5, 6))) try_mutant(struct mutants *mutants, void *at,
    const void *bytes, size_t size, const char *format, ...)
{
	char name[96];
	va_list list;
	int status;
	pid_t pid;

	va_start(list, format);
	vsnprintf(name, sizeof(name), format, list);
	va_end(list);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		alarm(50);
		memcpy(at, bytes, size);
		_exit(play_all(mutants, name));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		abort();
	mutants->count++;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		count_survivor(mutants, name);
		return;
	}
	mutants->found++;
	if (!WIFEXITED(status))
		printf("%-56s -> crash\n", name);
}

/* The mutants */

static void
try_cell(struct mutants *mutants, int state, int event)
{
	struct decision *cell = &decisions[state][event];
	unsigned short changed;
	unsigned char value, words[2];
	char name[64];
	int i;

	snprintf(name, sizeof(name), "%s/%s", states[state], events[event]);
	for (i = 0; steps[i] != NULL; i++) {
		changed = (unsigned short)(cell->steps ^ 1u << i);
		try_mutant(mutants, &cell->steps, &changed, sizeof(changed), "%s: %s %s", name,
		    cell->steps >> i & 1 ? "no" : "also", steps[i]);
	}
	for (i = 0; i < REQUEST_STATES; i++) {
		value = (unsigned char)i;
		if (i != cell->next && i != REQUEST_QUEUED) /* derived, never stored */
			try_mutant(mutants, &cell->next, &value, 1, "%s: then %s", name, states[i]);
	}
	for (i = 0; i < 2; i++)
		words[i] = (unsigned char)((cell->why[i] + 1) % WHY_COUNT);
	if (cell->why[0] == cell->why[1]) {
		try_mutant(mutants, cell->why, words, 2, "%s: another word", name);
		return;
	}
	try_mutant(mutants, &cell->why[0], &words[0], 1, "%s: another word", name);
	try_mutant(mutants, &cell->why[1], &words[1], 1, "%s: another word for the server's", name);
}

/* Members of a row that are a number or an enum: changed to `one`, or to `other` if it is `one`. */
struct number {
	const char *name;
	size_t offset;
	int one, other;
	bool optional; /* 0 stands for none */
};

#define NUMBER(type, member, one, other, optional) \
	{ \
#member, offsetof(struct type, member), one, other, optional \
	}

static const struct number dialect_numbers[] = {
	NUMBER(dialect, progress_field, SCAN_SESSION_ID, SCAN_TASK_ID, true),
	NUMBER(dialect, token_fields[0], SCAN_SESSION_ID, SCAN_TASK_ID, true),
	NUMBER(dialect, token_fields[1], SCAN_SESSION_ID, SCAN_TASK_ID, true),
	NUMBER(dialect, timeout_code, 1, 2, false),
	NUMBER(dialect, failure_code, 1, 2, false),
	NUMBER(dialect, closed_code, 1, 2, false),
};

static const struct number asked_object =
    NUMBER(dialect, asked_object, SCAN_PARAMS, SCAN_REQUEST_META, false);
static const struct number name_field = NUMBER(method, name_field, SCAN_URI, SCAN_NAME, false);
static const struct number cancel_field =
    NUMBER(cancel, field, SCAN_REQUEST_ID, SCAN_PARAMS_ID, false);

static void
try_number(struct mutants *mutants, void *row, const char *name, const struct number *number)
{
	int *at = (int *)(void *)((char *)row + number->offset);
	int value = *at == number->one ? number->other : number->one;

	if (!number->optional || *at != 0)
		try_mutant(mutants, at, &value, sizeof(value), "%s: another %s", name,
		    number->name);
}

static void
try_text(struct mutants *mutants, const char **at, const char *name, const char *member)
{
	const char *value = "mutant";

	if (*at != NULL)
		try_mutant(mutants, at, &value, sizeof(value), "%s: another %s", name, member);
}

static void
try_cancel(struct mutants *mutants, const struct cancel **at, const char *name, const char *member)
{
	const struct cancel *value =
	    *at == &dialect_cancels[0] ? &dialect_cancels[1] : &dialect_cancels[0];

	try_mutant(mutants, at, &value, sizeof(value), "%s: another %s", name, member);
}

static void
try_method(struct mutants *mutants, const char *dialect, struct method *method)
{
	const char *cancelled = method->cancelled == NULL ? "{}" : NULL;
	char name[64];
	size_t none = 0;
	int i;

	snprintf(name, sizeof(name), "%s: %s", dialect, method->name);
	for (i = 0; i < BITS; i++) {
		unsigned less = method->traits & ~(1u << i);

		if (less != method->traits)
			try_mutant(mutants, &method->traits, &less, sizeof(less), "%s: not %s",
			    name, traits[i]);
	}
	try_mutant(mutants, &method->len, &none, sizeof(none), "%s: is unknown", name);
	try_number(mutants, method, name, &name_field);
	try_mutant(mutants, &method->cancelled, &cancelled, sizeof(cancelled),
	    "%s: another cancelled", name);
}

static void
try_dialect(struct mutants *mutants, struct dialect *dialect, const char *name)
{
	size_t i;
	int bit;

	for (bit = 0; flags[bit] != NULL; bit++) {
		unsigned value = dialect->flags ^ 1u << bit;

		try_mutant(mutants, &dialect->flags, &value, sizeof(value), "%s: %s %s", name,
		    dialect->flags >> bit & 1 ? "not" : "also", flags[bit]);
	}
	try_text(mutants, &dialect->name, name, "name");
	try_text(mutants, &dialect->turn_cancel, name, "turn_cancel");
	try_text(mutants, &dialect->progress, name, "progress");
	try_text(mutants, &dialect->task_cancel, name, "task_cancel");
	try_text(mutants, &dialect->task_status, name, "task_status");
	try_text(mutants, &dialect->tasks_since, name, "tasks_since");
	try_text(mutants, &dialect->asked_member, name, "asked_member");
	try_text(mutants, &dialect->heartbeat, name, "heartbeat");
	try_text(mutants, &dialect->opened, name, "opened");
	try_text(mutants, &dialect->closed, name, "closed");
	try_text(mutants, &dialect->stream_opened, name, "stream_opened");
	try_text(mutants, &dialect->ping, name, "ping");
	try_text(mutants, &dialect->modern_ping, name, "modern_ping");
	for (i = 0; i < DIALECT_LISTS && dialect->lists[i].notification != NULL; i++) {
		try_text(mutants, &dialect->lists[i].capability, name, "list capability");
		try_text(mutants, &dialect->lists[i].notification, name, "list notification");
	}
	for (i = 0; i < sizeof(dialect_numbers) / sizeof(dialect_numbers[0]); i++)
		try_number(mutants, dialect, name, &dialect_numbers[i]);
	if (dialect->asked_member != NULL)
		try_number(mutants, dialect, name, &asked_object);
	try_cancel(mutants, &dialect->cancel, name, "cancel");
	try_cancel(mutants, &dialect->declared_cancel, name, "declared_cancel");
}

static void
try_spelling(struct mutants *mutants, struct cancel *cancel)
{
	bool owes = !cancel->owes;

	try_text(mutants, &cancel->method, cancel->method, "method");
	try_text(mutants, &cancel->key, cancel->method, "key");
	try_number(mutants, cancel, cancel->method, &cancel_field);
	try_mutant(mutants, &cancel->owes, &owes, sizeof(owes), "%s: another duty to answer",
	    cancel->method);
}

static void
try_all(struct mutants *mutants)
{
	static const struct {
		struct dialect *row;
		const char *name;
	} dialects[] = { { &dialect_mcp, "mcp" }, { &dialect_acp, "acp" },
		{ &dialect_acp2, "acp2" }, { &dialect_lsp, "lsp" }, { &dialect_bsp, "bsp" },
		{ &dialect_none, "none" } };
	struct method *method;
	struct cancel *cancel;
	int state, event;
	size_t i;

	for (state = REQUEST_QUEUED; state < REQUEST_STATES; state++)
		for (event = 0; event < DECIDE_EVENTS; event++)
			try_cell(mutants, state, event);
	for (i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++) {
		try_dialect(mutants, dialects[i].row, dialects[i].name);
		/* versions share them */
		if (i > 0 && dialects[i].row->methods == dialects[i - 1].row->methods)
			continue;
		for (method = dialects[i].row->methods; method->name != NULL; method++)
			try_method(mutants, dialects[i].name, method);
	}
	for (cancel = dialect_cancels; cancel->method != NULL; cancel++)
		try_spelling(mutants, cancel);
}

/* The run */

/* Whether all scenarios pass without any change. */
static bool
is_sound(const struct script *script)
{
	bool sound = true;
	size_t i;

	for (i = 0; i < script->count; i++) {
		const struct scenario *scenario = &script->scenarios[i];

		if (holds(scenario))
			continue;
		printf("%s:%u: %s: fails without any change\n", scenario->file, scenario->number,
		    scenario->title);
		sound = false;
	}
	return sound;
}

bool
mutants_run(const struct script *script)
{
	struct mutants mutants = { .script = script };
	bool sound = is_sound(script);
	size_t i;

	if (!sound)
		return false;
	try_all(&mutants);
	for (i = 0; i < EXCUSES; i++) {
		if (!excuses[i].needed)
			printf("%-56s    excuses nothing\n", excuses[i].name);
		sound = sound && excuses[i].needed;
	}
	printf("%zu mutants: %zu found, %zu cannot be seen, %zu survived\n", mutants.count,
	    mutants.found, mutants.excused, mutants.survived);
	return sound && mutants.survived == 0;
}

#else

bool
mutants_run(const struct script *script)
{
	(void)script;
	printf("built without -DDECISIONS_MUTABLE: make mutants\n");
	return false;
}

#endif
