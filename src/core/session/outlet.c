#include "outlet.h"
#include "acks.h"

void
outlet_count(const struct message *message, enum tally tally, enum why why)
{
	const struct method *row = dialect_method(message_dialect(message), message->method);
	char storage[SCAN_VALUE_MAX], shown[NAME_SHOWN];
	struct span name = scan_string(message->scan, row->name_field, storage, sizeof(storage));
	struct action action = action_of(VERB_END, message->from, why, NULL);

	if (span_equal(message->method, ACKS_METHOD))
		return;
	message->outlet->journal->requests[message->from]++;
	action.tally = tally;
	action.id = message->id.text;
	action.method = message->method;
	action.name = name_shown(name, row->name_field == SCAN_URI, shown);
	action.elapsed = 0;
	journal_end(message->outlet->journal, &action);
}

void
outlet_note(const struct outlet *outlet, enum side side, enum why why,
    const struct request *request, struct span detail)
{
	struct action action = action_of(VERB_NOTE, side, why, request);

	action.detail = detail;
	journal_report(outlet->journal, &action);
}

void
outlet_note_message(enum side side, enum why why, const struct message *message, struct span detail)
{
	struct action action = action_of(VERB_NOTE, side, why, NULL);

	action.id = message->id.text;
	action.method = message->method;
	action.detail = detail;
	journal_report(message->outlet->journal, &action);
}

void
outlet_send(struct outlet *outlet, enum side from, enum why why, const struct request *request,
    struct span detail)
{
	struct action action = action_of(VERB_SEND, side_other(from), why, request);

	outlet_overtake(outlet, from);
	action.detail = detail;
	journal_report(outlet->journal, &action);
}
