/*
 * The calls of a trace are made again, on a new session. What it decides at each call is compared with the events that
 * were recorded with that call's number.
 */
#include "ctl/replay.h"

#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/operator.h"
#include "core/session.h"
#include "ctl/ctl.h"
#include "shell/log.h"
#include "shell/printable.h"
#include "shell/report.h"
#include "shell/settings.h"
#include "shell/trace.h"

enum { SPANS = 16 };

struct replay {
	FILE *file;
	const char *path;
	bool verbose, json;
	size_t line;
	char fault[256]; /* why the trace cannot be replayed; or "" */
	struct session *session;
	struct policy policy;
	struct log log;
	struct log_tap tap;
	msec_t begin, now;
	json_int_t call;  /* the number of the last call */
	bool ended;       /* the last record was read */
	json_t *made;     /* what the last call has led to now, and is not compared yet */
	size_t decisions; /* made now */
	size_t differing;
};

static bool
refuse(struct replay *replay, const char *reason)
{
	if (replay->fault[0] == '\0')
		snprintf(replay->fault, sizeof(replay->fault), "line %zu: %s", replay->line, reason);
	return false;
}

/* Decisions */

static void
hear(void *user, enum why why, struct span line)
{
	struct replay *replay = user;

	(void)why;
	json_array_append_new(replay->made, json_loadb(line.ptr, line.len, JSON_ALLOW_NUL, NULL));
}

/* Members that tell when and where, and an excerpt of the message: secrets are redacted in what is replayed. */
static bool
is_compared(const char *key)
{
	static const char *const others[] = { "time", "pid", "server", "dry_run", "mono", "of", "text" };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(key, others[i]) == 0)
			return false;
	return true;
}

static bool
has_all_of(json_t *object, json_t *other)
{
	const char *key;
	json_t *value;

	json_object_foreach(other, key, value)
	{
		if (is_compared(key) && !json_equal(json_object_get(object, key), value))
			return false;
	}
	return true;
}

static bool
is_same(json_t *a, json_t *b)
{
	return has_all_of(a, b) && has_all_of(b, a);
}

static bool
is_traffic(json_t *decision)
{
	const char *word = json_string_value(json_object_get(decision, "why"));
	int why;

	for (why = 0; word != NULL && why < WHY_COUNT; why++)
		if (strcmp(why_word((enum why)why), word) == 0)
			return why_level((enum why)why) == LEVEL_TRAFFIC;
	return false;
}

static void
append_fields(struct buf *line, json_t *decision)
{
	const char *key;
	json_t *value;

	json_object_foreach(decision, key, value)
	{
		char *text = is_compared(key) && strcmp(key, "why") != 0 ?
		    json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_ENSURE_ASCII) :
		    NULL;

		if (text == NULL)
			continue;
		buf_append(line, SPAN(" "));
		printable_append(line, span_of(key), "");
		buf_append(line, SPAN("="));
		printable_append(line, span_of(text), "");
		free(text);
	}
}

/* mark: ' ' decided then and now, '-' only then, '+' only now. */
static void
print_text(const struct replay *replay, json_t *decision, char mark)
{
	const char *word = json_string_value(json_object_get(decision, "why"));
	msec_t since = replay->now - replay->begin;
	struct buf line;

	buf_init(&line);
	printable_append(&line, span_of(word != NULL ? word : "?"), "");
	append_fields(&line, decision);
	printf("%c %lld.%03lld ", mark, (long long)since / 1000, (long long)since % 1000);
	fwrite(line.data, 1, line.len, stdout);
	putchar('\n');
	buf_free(&line);
}

