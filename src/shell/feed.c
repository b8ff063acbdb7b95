#include "shell/feed.h"

#include <stdarg.h>
#include <string.h>

#include "shell/settings.h"

enum { SPANS = 16 };

void
feed_init(struct feed *feed, struct session *session, struct trace *trace, bool dry_run)
{
	*feed = (struct feed){ .session = session, .trace = trace };
	if (dry_run) {
		feed->wire[SIDE_CLIENT] = lane_new();
		feed->wire[SIDE_SERVER] = lane_new();
	}
}

void
feed_free(struct feed *feed)
{
	for (enum side side = SIDE_CLIENT; side <= SIDE_SERVER; side++)
		if (feed->wire[side] != NULL)
			lane_free(feed->wire[side]);
}

struct lane *
feed_wire(const struct feed *feed, enum side from)
{
	return feed->wire[from] != NULL ? feed->wire[from] : session_lane(feed->session, from);
}

/* Whether the next call is recorded; its arguments are put together only then. */
static bool
records(const struct feed *feed)
{
	return feed->trace != NULL && trace_records(feed->trace);
}

/* A call begins; format: its arguments, as for json_pack. */
static void
call(const struct feed *feed, msec_t now, const char *name, const char *format, ...)
{
	va_list values;

	if (!records(feed))
		return;
	va_start(values, format);
	trace_call(feed->trace, name, json_vpack_ex(NULL, 0, format, values), now);
	va_end(values);
}

static void
done(const struct feed *feed)
{
	if (feed->trace != NULL)
		trace_return(feed->trace);
}

/* The last n bytes received in a lane whose bytes are not decided yet. */
static struct span
last_bytes(const struct lane *lane, size_t n)
{
	return lane_from(lane, lane_received_to(lane) - n);
}

/* The session hears a copy of the bytes that pass. */
static void
copy(struct feed *feed, enum side from, size_t n)
{
	struct lane *lane = session_lane(feed->session, from);
	size_t room;

	memcpy(lane_space(lane, n, &room), last_bytes(feed->wire[from], n).ptr, n);
	lane_received(lane, n);
	lane_pass(feed->wire[from], n);
}

void
feed_hear(struct feed *feed, enum side from, size_t n, msec_t now)
{
	lane_received(feed_wire(feed, from), n);
	if (feed->wire[from] != NULL)
		copy(feed, from, n);
	if (records(feed))
		trace_hear(feed->trace, from, last_bytes(session_lane(feed->session, from), n), now);
	session_hear(feed->session, from, now);
	done(feed);
}

void
feed_end_of_input(struct feed *feed, enum side from, msec_t now)
{
	call(feed, now, "end", "{s:s}", "side", side_name(from));
	session_end_of_input(feed->session, from, now);
	done(feed);
}

/* left: bytes that can be written now, so that a replay whose own messages differ in length knows whether all is out. */
static void
record_sent(const struct feed *feed, enum side from, size_t n, msec_t now)
{
	json_int_t left = (json_int_t)lane_backlog(session_lane(feed->session, from));
	call(feed, now, "sent", "{s:s,s:I,s:I}", "side", side_name(from), "bytes", (json_int_t)n, "left", left);
	done(feed);
}

/* Throws away the session's copy of what the wire has written. */
static void
follow(struct feed *feed, enum side from, msec_t now)
{
	struct lane *lane = session_lane(feed->session, from);
	struct span spans[SPANS];
	size_t sum = 0;
	int count, i;

	lane_stop_at(lane, lane_written_to(feed->wire[from]));
	while ((count = lane_output(lane, spans, SPANS)) > 0) {
		size_t n = 0;

		for (i = 0; i < count; i++)
			n += spans[i].len;
		lane_sent(lane, n);
		sum += n;
	}
	lane_stop_at(lane, LANE_FREE);
	if (sum > 0)
		record_sent(feed, from, sum, now);
}

void
feed_sent(struct feed *feed, enum side from, size_t n, msec_t now)
{
	lane_sent(feed_wire(feed, from), n);
	if (feed->wire[from] != NULL)
		follow(feed, from, now);
	else
		record_sent(feed, from, n, now);
}

