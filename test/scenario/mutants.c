#include "scenario/mutants.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/decide.h"
#include "core/mem.h"
#include "scenario/play.h"

#ifdef DECISIONS_MUTABLE

enum { METHODS_MAX = 32, SECONDS_MAX = 2 /* of processor time; a tenth is enough */ };

enum mutant_kind {
	MUTANT_STEP,  /* value: the step that is toggled */
	MUTANT_NEXT,  /* value: the state that follows */
	MUTANT_WHY,   /* the word */
	MUTANT_FLAG,  /* value: the flag that is toggled */
	MUTANT_TEXT,  /* value: which string of the dialect */
	MUTANT_FIELD, /* value: which field of the dialect */
	MUTANT_TRAIT, /* value: the trait of method `row` that is toggled */
	MUTANT_NAME,  /* the name of method `row` */
	MUTANT_NAMED, /* what method `row` names */
};

struct mutant {
	enum mutant_kind kind;
	int row, event; /* of the table, or of the dialect's methods */
	unsigned value;
	char name[96];
};

struct candidate { /* a scenario that may find a mutant */
	const struct scenario *scenario;
	size_t size;
};

struct mutants {
	struct candidate *candidates; /* the short ones first: most mutants are found by them */
	size_t candidate_count;
	struct mutant *list;
	size_t count, found, excused, survived;
	size_t *progress; /* shared with the children: which candidate is played */
};

struct excuse {
	const char *name; /* a pattern of fnmatch(3) */
	const char *reason;
};

/* What cannot be told apart from outside, each with its reason. */
static const struct excuse excuses[] = {
	{ "none/*: also *", "there is no request that a step could be for" },
	{ "none/*: no *", "there is no request that a step could be for" },
	{ "none/*: then *", "there is no request that could go on" },
	{ "none/cancel-owed: another word*", "what does not exist is owed no answer" },
	{ "none/deadline: another word*", "what does not exist has no deadline" },
	{ "none/requester-gone: another word*", "it is asked of existing requests only" },
	{ "none/terminated: another word*", "it is asked of existing requests only" },
	{ "waiting/cancel*: also pass", "a cancel that is handed on has passed" },
	{ "cancelling/cancel: *", "whether an answer is owed stays the same for a session" },
	{ "abandoned/*-gone: another word*", "it is silent" },
	{ "abandoned/terminated: another word*", "it is silent" },
	{ "initialize: also CODE", "start-up has a deadline of its own" },
	{ "server/discover: also CODE", "start-up has a deadline of its own" },
	{ "subscriptions/listen: also CODE", "it has no deadline" },
	{ "tasks/result: also CODE", "it has no deadline" },
	{ "elicitation/create: also CODE", "it has no deadline" },
	{ "sampling/createMessage: also CODE", "it has no deadline" },
	{ "subscriptions/listen: also PERSON", "it has no deadline, and requests of the client stop no clock" },
	{ "tasks/result: also PERSON", "it has no deadline, and requests of the client stop no clock" },
	{ "elicitation/create: also EXEMPT", "it has no deadline, and only requests of the client are drained" },
	{ "sampling/createMessage: also EXEMPT", "it has no deadline, and only requests of the client are drained" },
	{ NULL, NULL },
};

static const char *const state_names[REQUEST_STATES] = {
	[REQUEST_NONE] = "none",
	[REQUEST_QUEUED] = "queued",
	[REQUEST_WAITING] = "waiting",
	[REQUEST_CANCELLING] = "cancelling",
	[REQUEST_ABANDONED] = "abandoned",
};

static const char *const event_names[DECIDE_EVENTS] = {
	[EVENT_RESPONSE] = "response",
	[EVENT_CANCEL] = "cancel",
	[EVENT_CANCEL_OWED] = "cancel-owed",
	[EVENT_DEADLINE] = "deadline",
	[EVENT_REQUESTER_GONE] = "requester-gone",
	[EVENT_TERMINATED] = "terminated",
	[EVENT_RECEIVER_GONE] = "receiver-gone",
};

struct bit {
	const char *name;
	unsigned bit;
};

static const struct bit steps[] = {
	{ "pass", DECIDE_PASS },
	{ "withdraw", DECIDE_WITHDRAW },
	{ "cancel", DECIDE_CANCEL },
	{ "answer", DECIDE_ANSWER },
	{ "silent", DECIDE_SILENT },
	{ NULL, 0 },
};

