#include "shell/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/mem.h"
#include "shell/monotonic.h"
#include "shell/printable.h"
#include "shell/settings.h"

/* Base64 (RFC 4648 section 4) */

static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static json_t *
encode(struct span bytes)
{
	char *text = mem_resize(NULL, bytes.len / 3 + 1, 4), *end = text;
	json_t *value;

	for (size_t at = 0; at < bytes.len; at += 3) {
		size_t left = bytes.len - at;
		unsigned group = (unsigned)(unsigned char)bytes.ptr[at] << 16;

		group |= left > 1 ? (unsigned)(unsigned char)bytes.ptr[at + 1] << 8 : 0;
		group |= left > 2 ? (unsigned)(unsigned char)bytes.ptr[at + 2] : 0;
		*end++ = base64[group >> 18];
		*end++ = base64[group >> 12 & 63];
		*end++ = (char)(left > 1 ? base64[group >> 6 & 63] : '=');
		*end++ = (char)(left > 2 ? base64[group & 63] : '=');
	}
	value = json_stringn_nocheck(text, (size_t)(end - text));
	free(text);
	return value;
}

/* false: it is no base64. */
static bool
decode(struct span text, struct buf *bytes)
{
	unsigned group = 0, count = 0;

	while (text.len > 0 && text.ptr[text.len - 1] == '=')
		text.len--;
	for (size_t i = 0; i < text.len; i++) {
		const char *digit = text.ptr[i] == '\0' ? NULL : strchr(base64, text.ptr[i]);

		if (digit == NULL)
			return false;
		group = group << 6 | (unsigned)(digit - base64);
		count = (count + 6) % 8;
		if (count < 6)
			buf_append(bytes, (struct span){ (const char[]){ (char)(group >> count & 0xff) }, 1 });
	}
	return true;
}

void
trace_set_bytes(json_t *object, struct span bytes)
{
	json_t *text = json_stringn(bytes.ptr, bytes.len);

	json_object_set_new(object, text != NULL ? "text" : "base64", text != NULL ? text : encode(bytes));
}

bool
trace_get_bytes(json_t *object, struct buf *bytes)
{
	json_t *text = json_object_get(object, "text"), *coded = json_object_get(object, "base64");

	if (text != NULL && json_is_string(text)) {
		buf_append(bytes, (struct span){ json_string_value(text), json_string_length(text) });
		return true;
	}
	return json_is_string(coded) &&
	    decode((struct span){ json_string_value(coded), json_string_length(coded) }, bytes);
}

/* Records */

static int
append_dumped(const char *bytes, size_t len, void *lines)
{
	buf_append(lines, (struct span){ bytes, len });
	return 0;
}

/* Takes the object over. */
static void
append_line(struct buf *lines, json_t *object)
{
	json_dump_callback(object, append_dumped, lines, JSON_COMPACT | JSON_ENSURE_ASCII);
	buf_append(lines, SPAN("\n"));
	json_decref(object);
}

static void
record(struct trace *trace, json_t *object)
{
	if (trace->fd >= 0)
		append_line(&trace->lines, object);
	else
		json_decref(object);
}

/*
 * An event of the log: its object, with the time of the session's clock, and with the call that has led to it. Without
 * the excerpt of a message: it is not redacted.
 */
static void
hear(void *user, enum why why, struct span line)
{
	struct trace *trace = user;
	json_t *event = trace->fd < 0 ? NULL : json_loadb(line.ptr, line.len, JSON_ALLOW_NUL, NULL);

	(void)why;
	if (event == NULL)
		return;
	json_object_del(event, "text");
	json_object_set_new(event, "mono", json_integer(trace->called ? trace->now : monotonic_now()));
	if (trace->called && trace->payload)
		json_object_set_new(event, "of", json_integer((json_int_t)trace->calls));
	record(trace, event);
}

bool
trace_records(const struct trace *trace)
{
	return trace->payload && trace->fd >= 0;
}

void
trace_call(struct trace *trace, const char *call, json_t *fields, msec_t now)
{
	json_t *object =
	    json_pack("{s:s,s:I,s:I}", "call", call, "n", (json_int_t)++trace->calls, "mono", (json_int_t)now);

	json_object_update(object, fields);
	json_decref(fields);
	record(trace, object);
	trace->now = now;
	trace->called = true;
}

void
trace_return(struct trace *trace)
{
	trace->called = false;
}

void
trace_hear(struct trace *trace, enum side from, struct span bytes, msec_t now)
{
	json_t *fields = json_pack("{s:s,s:I}", "side", side_name(from), "bytes", (json_int_t)bytes.len);
	struct buf copy;

	buf_init(&copy);
	buf_append(&copy, bytes);
	redact_bytes(&trace->redact[from], copy.data + copy.head, copy.len);
	trace_set_bytes(fields, buf_span(&copy));
	buf_free(&copy);
	trace_call(trace, "hear", fields, now);
}

/* Files */

static int
open_file(const char *path)
{
	return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600);
}