static void
print_json(const struct replay *replay, json_t *decision, char mark)
{
	json_t *object = json_pack("{s:s,s:I,s:I}", "decided",
	    mark == ' '     ? "both" :
		mark == '-' ? "then" :
			      "now",
	    "call", replay->call, "mono", (json_int_t)replay->now);
	const char *key;
	json_t *value;

	json_object_foreach(decision, key, value)
	{
		if (is_compared(key))
			json_object_set(object, key, value);
	}
	json_dumpf(object, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
	putchar('\n');
	json_decref(object);
}

static void
show(struct replay *replay, json_t *decision, char mark)
{
	replay->differing += mark != ' ';
	if (mark == ' ' && !replay->verbose && is_traffic(decision))
		return;
	if (replay->json)
		print_json(replay, decision, mark);
	else
		print_text(replay, decision, mark);
}

/* The first n decisions made now were not recorded at this place. */
static void
show_new(struct replay *replay, size_t n)
{
	for (; n > 0; n--) {
		show(replay, json_array_get(replay->made, 0), '+');
		json_array_remove(replay->made, 0);
		replay->decisions++;
	}
}

/* What was recorded is compared with what is decided now, in the order of both. */
static void
compare(struct replay *replay, json_t *recorded)
{
	size_t at = 0, count = json_array_size(replay->made);

	while (at < count && !is_same(json_array_get(replay->made, at), recorded))
		at++;
	if (at == count) {
		show(replay, recorded, '-');
		return;
	}
	show_new(replay, at);
	show(replay, recorded, ' ');
	json_array_remove(replay->made, 0);
	replay->decisions++;
}

/* The events of a call have been read: what it has led to now beyond them was not recorded. */
static void
end_call(struct replay *replay)
{
	show_new(replay, json_array_size(replay->made));
}

/* Calls */

static bool
read_side(json_t *record, enum side *side)
{
	const char *name = json_string_value(json_object_get(record, "side"));

	*side = name != NULL && strcmp(name, "server") == 0 ? SIDE_SERVER : SIDE_CLIENT;
	return name != NULL;
}

static bool
call_hear(struct replay *replay, json_t *record)
{
	struct buf bytes;
	struct lane *lane;
	enum side side;
	size_t room;
	bool whole;

	buf_init(&bytes);
	whole = read_side(record, &side) && trace_get_bytes(record, &bytes) && bytes.len > 0 &&
	    (size_t)json_integer_value(json_object_get(record, "bytes")) == bytes.len;
	if (whole) {
		lane = session_lane(replay->session, side);
		memcpy(lane_space(lane, bytes.len, &room), buf_span(&bytes).ptr, bytes.len);
		lane_received(lane, bytes.len);
		session_hear(replay->session, side, replay->now);
	}
	buf_free(&bytes);
	return whole;
}

static bool
call_end(struct replay *replay, json_t *record)
{
	enum side side;

	if (!read_side(record, &side))
		return false;
	session_end_of_input(replay->session, side, replay->now);
	return true;
}

/* What canceld writes itself may be longer or shorter now: if nothing was left then, nothing is left now. */
static bool
call_sent(struct replay *replay, json_t *record)
{
	json_int_t bytes, left;
	struct span spans[SPANS];
	struct lane *lane;
	enum side side;
	size_t rest;
	int count;

	if (!read_side(record, &side) || json_unpack(record, "{s:I,s:I}", "bytes", &bytes, "left", &left) < 0 ||
	    bytes < 0)
		return false;
	lane = session_lane(replay->session, side);
	rest = left == 0 ? SIZE_MAX : (size_t)bytes;
	while (rest > 0 && (count = lane_output(lane, spans, SPANS)) > 0) {
		size_t n = 0;

		for (int i = 0; i < count; i++)
			n += spans[i].len;
		n = n < rest ? n : rest;
		lane_sent(lane, n);
		rest -= n;
	}
	return true;
}

static bool
call_abandon(struct replay *replay, json_t *record)
{
	enum side side;

	if (!read_side(record, &side))
		return false;
	lane_abandon(session_lane(replay->session, side));
	return true;
}

static bool
call_leave(struct replay *replay, json_t *record)
{
	json_t *leaving = json_object_get(record, "leaving");

	if (!json_is_integer(leaving) || json_integer_value(leaving) < LEAVE_CANCEL ||
	    json_integer_value(leaving) > LEAVE_TERMINATED)
		return false;
	session_client_leaves(replay->session, (enum leaving)json_integer_value(leaving), replay->now);
	return true;
}

static bool
call_gone(struct replay *replay, json_t *record)
{
	int status, signal;

	if (json_unpack(record, "{s:i,s:i}", "status", &status, "signal", &signal) < 0)
		return false;
	session_server_gone(replay->session, status, signal, replay->now);
	return true;
}

static bool
call_lost(struct replay *replay, json_t *record)
{
	int status, signal;

	if (json_unpack(record, "{s:i,s:i}", "status", &status, "signal", &signal) < 0)
		return false;
	session_server_lost(replay->session, status, signal, replay->now);
	return true;
}

static bool
call_back(struct replay *replay, json_t *record)
{
	(void)record;
	session_server_back(replay->session, replay->now);
	return true;
}

static bool
call_deaf(struct replay *replay, json_t *record)
{
	session_server_deaf(replay->session, json_is_true(json_object_get(record, "retired")), replay->now);
	return true;
}

static bool
call_shut(struct replay *replay, json_t *record)
{
	(void)record;
	session_server_shut(replay->session, replay->now);
	return true;
}

static bool
with_words(struct replay *replay, json_t *record, void (*act)(struct session *session, struct span words))
{
	struct buf words;
	bool whole;

	buf_init(&words);
	whole = trace_get_bytes(record, &words);
	if (whole)
		act(replay->session, buf_span(&words));
	buf_free(&words);
	return whole;
}

static bool
call_quote(struct replay *replay, json_t *record)
{
	return with_words(replay, record, session_quote);
}

static bool
call_refuse(struct replay *replay, json_t *record)
{
	return with_words(replay, record, session_refuse);
}

static bool
call_give_up(struct replay *replay, json_t *record)
{
	(void)record;
	session_give_up(replay->session);
	return true;
}

static bool
call_expire(struct replay *replay, json_t *record)
{
	session_expire(replay->session, json_is_true(json_object_get(record, "heard")), replay->now);
	return true;
}

static bool
call_sleep(struct replay *replay, json_t *record)
{
	session_sleep(replay->session, json_is_true(json_object_get(record, "stalled")), replay->now);
	return true;
}

static bool
call_rules(struct replay *replay, json_t *record)
{
	policy_free(&replay->policy);
	return settings_read_rules(json_object_get(record, "rules"), &replay->policy);
}

static bool
call_cancel(struct replay *replay, json_t *record)
{
	json_t *id = json_object_get(record, "id");
	enum side side;
	struct buf reason;
	bool whole;

	buf_init(&reason);
	whole = read_side(record, &side) && json_is_string(id) && trace_get_bytes(record, &reason);
	if (whole)
		(void)!session_cancel(replay->session, side,
		    (struct span){ json_string_value(id), json_string_length(id) }, buf_span(&reason), replay->now);
	buf_free(&reason);
	return whole;
}

static bool
call_set(struct replay *replay, json_t *record)
{
	bool in_flight = json_is_true(json_object_get(record, "now")), whole;
	struct policy rule;
	size_t changed;

	policy_init(&rule);
	whole = settings_read_rule(json_object_get(record, "rule"), &rule);
	for (int clock = 0; clock < POLICY_CLOCKS; clock++)
		if (rule.clock[clock].count > 0)
			(void)!session_set(replay->session, (enum policy_clock)clock, rule.clock[clock].rules,
			    in_flight, replay->now, &changed);
	policy_free(&rule);
	return whole;
}

static bool
call_time(struct replay *replay, json_t *record)
{
	(void)record;
	session_set_time(replay->session, replay->now);
	return true;
}

/* As shell/feed.c records them. */
static const struct {
	const char *name;
	bool (*make)(struct replay *replay, json_t *record); /* false: the record lacks something */
} calls[] = {
	{ "hear", call_hear },
	{ "end", call_end },
	{ "sent", call_sent },
	{ "abandon", call_abandon },
	{ "leave", call_leave },
	{ "gone", call_gone },
	{ "lost", call_lost },
	{ "back", call_back },
	{ "deaf", call_deaf },
	{ "shut", call_shut },
	{ "quote", call_quote },
	{ "refuse", call_refuse },
	{ "give_up", call_give_up },
	{ "expire", call_expire },
	{ "rules", call_rules },
	{ "cancel", call_cancel },
	{ "set", call_set },
	{ "time", call_time },
	{ "sleep", call_sleep },
};

static bool
make_call(struct replay *replay, json_t *record)
{
	const char *name = json_string_value(json_object_get(record, "call"));
	json_int_t number, mono;

	end_call(replay);
	if (json_unpack(record, "{s:I,s:I}", "n", &number, "mono", &mono) < 0)
		return refuse(replay, "no call of a trace");
	if (number != replay->call + 1)
		return refuse(replay, "the trace is not complete: calls are missing");
	if (mono < replay->now)
		return refuse(replay, "the time goes back");
	replay->call = number;
	replay->now = mono;
	for (size_t i = 0; name != NULL && i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(calls[i].name, name) == 0)
			return calls[i].make(replay, record) || refuse(replay, "the record of a call lacks something");
	return refuse(replay, "this call is not known");
}

/* Records */

/* The first record. */
static bool
begin(struct replay *replay, json_t *record)
{
	const struct log_config quiet = { .level = LEVEL_ERROR };
	struct session_config config;
	json_int_t version, part, mono;
	json_t *settings;
	int payload;

	if (json_unpack(record, "{s:I,s:I,s:I,s:b,s:o}", "trace", &version, "part", &part, "mono", &mono, "payload",
		&payload, "session", &settings) < 0)
		return refuse(replay, "no trace of canceld begins like this");
	if (version != TRACE_VERSION)
		return refuse(replay, "this version of the format is not known");
	if (!payload)
		return refuse(replay, "the trace has no payload (see --trace-payload of canceld)");
	if (part != 1)
		return refuse(replay,
		    "the trace is not complete: its beginning was overwritten (see --trace-size of canceld)");
	if (mono < 0 || !settings_read(settings, &config, &replay->policy))
		return refuse(replay, "the options of the session cannot be read");
	if (log_open(&replay->log, &quiet) < 0)
		return refuse(replay, strerror(errno));
	log_tap(&replay->log, &replay->tap);
	replay->begin = replay->now = mono;
	replay->session = session_new(&config, report_action, &replay->log, mono);
	return true;
}

static bool
read_record(struct replay *replay, json_t *record)
{
	if (replay->session == NULL)
		return begin(replay, record);
	if (replay->ended)
		return refuse(replay, "something follows the last record");
	if (json_object_get(record, "call") != NULL)
		return make_call(replay, record);
	if (json_object_get(record, "trace") != NULL) {
		end_call(replay);
		replay->ended = true;
		return json_integer_value(json_object_get(record, "calls")) == replay->call ||
		    refuse(replay, "the trace is not complete: calls are missing");
	}
	if (json_object_get(record, "why") == NULL)
		return refuse(replay, "no record of a trace");
	if (json_object_get(record, "of") != NULL) /* else it is the shell's */
		compare(replay, record);
	return true;
}

static bool
read_line(struct replay *replay, const char *line, size_t len)
{
	json_t *record;
	bool fine;

	replay->line++;
	if (len == 0 || line[len - 1] != '\n')
		return refuse(replay, "the trace is not complete: it ends within a line");
	record = json_loadb(line, len, JSON_ALLOW_NUL, NULL);
	if (!json_is_object(record)) {
		json_decref(record);
		return refuse(replay, "no JSON object");
	}
	fine = read_record(replay, record);
	json_decref(record);
	return fine;
}

static void
read_all(struct replay *replay)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t len;

	while (replay->fault[0] == '\0' && (len = getline(&line, &room, replay->file)) > 0)
		read_line(replay, line, (size_t)len);
	if (ferror(replay->file))
		refuse(replay, strerror(errno));
	else if (replay->line == 0)
		refuse(replay, "the file is empty");
	else if (!replay->ended)
		refuse(replay, "the trace is not complete: canceld was killed, or could not write, or still runs");
	free(line);
}

