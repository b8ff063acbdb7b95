#include "scan_machine.h"

#include <string.h>

#include "scan_skip.h"

/* What is met with every token is inline: left to itself, link-time optimization makes calls of it. */

static void
note_fault(struct scan *scan, enum scan_fault fault, uint64_t offset)
{
	if (scan->fault != SCAN_FINE)
		return;
	scan->fault = fault;
	scan->fault_offset = offset;
}

static bool
is_frame_end(const struct scan *scan, const char *at)
{
	return *at == '\n' && scan->end == SCAN_END_NEWLINE;
}

static void
end_frame(struct scan *scan, const char *at)
{
	if (scan->type != VALUE_ABSENT && !scan->complete)
		note_fault(scan, SCAN_CUT, offset_of(scan, at));
	scan->state = ENDED;
}

static const char *
fail(struct scan *scan, const char *at, enum scan_fault fault)
{
	if (is_frame_end(scan, at)) {
		end_frame(scan, at);
		return at + 1;
	}
	note_fault(scan, fault, offset_of(scan, at));
	scan->state = FAILED;
	return at;
}

static void
begin_value(struct scan *scan, enum value_type type, const char *at)
{
	if (scan->container < ROOT)
		return;
	if (scan->container > ROOT) {
		watch_value(&scan->watch, type, at, offset_of(scan, at));
		return;
	}
	scan->type = type;
	scan->value_start = offset_of(scan, at);
}

static inline const char *
end_value(struct scan *scan, const char *at)
{
	scan->state = machine_end_value(scan, at);
	return at;
}

static enum container
object_kind(const struct scan *scan)
{
	if (scan->container == ROOT)
		return MESSAGE;
	return scan->container > ROOT ? watch_object(&scan->watch) : PLAIN_OBJECT;
}

static const char *
enter(struct scan *scan, const char *at)
{
	bool array = *at == '[';

	begin_value(scan, array ? VALUE_ARRAY : VALUE_OBJECT, at);
	scan->state = machine_push(scan, array ? PLAIN_ARRAY : object_kind(scan));
	return at + 1;
}

static const char *
leave(struct scan *scan, const char *at)
{
	if ((*at == ']') != (scan->container == PLAIN_ARRAY))
		return fail(scan, at, SCAN_SYNTAX);
	scan->state = machine_pop(scan, scan->state != NEXT, at + 1);
	return at + 1;
}

static inline const char *
end_string(struct scan *scan, const char *quote)
{
	if (!scan->in_key)
		return end_value(scan, quote + 1);
	if (scan->container > ROOT && !watch_key_end(&scan->watch, scan->container, quote))
		note_fault(scan, SCAN_DUPLICATE, scan->watch.key_start);
	scan->state = COLON;
	return quote + 1;
}

static const char *
in_string(struct scan *scan, const char *at, const char *end)
{
	at = string_read(&scan->string, at, end);
	switch (scan->string.stop) {
	case STOP_QUOTE:
		return end_string(scan, at);
	case STOP_BAD_LEAD:
		note_fault(scan, SCAN_UTF8, offset_of(scan, at));
		return at + 1;
	case STOP_BAD_TAIL:
		note_fault(scan, SCAN_UTF8, offset_of(scan, at));
		return at;
	case STOP_CONTROL:
		if (is_frame_end(scan, at))
			return fail(scan, at, SCAN_CUT);
		note_fault(scan, SCAN_CONTROL, offset_of(scan, at));
		return at + 1;
	case STOP_BAD_ESCAPE:
		return fail(scan, at, SCAN_SYNTAX);
	case STOP_END:
	default:
		return at;
	}
}

