#include "scenario/mutate.h"

#ifdef DECISIONS_MUTABLE

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/decide.h"
#include "core/mem.h"

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
	[EVENT_CANCEL_ACKNOWLEDGED] = "cancel-acknowledged",
	[EVENT_DEADLINE] = "deadline",
	[EVENT_DEADLINE_OWED] = "deadline-owed",
	[EVENT_REQUESTER_GONE] = "requester-gone",
	[EVENT_TERMINATED] = "terminated",
	[EVENT_RECEIVER_GONE] = "receiver-gone",
	[EVENT_RECEIVER_LOST] = "receiver-lost",
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
	{ "REASONS", DIALECT_REASONS },
	{ "CANCELS_START", DIALECT_CANCELS_START },
	{ "DEADLINE_WAITS", DIALECT_DEADLINE_WAITS },
	{ "SESSIONS", DIALECT_SESSIONS },
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
	{ "TURN", METHOD_TURN },
	{ "SETTING", METHOD_SETTING },
	{ "UNSETTING", METHOD_UNSETTING },
	{ NULL, 0 },
};

static struct dialect *const dialects[] = { &dialect_mcp, &dialect_acp, &dialect_lsp, &dialect_bsp, &dialect_none };

enum { DIALECTS = sizeof(dialects) / sizeof(dialects[0]) };

enum {
	TEXT_NAME,
	TEXT_TURN_CANCEL,
	TEXT_PROGRESS,
	TEXT_TASK_CANCEL,
	TEXT_TASK_STATUS,
	TEXT_ASKED,
	TEXT_OPENED,
	TEXT_STREAM_OPENED,
	TEXT_PING,
	TEXT_MODERN_PING,
	TEXTS
};

static const char *const text_names[TEXTS] = {
	[TEXT_NAME] = "name",
	[TEXT_TURN_CANCEL] = "turn_cancel",
	[TEXT_PROGRESS] = "progress",
	[TEXT_TASK_CANCEL] = "task_cancel",
	[TEXT_TASK_STATUS] = "task_status",
	[TEXT_ASKED] = "asked_member",
	[TEXT_OPENED] = "opened",
	[TEXT_STREAM_OPENED] = "stream_opened",
	[TEXT_PING] = "ping",
	[TEXT_MODERN_PING] = "modern_ping",
};

static const char **
text_of(struct dialect *dialect, unsigned which)
{
	const char **const texts[TEXTS] = {
		[TEXT_NAME] = &dialect->name,
		[TEXT_TURN_CANCEL] = &dialect->turn_cancel,
		[TEXT_PROGRESS] = &dialect->progress,
		[TEXT_TASK_CANCEL] = &dialect->task_cancel,
		[TEXT_TASK_STATUS] = &dialect->task_status,
		[TEXT_ASKED] = &dialect->asked_member,
		[TEXT_OPENED] = &dialect->opened,
		[TEXT_STREAM_OPENED] = &dialect->stream_opened,
		[TEXT_PING] = &dialect->ping,
		[TEXT_MODERN_PING] = &dialect->modern_ping,
	};

	return texts[which];
}

enum { FIELD_PROGRESS, FIELD_TOKEN, FIELD_SECOND_TOKEN, FIELD_ASKED, FIELDS };

static const char *const field_names[FIELDS] = {
	[FIELD_PROGRESS] = "progress_field",
	[FIELD_TOKEN] = "token_field",
	[FIELD_SECOND_TOKEN] = "second token_field",
	[FIELD_ASKED] = "asked_object",
};

static enum scan_field *
field_of(struct dialect *dialect, unsigned which)
{
	enum scan_field *const fields[FIELDS] = {
		[FIELD_PROGRESS] = &dialect->progress_field,
		[FIELD_TOKEN] = &dialect->token_fields[0],
		[FIELD_SECOND_TOKEN] = &dialect->token_fields[1],
		[FIELD_ASKED] = &dialect->asked_object,
	};

	return fields[which];
}

/* Whether the row says anything there that could be changed. */
static bool
has_field(struct dialect *dialect, unsigned which)
{
	if (which == FIELD_ASKED)
		return dialect->asked_member != NULL;
	return *field_of(dialect, which) != SCAN_FIELDS;
}

enum { CODE_TIMEOUT, CODE_FAILURE, CODE_CLOSED, CODES };

static const char *const code_names[CODES] = {
	[CODE_TIMEOUT] = "timeout_code",
	[CODE_FAILURE] = "failure_code",
	[CODE_CLOSED] = "closed_code",
};