static const struct bit flags[] = {
	{ "OWES_ANSWER", DIALECT_OWES_ANSWER },
	{ "ALIASES_IDS", DIALECT_ALIASES_IDS },
	{ "DROPS_UNKNOWN_TOKENS", DIALECT_DROPS_UNKNOWN_TOKENS },
	{ "HAS_ERAS", DIALECT_HAS_ERAS },
	{ "CANCELS_META", DIALECT_CANCELS_META },
	{ "TASKS", DIALECT_TASKS },
	{ NULL, 0 },
};

static const struct bit traits[] = {
	{ "START", METHOD_START },
	{ "NO_CANCEL", METHOD_NO_CANCEL },
	{ "EXEMPT", METHOD_EXEMPT },
	{ "PERSON", METHOD_PERSON },
	{ "CODE", METHOD_CODE },
	{ "PROBE", METHOD_PROBE },
	{ "TOOL", METHOD_TOOL },
	{ "HANDSHAKE", METHOD_HANDSHAKE },
	{ "STREAM", METHOD_STREAM },
	{ NULL, 0 },
};

enum dialect_text { TEXT_CANCEL, TEXT_CANCEL_KEY, TEXT_PROGRESS, TEXT_TASK_CANCEL, TEXT_TASK_STATUS, TEXTS };

static const char *const text_names[TEXTS] = {
	[TEXT_CANCEL] = "cancel",
	[TEXT_CANCEL_KEY] = "cancel_key",
	[TEXT_PROGRESS] = "progress",
	[TEXT_TASK_CANCEL] = "task_cancel",
	[TEXT_TASK_STATUS] = "task_status",
};

enum dialect_field { FIELD_CANCEL, FIELD_PROGRESS, FIELD_REQUEST_TOKEN, FIELDS };

static const char *const field_names[FIELDS] = {
	[FIELD_CANCEL] = "cancel_field",
	[FIELD_PROGRESS] = "progress_field",
	[FIELD_REQUEST_TOKEN] = "request_token_field",
};

static struct mutant *
add(struct mutants *mutants, enum mutant_kind kind, int row, int event, unsigned value)
{
	struct mutant *mutant;

	mutants->list = mem_resize(mutants->list, mutants->count + 1, sizeof(*mutants->list));
	mutant = &mutants->list[mutants->count++];
	*mutant = (struct mutant){ .kind = kind, .row = row, .event = event, .value = value };
	return mutant;
}

/* Whether the step means anything there: only a message at hand can pass, and only the lack of one be silent. */
static bool
is_sensible(unsigned step, int event)
{
	bool message = event == EVENT_RESPONSE || event == EVENT_CANCEL || event == EVENT_CANCEL_OWED;

	return step == DECIDE_PASS ? message : step == DECIDE_SILENT ? !message : true;
}

static void
add_cell(struct mutants *mutants, int state, int event)
{
	const struct decision *cell = &decisions[state][event];
	const struct bit *step;
	struct mutant *mutant;
	int next;

	for (step = steps; step->name != NULL; step++) {
		if (!is_sensible(step->bit, event))
			continue;
		mutant = add(mutants, MUTANT_STEP, state, event, step->bit);
		snprintf(mutant->name, sizeof(mutant->name), "%s/%s: %s %s", state_names[state], event_names[event],
		    cell->steps & step->bit ? "no" : "also", step->name);
	}
	for (next = REQUEST_NONE; next < REQUEST_STATES; next++) {
		if (next == cell->next || next == REQUEST_QUEUED)
			continue;
		mutant = add(mutants, MUTANT_NEXT, state, event, (unsigned)next);
		snprintf(mutant->name, sizeof(mutant->name), "%s/%s: then %s", state_names[state], event_names[event],
		    state_names[next]);
	}
	mutant = add(mutants, MUTANT_WHY, state, event, 0);
	snprintf(mutant->name, sizeof(mutant->name), "%s/%s: another word than %s", state_names[state],
	    event_names[event], why_word((enum why)cell->why));
}