/* Most strings hold nothing that the reader must look at: they are done without it. */
static inline const char *
begin_string(struct scan *scan, const char *quote, const char *end)
{
	const char *at = quote + 1;

	at = scan->string.scalar ? skip_scalar(at, end) : skip_short(at, end);
	if (at < end && *at == '"')
		return end_string(scan, at);
	if (!scan->string.scalar)
		at = skip_vector(at, end);
	if (at < end && *at == '"')
		return end_string(scan, at);
	scan->state = STRING;
	string_start(&scan->string);
	return in_string(scan, at, end);
}

static inline const char *
on_key(struct scan *scan, const char *at, const char *end)
{
	if (*at == '}' && scan->state == MEMBER)
		return leave(scan, at);
	if (*at != '"')
		return fail(scan, at, SCAN_SYNTAX);
	scan->in_key = true;
	if (scan->container > ROOT)
		watch_key(&scan->watch, scan->container, at, offset_of(scan, at));
	return begin_string(scan, at, end);
}

static const char *
in_literal(struct scan *scan, const char *at, const char *end)
{
	while (*scan->rest != '\0') {
		if (at == end)
			return at;
		if (*at != *scan->rest)
			return fail(scan, at, SCAN_SYNTAX);
		at++;
		scan->rest++;
	}
	return end_value(scan, at);
}

static const char *
begin_literal(struct scan *scan, const char *at, const char *end)
{
	scan->state = LITERAL;
	scan->rest = *at == 't' ? "true" : *at == 'f' ? "false" : "null";
	begin_value(scan, *at == 'n' ? VALUE_NULL : VALUE_BOOL, at);
	return in_literal(scan, at, end);
}

/* A number that the frame's end cuts off inside a container may have had more digits. */
static inline bool
may_end_number(const struct scan *scan, const char *at)
{
	return ends_number(scan, *at) || (is_frame_end(scan, at) && scan->container == ROOT);
}

static const char *
in_number(struct scan *scan, const char *at, const char *end)
{
	at = number_read(&scan->number, at, end);
	if (at == end)
		return at;
	if (number_is_whole(scan->number) && may_end_number(scan, at))
		return end_value(scan, at);
	return fail(scan, at, SCAN_SYNTAX);
}

static inline const char *
begin_number(struct scan *scan, const char *at, const char *end)
{
	begin_value(scan, VALUE_NUMBER, at);
	scan->state = NUMBER;
	scan->number = NUMBER_START;
	if (*at == '-' || *at == '0')
		return in_number(scan, at, end);
	while (at < end && is_digit(*at))
		at++;
	scan->number = NUMBER_WHOLE;
	return at < end && may_end_number(scan, at) ? end_value(scan, at) : in_number(scan, at, end);
}

static inline const char *
on_value(struct scan *scan, const char *at, const char *end)
{
	if (*at == '"') {
		scan->in_key = false;
		begin_value(scan, VALUE_STRING, at);
		return begin_string(scan, at, end);
	}
	if (is_digit(*at) || *at == '-')
		return begin_number(scan, at, end);
	if (*at == '{' || *at == '[')
		return scan->depth < SCAN_DEPTH_MAX ? enter(scan, at) : fail(scan, at, SCAN_DEPTH);
	if (*at == 't' || *at == 'f' || *at == 'n')
		return begin_literal(scan, at, end);
	if (*at == ']' && scan->state == ITEM)
		return leave(scan, at);
	return fail(scan, at, SCAN_SYNTAX);
}

static inline const char *
on_next(struct scan *scan, const char *at, const char *end)
{
	if (*at == '}' || *at == ']')
		return leave(scan, at);
	if (*at != ',')
		return fail(scan, at, SCAN_SYNTAX);
	scan->state = scan->container == PLAIN_ARRAY ? VALUE : KEY;
	return skip_space(scan, at + 1, end);
}

static inline const char *
on_colon(struct scan *scan, const char *at, const char *end)
{
	at = skip_space(scan, at, end);
	if (at == end)
		return at;
	if (*at != ':')
		return fail(scan, at, SCAN_SYNTAX);
	scan->state = VALUE;
	return skip_space(scan, at + 1, end);
}