void
feed_abandon(struct feed *feed, enum side from, msec_t now)
{
	struct lane *lane = session_lane(feed->session, from);

	if (lane_queued(lane) + lane_backlog(lane) > 0) {
		call(feed, now, "abandon", "{s:s}", "side", side_name(from));
		done(feed);
	}
	lane_abandon(lane);
	if (feed->wire[from] != NULL)
		lane_abandon(feed->wire[from]);
}

void
feed_client_leaves(struct feed *feed, enum leaving leaving, msec_t now)
{
	call(feed, now, "leave", "{s:i}", "leaving", (int)leaving);
	session_client_leaves(feed->session, leaving, now);
	done(feed);
}

void
feed_server_gone(struct feed *feed, int status, int signal, msec_t now)
{
	call(feed, now, "gone", "{s:i,s:i}", "status", status, "signal", signal);
	session_server_gone(feed->session, status, signal, now);
	done(feed);
}

void
feed_server_lost(struct feed *feed, int status, int signal, msec_t now)
{
	call(feed, now, "lost", "{s:i,s:i}", "status", status, "signal", signal);
	session_server_lost(feed->session, status, signal, now);
	done(feed);
}

void
feed_server_back(struct feed *feed, msec_t now)
{
	call(feed, now, "back", "{}");
	session_server_back(feed->session, now);
	done(feed);
}

void
feed_server_shut(struct feed *feed, msec_t now)
{
	call(feed, now, "shut", "{}");
	session_server_shut(feed->session, now);
	done(feed);
}

void
feed_server_deaf(struct feed *feed, bool retired, msec_t now)
{
	call(feed, now, "deaf", "{s:b}", "retired", retired);
	session_server_deaf(feed->session, retired, now);
	done(feed);
}

static json_t *
words_of(struct span words)
{
	json_t *fields = json_object();

	trace_set_bytes(fields, words);
	return fields;
}

/* A call whose only argument are words. */
static void
say(struct feed *feed, const char *name, void (*says)(struct session *, struct span), struct span words, msec_t now)
{
	if (records(feed))
		call(feed, now, name, "o", words_of(words));
	says(feed->session, words);
	done(feed);
}

void
feed_quote(struct feed *feed, struct span words, msec_t now)
{
	say(feed, "quote", session_quote, words, now);
}

void
feed_refuse(struct feed *feed, struct span words, msec_t now)
{
	say(feed, "refuse", session_refuse, words, now);
}

void
feed_give_up(struct feed *feed, msec_t now)
{
	call(feed, now, "give_up", "{}");
	session_give_up(feed->session);
	done(feed);
}

void
feed_expire(struct feed *feed, bool heard, msec_t now)
{
	call(feed, now, "expire", "{s:b}", "heard", heard);
	session_expire(feed->session, heard, now);
	done(feed);
}

enum operator_result
feed_cancel(struct feed *feed, enum side from, struct span id, struct span reason, msec_t now)
{
	enum operator_result result;

	if (records(feed)) {
		json_t *fields = words_of(reason);

		json_object_set_new(fields, "side", json_string(side_name(from)));
		json_object_set_new(fields, "id", json_stringn(id.ptr, id.len));
		call(feed, now, "cancel", "o", fields);
	}
	result = session_cancel(feed->session, from, id, reason, now);
	done(feed);
	return result;
}

bool
feed_set(struct feed *feed, enum policy_clock clock, const struct policy_rule *rule, bool in_flight, msec_t now,
    size_t *changed)
{
	bool set;

	if (records(feed))
		call(feed, now, "set", "{s:o,s:b}", "rule", settings_rule_json(clock, rule), "now", in_flight);
	set = session_set(feed->session, clock, rule, in_flight, now, changed);
	done(feed);
	return set;
}

void
feed_set_time(struct feed *feed, msec_t now)
{
	call(feed, now, "time", "{}");
	session_set_time(feed->session, now);
	done(feed);
}

void
feed_rules(struct feed *feed, const struct policy *policy, msec_t now)
{
	if (records(feed))
		call(feed, now, "rules", "{s:o}", "rules", settings_rules_json(policy));
	done(feed);
}

void
feed_sleep(struct feed *feed, bool stalled, msec_t now)
{
	for (enum side side = SIDE_CLIENT; side <= SIDE_SERVER; side++)
		if (feed->wire[side] != NULL)
			follow(feed, side, now);
	call(feed, now, "sleep", "{s:b}", "stalled", stalled);
	session_sleep(feed->session, stalled, now);
	done(feed);
}