/* The name of the file: %p is the process id; without it, it is appended. */
static bool
name_file(struct trace *trace, const char *file)
{
	const char *mark = strstr(file, "%p");
	int len;

	if (mark != NULL)
		len = snprintf(trace->path, sizeof(trace->path), "%.*s%ld%s", (int)(mark - file), file, (long)getpid(),
		    mark + strlen("%p"));
	else
		len = snprintf(trace->path, sizeof(trace->path), "%s.%ld", file, (long)getpid());
	/* Room for the name of the former file. */
	if (len + (int)strlen(".1") < (int)sizeof(trace->path))
		return true;
	errno = ENAMETOOLONG;
	return false;
}

int
trace_open(struct trace *trace, const struct trace_config *config)
{
	*trace = (struct trace){
		.fd = -1,
		.payload = config->payload,
		.most = config->most > 0 ? config->most / 2 : SIZE_MAX,
		.part = 1,
		.tap = { .level = LEVEL_TRAFFIC, .hear = hear, .user = trace },
	};
	buf_init(&trace->lines);
	redact_init(&trace->redact[SIDE_CLIENT]);
	redact_init(&trace->redact[SIDE_SERVER]);
	if (name_file(trace, config->file))
		trace->fd = open_file(trace->path);
	return trace->fd < 0 ? -1 : 0;
}

static void
fail(struct trace *trace, int error)
{
	if (trace->fd >= 0)
		close(trace->fd);
	trace->fd = -1;
	buf_free(&trace->lines);
	log_failure(trace->log, "write the trace, which ends here", error);
}

static bool
write_all(struct trace *trace, struct span bytes)
{
	while (bytes.len > 0) {
		ssize_t put = write(trace->fd, bytes.ptr, bytes.len);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0) {
			fail(trace, put < 0 ? errno : ENOSPC);
			return false;
		}
		trace->size += (size_t)put;
		trace->fresh = false;
		bytes = span_part(bytes, (size_t)put, bytes.len - (size_t)put);
	}
	return true;
}

static bool
write_head(struct trace *trace)
{
	struct buf line;
	bool written;

	json_object_set_new(trace->head, "part", json_integer(trace->part));
	buf_init(&line);
	append_line(&line, json_incref(trace->head));
	written = write_all(trace, buf_span(&line));
	buf_free(&line);
	trace->fresh = written;
	return written;
}

/* The file becomes the former one, in place of an older one, and another one begins. */
static bool
turn_over(struct trace *trace)
{
	char former[TRACE_PATH_MAX + 8];

	snprintf(former, sizeof(former), "%s.1", trace->path);
	close(trace->fd);
	trace->fd = rename(trace->path, former) < 0 ? -1 : open_file(trace->path);
	if (trace->fd < 0) {
		fail(trace, errno);
		return false;
	}
	trace->size = 0;
	trace->part++;
	return write_head(trace);
}

/* The length of as many whole lines as fit into the file; 0: not even the first one does, and another file may begin. */
static size_t
whole_lines(const struct trace *trace, struct span lines)
{
	size_t room = trace->size < trace->most ? trace->most - trace->size : 0;
	const char *end = room < lines.len ? memrchr(lines.ptr, '\n', room) : lines.ptr + lines.len - 1;

	if (end == NULL && trace->fresh)
		end = memchr(lines.ptr, '\n', lines.len);
	return end == NULL ? 0 : (size_t)(end - lines.ptr) + 1;
}

void
trace_flush(struct trace *trace)
{
	struct span rest;
	size_t len;

	while (trace->fd >= 0 && (rest = buf_span(&trace->lines)).len > 0) {
		len = whole_lines(trace, rest);
		if (len == 0) {
			turn_over(trace);
			continue;
		}
		if (write_all(trace, span_part(rest, 0, len)))
			buf_consume(&trace->lines, len);
	}
}

void
trace_begin(struct trace *trace, const struct session_config *config, struct log *log, struct span command, msec_t now)
{
	struct timespec wall;

	clock_gettime(CLOCK_REALTIME, &wall);
	trace->log = log;
	trace->head = json_pack("{s:i,s:i,s:I,s:I,s:I,s:s,s:b,s:o}", "trace", TRACE_VERSION, "part", 1, "unix_ms",
	    (json_int_t)wall.tv_sec * 1000 + wall.tv_nsec / 1000000, "mono", (json_int_t)now, "pid",
	    (json_int_t)getpid(), "version", CANCELD_VERSION, "payload", trace->payload, "session",
	    settings_json(config));
	json_object_set_new(trace->head, "server", printable_json(span_of(log->name), false));
	json_object_set_new(trace->head, "command", printable_json(command, false));
	log_tap(log, &trace->tap);
	write_head(trace);
}

void
trace_close(struct trace *trace, msec_t now)
{
	if (trace->head != NULL) {
		record(trace,
		    json_pack("{s:s,s:I,s:I}", "trace", "end", "mono", (json_int_t)now, "calls",
			(json_int_t)trace->calls));
		trace_flush(trace);
		log_untap(trace->log, &trace->tap);
	}
	json_decref(trace->head);
	if (trace->fd >= 0)
		close(trace->fd);
	buf_free(&trace->lines);
}