static const char *
on_start(struct scan *scan, const char *at)
{
	static const char bom[] = "\xEF\xBB\xBF";

	if (*at == bom[scan->state - START]) {
		scan->bom = scan->state == BOM_THIRD;
		scan->state = scan->bom ? VALUE : scan->state + 1;
		return at + 1;
	}
	if (scan->state == START) {
		scan->state = VALUE;
		return at;
	}
	note_fault(scan, SCAN_SYNTAX, 0);
	return fail(scan, at, SCAN_SYNTAX);
}

static const char *
seek_newline(struct scan *scan, const char *at, const char *end)
{
	const char *newline = NULL;

	if (scan->end == SCAN_END_NEWLINE)
		newline = memchr(at, '\n', (size_t)(end - at));
	if (newline == NULL)
		return end;
	end_frame(scan, newline);
	return newline + 1;
}

/* Between two tokens, with white space passed. Goes on to the end of a member if it can: that saves time. */
static inline const char *
on_token(struct scan *scan, const char *at, const char *end)
{
	if (scan->state == TAIL)
		return fail(scan, at, SCAN_TRAILING);
	if (scan->state == NEXT)
		at = on_next(scan, at, end);
	if ((scan->state == MEMBER || scan->state == KEY) && at < end)
		at = on_key(scan, at, end);
	if (scan->state == COLON && at < end)
		at = on_colon(scan, at, end);
	if (scan->state <= ITEM && at < end)
		at = on_value(scan, at, end);
	return at;
}

static inline const char *
step(struct scan *scan, const char *at, const char *end)
{
	if (scan->state == TAIL && is_frame_end(scan, at)) {
		end_frame(scan, at);
		return at + 1;
	}
	if (scan->state <= TAIL) {
		at = skip_space(scan, at, end);
		return at < end ? on_token(scan, at, end) : at;
	}
	switch ((int)scan->state) {
	case START:
	case BOM_SECOND:
	case BOM_THIRD:
		return on_start(scan, at);
	case STRING:
		return in_string(scan, at, end);
	case LITERAL:
		return in_literal(scan, at, end);
	case FAILED:
		return seek_newline(scan, at, end);
	default:
		return in_number(scan, at, end);
	}
}

void
machine_start(struct scan *scan)
{
	scan->state = START;
	scan->container = ROOT;
	scan->stack[0] = ROOT;
	scan->depth = 0;
	scan->fed = 0;
	scan->type = VALUE_ABSENT;
	scan->fault = SCAN_FINE;
	scan->fault_offset = scan->value_start = scan->value_end = 0;
	scan->complete = scan->bom = false;
	watch_start(&scan->watch);
}

const char *
machine_run(struct scan *scan, const char *bytes, const char *end)
{
	const char *at = bytes;

	scan->origin = (uintptr_t)bytes - scan->fed;
	watch_piece(&scan->watch, bytes, end);
	if (scan->state == START && *at == '{')
		at = enter(scan, at);
	while (at < end && scan->state != ENDED) {
		if (scan->state <= NEXT && scan->depth > 0 && !scan->string.scalar)
			at = machine_walk(scan, at, end);
		if (at < end)
			at = step(scan, at, end);
	}
	watch_piece_end(&scan->watch, at);
	scan->fed += (uint64_t)(at - bytes);
	return at;
}

void
machine_finish(struct scan *scan)
{
	static const char nothing[] = "";

	scan->origin = (uintptr_t)nothing - scan->fed;
	watch_piece(&scan->watch, nothing, nothing);
	if (scan->depth == 0 && scan->state == NUMBER && number_is_whole(scan->number))
		end_value(scan, nothing);
	if (scan->state == BOM_SECOND || scan->state == BOM_THIRD)
		note_fault(scan, SCAN_SYNTAX, 0);
	end_frame(scan, nothing);
}