static void
add_method(struct mutants *mutants, int row)
{
	const struct method *method = &dialect_mcp.methods[row];
	const struct bit *trait;
	struct mutant *mutant;

	for (trait = traits; trait->name != NULL; trait++) {
		mutant = add(mutants, MUTANT_TRAIT, row, 0, trait->bit);
		snprintf(mutant->name, sizeof(mutant->name), "%s: %s %s", method->name,
		    method->traits & trait->bit ? "not" : "also", trait->name);
	}
	mutant = add(mutants, MUTANT_NAME, row, 0, 0);
	snprintf(mutant->name, sizeof(mutant->name), "%s: another name", method->name);
	mutant = add(mutants, MUTANT_NAMED, row, 0, 0);
	snprintf(mutant->name, sizeof(mutant->name), "%s: names something else", method->name);
}

static void
add_all(struct mutants *mutants)
{
	const struct bit *flag;
	struct mutant *mutant;
	int i, event;

	for (i = 0; i < REQUEST_STATES; i++)
		for (event = 0; event < DECIDE_EVENTS; event++)
			add_cell(mutants, i, event);
	for (flag = flags; flag->name != NULL; flag++) {
		mutant = add(mutants, MUTANT_FLAG, 0, 0, flag->bit);
		snprintf(mutant->name, sizeof(mutant->name), "dialect: %s %s",
		    dialect_mcp.flags & flag->bit ? "not" : "also", flag->name);
	}
	for (i = 0; i < TEXTS; i++) {
		mutant = add(mutants, MUTANT_TEXT, 0, 0, (unsigned)i);
		snprintf(mutant->name, sizeof(mutant->name), "dialect: another %s", text_names[i]);
	}
	for (i = 0; i < FIELDS; i++) {
		mutant = add(mutants, MUTANT_FIELD, 0, 0, (unsigned)i);
		snprintf(mutant->name, sizeof(mutant->name), "dialect: another %s", field_names[i]);
	}
	for (i = 0; dialect_mcp.methods[i].name != NULL; i++)
		add_method(mutants, i);
}

static void
change_text(struct dialect *dialect, unsigned which)
{
	const char **const texts[TEXTS] = {
		[TEXT_CANCEL] = &dialect->cancel,
		[TEXT_CANCEL_KEY] = &dialect->cancel_key,
		[TEXT_PROGRESS] = &dialect->progress,
		[TEXT_TASK_CANCEL] = &dialect->task_cancel,
		[TEXT_TASK_STATUS] = &dialect->task_status,
	};

	*texts[which] = "mutant";
}

static void
change_field(struct dialect *dialect, unsigned which)
{
	enum scan_field *const fields[FIELDS] = {
		[FIELD_CANCEL] = &dialect->cancel_field,
		[FIELD_PROGRESS] = &dialect->progress_field,
		[FIELD_REQUEST_TOKEN] = &dialect->request_token_field,
	};

	*fields[which] = SCAN_SESSION_ID;
}

static void
change_cell(const struct mutant *mutant)
{
	struct decision *cell = &decisions[mutant->row][mutant->event];

	if (mutant->kind == MUTANT_STEP)
		cell->steps ^= (unsigned char)mutant->value;
	else if (mutant->kind == MUTANT_NEXT)
		cell->next = (unsigned char)mutant->value;
	else
		cell->why = WHY_STATISTICS;
}

/* Changes the table, or the dialect and its methods, which are copies. */
static void
apply(const struct mutant *mutant, struct dialect *dialect, struct method *methods)
{
	struct method *method = &methods[mutant->row];

	switch (mutant->kind) {
	case MUTANT_STEP:
	case MUTANT_NEXT:
	case MUTANT_WHY:
		change_cell(mutant);
		break;
	case MUTANT_FLAG:
		dialect->flags ^= mutant->value;
		break;
	case MUTANT_TEXT:
		change_text(dialect, mutant->value);
		break;
	case MUTANT_FIELD:
		change_field(dialect, mutant->value);
		break;
	case MUTANT_TRAIT:
		method->traits ^= mutant->value;
		break;
	case MUTANT_NAME:
		method->name = "mutant";
		break;
	case MUTANT_NAMED:
		method->name_field = method->name_field == SCAN_URI ? SCAN_NAME : SCAN_URI;
		break;
	}
}

static bool
holds(const struct scenario *scenario, const struct dialect *dialect)
{
	struct play_setup setup = { &subject_core, dialect, SPLIT_WHOLE, false, NULL };
	struct verdict verdict;

	play(scenario, &setup, &verdict);
	buf_free(&verdict.text);
	return !verdict.failed;
}