static int
report(struct replay *replay)
{
	bool same = replay->differing == 0;

	if (replay->fault[0] != '\0') {
		fflush(stdout);
		return ctl_failed("%s: %s", replay->path, replay->fault);
	}
	if (replay->json)
		printf("{\"decisions\":%zu,\"differing\":%zu}\n", replay->decisions, replay->differing);
	else if (same)
		printf("%zu decisions, the same as recorded\n", replay->decisions);
	else
		printf("%zu decisions; %zu differ: - recorded, + decided now\n", replay->decisions, replay->differing);
	return same ? CTL_YES : CTL_NO;
}

static void
finish(struct replay *replay)
{
	if (replay->session != NULL) {
		session_free(replay->session);
		log_untap(&replay->log, &replay->tap);
		log_close(&replay->log);
	}
	json_decref(replay->made);
	policy_free(&replay->policy);
	fclose(replay->file);
}

static int
run(struct replay *replay)
{
	int status;

	replay->file = fopen(replay->path, "re");
	if (replay->file == NULL)
		return ctl_failed("%s: %s", replay->path, strerror(errno));
	policy_init(&replay->policy);
	replay->made = json_array();
	read_all(replay);
	status = report(replay);
	finish(replay);
	return status;
}

static const char help[] =
    "usage: cancelctl replay [-vj] FILE\n\n"
    "Decides again on what canceld --trace FILE --trace-payload has recorded, and prints the decisions:\n"
    "those that were only recorded with a -, those that are only made now with a +.\n\n"
    "  -v, --verbose  messages that just pass, too\n"
    "  -j, --json     one JSON object a line\n"
    "\nExit status: 0 the same as recorded; 1 something differs; 125 the trace cannot be replayed.\n";

int
ctl_replay(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "verbose", no_argument, NULL, 'v' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct replay replay = { .tap = { .level = LEVEL_TRAFFIC, .hear = hear, .user = &replay } };
	int option;

	opterr = 0;
	optind = 0;
	while ((option = getopt_long(argc, argv, ":vjh", options, NULL)) != -1) {
		if (option == 'h')
			return ctl_help(help);
		if (option != 'v' && option != 'j')
			return ctl_option(argv, option);
		replay.verbose |= option == 'v';
		replay.json |= option == 'j';
	}
	if (argc - optind != 1)
		return ctl_usage("replay: want the name of one trace; see cancelctl replay --help");
	replay.path = argv[optind];
	return run(&replay);
}