static int *
code_of(struct dialect *dialect, unsigned which)
{
	int *const codes[CODES] = {
		[CODE_TIMEOUT] = &dialect->timeout_code,
		[CODE_FAILURE] = &dialect->failure_code,
		[CODE_CLOSED] = &dialect->closed_code,
	};

	return codes[which];
}

enum { SPELLING_METHOD, SPELLING_KEY, SPELLING_FIELD, SPELLING_OWES, SPELLINGS };

static const char *const spelling_names[SPELLINGS] = {
	[SPELLING_METHOD] = "method",
	[SPELLING_KEY] = "key",
	[SPELLING_FIELD] = "field",
	[SPELLING_OWES] = "duty to answer",
};

static struct mutant *
add(struct mutant_list *list, enum mutant_kind kind, int row, int event, unsigned value)
{
	struct mutant *mutant;

	list->first = mem_resize(list->first, list->count + 1, sizeof(*list->first));
	mutant = &list->first[list->count++];
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
add_cell(struct mutant_list *list, int state, int event)
{
	const struct decision *cell = &decisions[state][event];
	const struct bit *step;
	struct mutant *mutant;
	int next;

	if (event_names[event] == NULL)
		abort();
	for (step = steps; step->name != NULL; step++) {
		if (!is_sensible(step->bit, event))
			continue;
		mutant = add(list, MUTANT_STEP, state, event, step->bit);
		snprintf(mutant->name, sizeof(mutant->name), "%s/%s: %s %s", state_names[state], event_names[event],
		    cell->steps & step->bit ? "no" : "also", step->name);
	}
	for (next = REQUEST_NONE; next < REQUEST_STATES; next++) {
		if (next == cell->next || next == REQUEST_QUEUED)
			continue;
		mutant = add(list, MUTANT_NEXT, state, event, (unsigned)next);
		snprintf(mutant->name, sizeof(mutant->name), "%s/%s: then %s", state_names[state], event_names[event],
		    state_names[next]);
	}
	mutant = add(list, MUTANT_WHY, state, event, 0);
	snprintf(mutant->name, sizeof(mutant->name), "%s/%s: another word than %s", state_names[state],
	    event_names[event], why_word((enum why)cell->why));
}

/* One of the dialect, of which `what` is changed. */
static struct mutant *
add_fact(struct mutant_list *list, struct dialect *dialect, enum mutant_kind kind, unsigned value, const char *how,
    const char *what)
{
	struct mutant *mutant = add(list, kind, 0, 0, value);

	mutant->dialect = dialect;
	snprintf(mutant->name, sizeof(mutant->name), "%s: %s %s", dialect->name, how, what);
	return mutant;
}

static void
add_method(struct mutant_list *list, struct dialect *dialect, int row)
{
	const struct method *method = &dialect->methods[row];
	const struct bit *trait;
	char how[64];

	for (trait = traits; trait->name != NULL; trait++) {
		snprintf(how, sizeof(how), "%s %s", method->name, method->traits & trait->bit ? "not" : "also");
		add_fact(list, dialect, MUTANT_TRAIT, trait->bit, how, trait->name)->row = row;
	}
	add_fact(list, dialect, MUTANT_NAME, 0, method->name, "has another name")->row = row;
	add_fact(list, dialect, MUTANT_NAMED, 0, method->name, "names something else")->row = row;
	add_fact(list, dialect, MUTANT_CANCELLED, 0, method->name, "is answered otherwise")->row = row;
}

static void
add_flags(struct mutant_list *list, struct dialect *dialect)
{
	const struct bit *flag;
	unsigned known = 0;

	for (flag = flags; flag->name != NULL; flag++) {
		add_fact(list, dialect, MUTANT_FLAG, flag->bit, dialect->flags & flag->bit ? "not" : "also",
		    flag->name);
		known |= flag->bit;
	}
	if (dialect->flags & ~known)
		abort();
}

static void
add_dialect(struct mutant_list *list, struct dialect *dialect)
{
	unsigned i;

	add_flags(list, dialect);
	for (i = 0; i < TEXTS; i++)
		if (*text_of(dialect, i) != NULL)
			add_fact(list, dialect, MUTANT_TEXT, i, "another", text_names[i]);
	for (i = 0; i < FIELDS; i++)
		if (has_field(dialect, i))
			add_fact(list, dialect, MUTANT_FIELD, i, "another", field_names[i]);
	for (i = 0; i < CODES; i++)
		add_fact(list, dialect, MUTANT_CODE, i, "another", code_names[i]);
	add_fact(list, dialect, MUTANT_CANCEL, 0, "another", "cancel");
	add_fact(list, dialect, MUTANT_DECLARED, 0, "another", "declared_cancel");
	add_fact(list, dialect, MUTANT_FRAMING, 0, "another", "framing");
	add_fact(list, dialect, MUTANT_VERSION, 0, "another", "version");
	for (i = 0; dialect->methods[i].name != NULL; i++)
		add_method(list, dialect, (int)i);
}

static void
add_spelling(struct mutant_list *list, int row)
{
	struct mutant *mutant;
	unsigned i;

	for (i = 0; i < SPELLINGS; i++) {
		mutant = add(list, MUTANT_SPELLING, row, 0, i);
		snprintf(mutant->name, sizeof(mutant->name), "%s: another %s", dialect_cancels[row].method,
		    spelling_names[i]);
	}
}

void
mutate_list(struct mutant_list *list)
{
	int i, event;

	for (i = 0; i < REQUEST_STATES; i++)
		for (event = 0; event < DECIDE_EVENTS; event++)
			add_cell(list, i, event);
	for (i = 0; i < DIALECTS; i++)
		add_dialect(list, dialects[i]);
	for (i = 0; dialect_cancels[i].method != NULL; i++)
		add_spelling(list, i);
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

static void
change_field(enum scan_field *field)
{
	if (*field == SCAN_PARAMS || *field == SCAN_REQUEST_META)
		*field = *field == SCAN_PARAMS ? SCAN_REQUEST_META : SCAN_PARAMS;
	else
		*field = *field == SCAN_SESSION_ID ? SCAN_TASK_ID : SCAN_SESSION_ID;
}

static const struct cancel *
other_cancel(const struct cancel *cancel)
{
	return cancel == &dialect_cancels[0] ? &dialect_cancels[1] : &dialect_cancels[0];
}

/* The methods are copied for it. */
static void
change_method(const struct mutant *mutant)
{
	const struct method *methods = mutant->dialect->methods;
	struct method *copy, *method;
	size_t count = 0;

	while (methods[count++].name != NULL)
		;
	copy = mem_new(count * sizeof(*copy));
	memcpy(copy, methods, count * sizeof(*copy));
	method = &copy[mutant->row];
	mutant->dialect->methods = copy;
	if (mutant->kind == MUTANT_TRAIT)
		method->traits ^= mutant->value;
	else if (mutant->kind == MUTANT_NAME)
		method->name = "mutant";
	else if (mutant->kind == MUTANT_NAMED)
		method->name_field = method->name_field == SCAN_URI ? SCAN_NAME : SCAN_URI;
	else
		method->cancelled = method->cancelled == NULL ? "{}" : NULL;
}

static void
change_spelling(struct cancel *cancel, unsigned which)
{
	if (which == SPELLING_METHOD)
		cancel->method = "mutant";
	else if (which == SPELLING_KEY)
		cancel->key = "mutant";
	else if (which == SPELLING_FIELD)
		cancel->field = cancel->field == SCAN_REQUEST_ID ? SCAN_PARAMS_ID : SCAN_REQUEST_ID;
	else
		cancel->owes = !cancel->owes;
}

void
mutate_apply(const struct mutant *mutant)
{
	struct dialect *dialect = mutant->dialect;

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
		*text_of(dialect, mutant->value) = "mutant";
		break;
	case MUTANT_FIELD:
		change_field(field_of(dialect, mutant->value));
		break;
	case MUTANT_CODE:
		*code_of(dialect, mutant->value) = 1;
		break;
	case MUTANT_CANCEL:
		dialect->cancel = other_cancel(dialect->cancel);
		break;
	case MUTANT_DECLARED:
		dialect->declared_cancel = other_cancel(dialect->declared_cancel);
		break;
	case MUTANT_FRAMING:
		dialect->framing = dialect->framing == FRAMING_HEADER ? FRAMING_NEWLINE : FRAMING_HEADER;
		break;
	case MUTANT_VERSION:
		dialect->version = dialect->version == VALUE_STRING ? VALUE_NUMBER : VALUE_STRING;
		break;
	case MUTANT_TRAIT:
	case MUTANT_NAME:
	case MUTANT_NAMED:
	case MUTANT_CANCELLED:
		change_method(mutant);
		break;
	case MUTANT_SPELLING:
		change_spelling(&dialect_cancels[mutant->row], mutant->value);
		break;
	}
}

#endif