/* In a child of its own: a mutant may trip an assertion, or never come to an end. */
static int
play_mutant(const struct mutant *mutant, const struct mutants *mutants)
{
	struct method methods[METHODS_MAX];
	struct dialect dialect = dialect_mcp;
	struct rlimit limit = { SECONDS_MAX, SECONDS_MAX + 1 };
	size_t i;

	for (i = 0; i == 0 || dialect_mcp.methods[i - 1].name != NULL; i++)
		methods[i] = dialect_mcp.methods[i];
	dialect.methods = methods;
	apply(mutant, &dialect, methods);
	setrlimit(RLIMIT_CPU, &limit);
	for (i = 0; i < mutants->candidate_count; i++) {
		*mutants->progress = i;
		if (!holds(mutants->candidates[i].scenario, &dialect))
			return 1;
	}
	return 0;
}

/* true: some scenario fails, crashes or does not end. */
static bool
is_found(const struct mutant *mutant, struct mutants *mutants, int *status)
{
	pid_t pid;
	int null;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		abort();
	if (pid == 0) {
		null = open("/dev/null", O_WRONLY);
		if (null >= 0)
			dup2(null, STDERR_FILENO);
		_exit(play_mutant(mutant, mutants));
	}
	if (waitpid(pid, status, 0) != pid)
		abort();
	return !WIFEXITED(*status) || WEXITSTATUS(*status) != 0;
}

static const char *
excuse_of(const struct mutant *mutant)
{
	const struct excuse *excuse;

	for (excuse = excuses; excuse->name != NULL; excuse++)
		if (fnmatch(excuse->name, mutant->name, 0) == 0)
			return excuse->reason;
	return NULL;
}

static void
try_mutant(const struct mutant *mutant, struct mutants *mutants)
{
	const char *excuse = excuse_of(mutant);
	const struct scenario *scenario;
	int status;

	if (!is_found(mutant, mutants, &status)) {
		mutants->excused += excuse != NULL;
		mutants->survived += excuse == NULL;
		printf("%-56s -> %s%s\n", mutant->name,
		    excuse == NULL ? "SURVIVED" : "cannot be seen: ", excuse == NULL ? "" : excuse);
		return;
	}
	scenario = mutants->candidates[*mutants->progress].scenario;
	printf("%-56s -> %s:%u %s%s\n", mutant->name, scenario->file, scenario->number, scenario->title,
	    WIFEXITED(status) ? "" : " (crash)");
	mutants->found++;
	if (excuse != NULL) {
		printf("%-56s    is found, so needs no excuse\n", mutant->name);
		mutants->survived++;
	}
}

static int
compare(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;

	if (left->size != right->size)
		return left->size < right->size ? -1 : 1;
	return left->scenario < right->scenario ? -1 : left->scenario > right->scenario;
}

/* Those that hold without any change. false: some do not. */
static bool
choose_candidates(const struct script *script, struct mutants *mutants)
{
	size_t i, line;

	mutants->candidates = mem_new(script->count * sizeof(*mutants->candidates));
	for (i = 0; i < script->count; i++) {
		const struct scenario *scenario = &script->scenarios[i];
		struct candidate *candidate = &mutants->candidates[mutants->candidate_count];

		if (!holds(scenario, &dialect_mcp)) {
			printf("%s:%u: %s: fails without any change\n", scenario->file, scenario->number,
			    scenario->title);
			continue;
		}
		candidate->scenario = scenario;
		for (line = 0; line < scenario->line_count; line++)
			candidate->size += scenario->lines[line].text.len;
		mutants->candidate_count++;
	}
	qsort(mutants->candidates, mutants->candidate_count, sizeof(*mutants->candidates), compare);
	return mutants->candidate_count == script->count;
}

bool
mutants_run(const struct script *script)
{
	struct mutants mutants = { .list = NULL };
	bool sound;
	size_t i;

	mutants.progress =
	    mmap(NULL, sizeof(*mutants.progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (mutants.progress == MAP_FAILED)
		abort();
	sound = choose_candidates(script, &mutants);
	add_all(&mutants);
	for (i = 0; i < mutants.count; i++)
		try_mutant(&mutants.list[i], &mutants);
	printf("%zu mutants: %zu found, %zu cannot be seen, %zu survived\n", mutants.count, mutants.found,
	    mutants.excused, mutants.survived);
	free(mutants.list);
	free(mutants.candidates);
	munmap(mutants.progress, sizeof(*mutants.progress));
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
