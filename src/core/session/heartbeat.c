#include <float.h>
#include <math.h>

#include "heartbeat.h"
#include "recovery.h"

/*
 * The part of a server's own value by which canceld's values are greater: so small that the next
 * value of a server that counts is greater still.
 */
static const double step_part = 1.0 / (double)((int64_t)1 << 40);

static void
arm(const struct outlet *outlet, struct request *request)
{
	alarm_arm(&request->in->beats, &request->beat.alarm, outlet->config->heartbeat,
	    request->in->clocks->steady);
}

void
heartbeat_begin(const struct outlet *outlet, struct request *request)
{
	if (outlet->config->heartbeat > 0 && outlet->handshake->dialect->heartbeat != NULL &&
	    request->from == SIDE_CLIENT && request->token.text.len > 0 &&
	    !(request->flags & REQUEST_ASKED))
		arm(outlet, request);
}

void
heartbeat_put_off(struct request *request, const struct message *message)
{
	const struct dialect *dialect = message_dialect(message);
	const struct progress_form *form = &dialect->progress_form;
	struct id token = message_id(message, dialect->progress_field);
	struct span params = scan_bytes(message->scan, SCAN_PARAMS);
	struct beat *beat = &request->beat;
	double value;

	if (!span_is(message->method, dialect->progress))
		return; /* what a stream says restarts no client's timeout */
	arm(message->outlet, request);
	if (form->in == NULL) {
		if (id_number(json_member(params, form->done), &value))
			*beat = (struct beat){ beat->alarm, value, 0, true };
	} else if (id_equal(token.text, request->wire_token)) { /* else of partial results */
		/*
		 * LSP 3.17 "Work Done Progress": a report stands between the begin and the end of
		 * the work.
		 */
		struct span kind = json_member(json_member(params, form->in), "kind");

		beat->begun =
		    !span_is(kind, "\"end\"") && (beat->begun || span_is(kind, "\"begin\""));
	}
}

/*
 * MCP "Progress": the values increase. So many messages after the server's own value, or, before
 * its first one, in all.
 */
static double
value_after(const struct beat *beat, int64_t count)
{
	double size = fabs(beat->value);

	if (!beat->begun)
		return -1 / (double)count;
	return beat->value + (double)count * step_part * (size > 0 ? size : 1);
}

/*
 * Whether a heartbeat may be sent: the protocol has a place for it now, the server does not seem
 * stuck, and the client reads what it is sent.
 */
static bool
may_send(const struct party *client, const struct beat *beat, double value)
{
	bool sound = client->outlet->handshake->dialect->progress_form.in == NULL ?
	    value > value_after(beat, beat->count) && value <= DBL_MAX :
	    beat->begun;

	return sound && !recovery_sees_stuck(client) &&
	    lane_own(client->other->lane) < LIMIT_BEATS_OWN;
}

static void
send(const struct party *client, struct request *request)
{
	struct outlet *outlet = client->outlet;
	const struct dialect *dialect = outlet->handshake->dialect;
	struct beat *beat = &request->beat;
	double value = value_after(beat, beat->count + 1);
	struct action action = action_of(VERB_SEND, SIDE_CLIENT, WHY_HEARTBEAT_SENT, request);
	struct buf *number = &outlet->words;

	if (!may_send(client, beat, value))
		return;
	beat->count++;
	buf_clear(number);
	number_write(value, number);
	compose_json(outlet_scratch(outlet), dialect->heartbeat, dialect->progress,
	    request->token.text, request_age(request) / 1000, buf_span(number));
	outlet_answer(outlet, SIDE_SERVER); /* behind the server's own, and before its answer */
	journal_report(outlet->journal, &action);
}

void
heartbeat_expire(struct party *client)
{
	struct request *request;

	while ((request = timeline_due(&client->pending.beats, client->pending.clocks->steady)) !=
	    NULL) {
		arm(client->outlet, request);
		send(client, request);
	}
}
