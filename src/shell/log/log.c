#include "shell/log.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "shell/system.h"
#include "shell/words.h"

enum { TIME_SIZE = 64 };

/* Readable where that is possible, for begins_line. */
static int
open_file(const char *path)
{
	int flags = O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	struct stat status;
	bool regular = stat(path, &status) < 0 || S_ISREG(status.st_mode);
	int fd = regular ? open(path, O_RDWR | flags, 0600) : -1;

	return fd >= 0 ? fd : open(path, O_WRONLY | flags, 0600);
}

static bool
is_regular(const struct log *log, struct stat *status)
{
	return log->dated && fstat(log->descriptor.fd, status) == 0 && S_ISREG(status->st_mode);
}

int
log_open(struct log *log, const struct log_config *config)
{
	struct stat status;
	char mode[16];
	int fd;

	/* A duplicate of stderr, so that closing the log leaves stderr open. */
	if (config->file == NULL)
		fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	else
		fd = open_file(config->file);
	if (fd < 0)
		return -1;
	*log = (struct log){
		.level = config->level,
		.json = config->json,
		.dry_run = config->dry_run,
		.payload = config->payload,
		.name = config->name != NULL ? config->name : "",
		.dated = config->file != NULL,
	};
	descriptor_init(&log->descriptor, fd, false);
	buf_init(&log->queue);
	if (is_regular(log, &status) && (status.st_mode & (S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH)) != 0) {
		snprintf(mode, sizeof(mode), "%04o", (unsigned)(status.st_mode & 07777));
		log_event(log, WHY_LOG_EXPOSED, LOG_FIELDS(log_string("mode", mode)));
	}
	return 0;
}

const char *
log_exposes(const struct log *log)
{
	struct stat status;

	if (!is_regular(log, &status))
		return "is no regular file, so other users may read what is written to it";
	if (status.st_uid != geteuid())
		return "belongs to another user, who may read it";
	return (status.st_mode & (S_IRGRP | S_IROTH)) != 0 ? "may be read by other users: chmod 600 it first" : NULL;
}

void
log_close(struct log *log)
{
	msec_t end = monotonic_now() + LOG_LAST_WAIT;

	do
		log_flush(log);
	while (log_wants_write(log) && descriptor_wait(&log->descriptor, end));
	descriptor_close(&log->descriptor);
	buf_free(&log->queue);
}

void
log_set_level(struct log *log, enum why_level level)
{
	log->level = level;
}

bool
log_level_named(struct span name, enum why_level *level)
{
	static const char *const names[] = { "error", "person", "decision", "traffic" };

	for (int i = LEVEL_ERROR; i <= LEVEL_TRAFFIC; i++)
		if (span_equal(name, span_of(names[i]))) {
			*level = (enum why_level)i;
			return true;
		}
	return false;
}

bool
log_shows(const struct log *log, enum why why)
{
	enum why_level level = why_level(why);
	const struct log_tap *tap = log->taps;

	while (tap != NULL && tap->level < level)
		tap = tap->next;
	return tap != NULL || level <= log->level;
}

void
log_tap(struct log *log, struct log_tap *tap)
{
	tap->next = log->taps;
	log->taps = tap;
}

void
log_untap(struct log *log, struct log_tap *tap)
{
	struct log_tap **at = &log->taps;

	while (*at != tap)
		at = &(*at)->next;
	*at = tap->next;
}

bool
log_wants_write(const struct log *log)
{
	return log->queue.len > 0;
}

/* Whether nothing stands before the next byte in its line. The file may end with part of another program's line. */
static bool
begins_line(const struct log *log)
{
	struct stat status;
	char last;

	if (is_regular(log, &status) &&
	    (status.st_size == 0 || pread(log->descriptor.fd, &last, 1, status.st_size - 1) == 1))
		return status.st_size == 0 || last == '\n';
	return !log->descriptor.inside;
}

/* One write for each line, so that other writers to the same pipe cannot split it. */
static bool
write_line(struct log *log)
{
	struct span line = buf_span(&log->queue);
	const char *newline = memchr(line.ptr, '\n', line.len);
	ssize_t put;

	line.len = (size_t)(newline - line.ptr) + 1;
	if (!log->begun && !begins_line(log)) {
		put = descriptor_write(&log->descriptor, (const struct span[]){ SPAN("\n"), line }, 2);
		put -= put > 0;
	} else {
		put = descriptor_write(&log->descriptor, &line, 1);
	}
	if (log->descriptor.broken) {
		/* A full disk may have room again later, so a failed write does not end the log. */
		log->lost += span_count(buf_span(&log->queue), '\n') + log->told - (log->told > 0);
		log->told = 0;
		log->begun = false;
		buf_clear(&log->queue);
	}
	if (put < 0)
		return false;
	buf_consume(&log->queue, (size_t)put);
	log->begun = (size_t)put < line.len && (put > 0 || log->begun);
	if ((size_t)put == line.len)
		log->told = 0;
	return true;
}

static void
append(struct buf *line, const char *text)
{
	buf_append(line, span_of(text));
}

static const char *
time_text(char text[TIME_SIZE])
{
	struct timespec now;
	struct tm parts;
	size_t len;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &parts);
	len = strftime(text, TIME_SIZE, "%Y-%m-%dT%H:%M:%S", &parts);
	snprintf(text + len, TIME_SIZE - len, ".%03dZ", (int)(now.tv_nsec / 1000000));
	return text;
}

static bool
is_left_out(const struct log_field *field)
{
	if (field->kind == LOG_TIME)
		return field->number == MSEC_NEVER;
	return field->kind != LOG_NUMBER && field->text.len == 0;
}

/* The beginning of a text, up to the end of a character. */
static struct span
shown_part(struct span text, size_t most)
{
	if (text.len <= most)
		return text;
	for (int i = 0; i < 3 && (text.ptr[most] & 0xc0) == 0x80; i++)
		most--;
	return span_part(text, 0, most);
}

static struct span
shown_text(const struct log_field *field)
{
	return shown_part(field->text, field->kind == LOG_PAYLOAD ? LOG_PAYLOAD_MAX : LOG_VALUE_MAX);
}

/* Whether the value needs no quotes. */
static bool
is_plain(struct span text)
{
	size_t i;

	for (i = 0; i < text.len; i++) {
		unsigned char byte = (unsigned char)text.ptr[i];

		if (byte <= ' ' || byte >= 0x7f || strchr("\"'=\\", byte) != NULL)
			return false;
	}
	return true;
}

/* ` key=value` */
static void
append_field(struct buf *line, const struct log_field *field)
{
	struct span text = shown_text(field);
	bool plain = field->kind == LOG_ID || is_plain(text);
	char number[32];

	if (is_left_out(field))
		return;
	append(line, " ");
	append(line, field->key);
	append(line, "=");
	if (field->kind == LOG_NUMBER || field->kind == LOG_TIME) {
		snprintf(number, sizeof(number), "%lld%s", (long long)field->number,
		    field->kind == LOG_TIME ? "ms" : "");
		append(line, number);
		return;
	}
	append(line, plain ? "" : "\"");
	printable_append(line, text, plain ? "" : "\"\\");
	append(line, plain ? "" : "\"");
	append(line, text.len < field->text.len ? "..." : "");
}

/* ` | the line` */
static void
append_noise(struct buf *line, struct span noise)
{
	struct span shown = shown_part(noise, LOG_NOISE_MAX);
	char rest[48] = "";

	append(line, " | ");
	printable_append(line, shown, "");
	if (shown.len < noise.len)
		snprintf(rest, sizeof(rest), "... (%zu bytes)", noise.len);
	append(line, rest);
}

static json_t *
json_of_field(const struct log_field *field)
{
	struct span text;
	json_t *value;

	if (field->kind == LOG_NUMBER || field->kind == LOG_TIME)
		return json_integer(field->number);
	text = shown_text(field);
	/* A number that jansson would round becomes a string. */
	value = field->kind == LOG_ID ? json_loadb(text.ptr, text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL) : NULL;
	if (value != NULL && !json_is_real(value))
		return value;
	json_decref(value);
	return printable_json(text, text.len < field->text.len);
}

/* jansson does not escape DEL. */
static int
append_dumped(const char *bytes, size_t len, void *line)
{
	const char *del;

	while ((del = memchr(bytes, 0x7f, len)) != NULL) {
		buf_append(line, (struct span){ bytes, (size_t)(del - bytes) });
		append(line, "\\u007f");
		len -= (size_t)(del - bytes) + 1;
		bytes = del + 1;
	}
	buf_append(line, (struct span){ bytes, len });
	return 0;
}

/* Takes the object. */
static void
append_object(struct buf *line, json_t *object, const struct log_field *fields, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!is_left_out(&fields[i]))
			json_object_set_new(object, fields[i].key, json_of_field(&fields[i]));
	/* ASCII: safe on any terminal. */
	json_dump_callback(object, append_dumped, line, JSON_COMPACT | JSON_ENSURE_ASCII);
	json_decref(object);
}

static void
compose_json(struct buf *line, const struct log *log, enum why why, const struct log_field *fields, size_t count)
{
	char now[TIME_SIZE];
	json_t *object = json_object();

	json_object_set_new(object, "time", json_string(time_text(now)));
	json_object_set_new(object, "pid", json_integer(getpid()));
	if (log->name[0] != '\0')
		json_object_set_new(object, "server", printable_json(span_of(log->name), false));
	if (log->dry_run)
		json_object_set_new(object, "dry_run", json_true());
	json_object_set_new(object, "why", json_string(why_word(why)));
	append_object(line, object, fields, count);
}

/* `canceld[PID] NAME: WHY` and the fields, after the time if dated. */
static void
compose_text(struct buf *line, const struct log *log, enum why why, const struct log_field *fields, size_t count)
{
	char now[TIME_SIZE], head[64];
	size_t i;

	append(line, log->dated ? time_text(now) : "");
	snprintf(head, sizeof(head), "%scanceld[%ld]%s", log->dated ? " " : "", (long)getpid(),
	    log->name[0] != '\0' ? " " : "");
	append(line, head);
	printable_append(line, span_of(log->name), "");
	append(line, log->dry_run ? " (dry run): " : ": ");
	append(line, why_word(why));
	if (why == WHY_NOISE && count > 0) {
		append_noise(line, fields[0].text);
	} else if (why == WHY_STATISTICS) {
		append(line, " ");
		append_object(line, json_object(), fields, count);
	} else {
		for (i = 0; i < count; i++)
			append_field(line, &fields[i]);
	}
}

/* Composes the line in either format, with its newline. */
static void
compose(const struct log *log, struct buf *line, enum why why, const struct log_field *fields, size_t count)
{
	if (log->json)
		compose_json(line, log, why, fields, count);
	else
		compose_text(line, log, why, fields, count);
	append(line, "\n");
}

void
log_flush(struct log *log)
{
	int kept = errno;
	bool taken = true;

	while (taken && (log->queue.len > 0 || log->lost > 0)) {
		if (log->queue.len == 0) {
			log->told = log->lost;
			log->lost = 0;
			compose(log, &log->queue, WHY_LINES_LOST, LOG_FIELDS(log_number("lines", (int64_t)log->told)));
		}
		taken = write_line(log);
	}
	errno = kept;
}

/* Composes and queues a line, or counts it as lost. */
static void
put(struct log *log, enum why why, const struct log_field *fields, size_t count)
{
	int kept = errno;
	struct buf line;

	buf_init(&line);
	compose(log, &line, why, fields, count);
	log_flush(log);
	if (log->lost > 0 || (log->queue.len > 0 && log->queue.len + line.len > LOG_QUEUE_MAX))
		log->lost++;
	else
		buf_append(&log->queue, buf_span(&line));
	buf_free(&line);
	log_flush(log);
	errno = kept;
}

static void
tell_taps(const struct log *log, enum why why, const struct log_field *fields, size_t count)
{
	const struct log_tap *tap;
	struct buf line;
	int kept = errno;

	buf_init(&line);
	for (tap = log->taps; tap != NULL; tap = tap->next) {
		if (why_level(why) > tap->level)
			continue;
		if (line.len == 0) {
			compose_json(&line, log, why, fields, count);
			append(&line, "\n");
		}
		tap->hear(tap->user, why, buf_span(&line));
	}
	buf_free(&line);
	errno = kept;
}

void
log_event(struct log *log, enum why why, const struct log_field *fields, size_t count)
{
	size_t told = count - (count > 0 && fields[count - 1].kind == LOG_PAYLOAD);

	if (why_level(why) <= log->level)
		put(log, why, fields, log->payload ? count : told);
	tell_taps(log, why, fields, told);
}

void
log_statistics(struct log *log, const struct log_field *fields, size_t count)
{
	put(log, WHY_STATISTICS, fields, count);
}

void
log_noise(struct log *log, struct span line)
{
	log_event(log, WHY_NOISE, LOG_FIELDS(log_text("text", line), log_number("bytes", (int64_t)line.len)));
}

void
log_failure(struct log *log, const char *doing, int error)
{
	const char *reason = error == 0 ? NULL : strerror(error);

	log_event(log, WHY_FAILED, LOG_FIELDS(log_string("doing", doing), log_string("reason", reason)));
}

struct log_field
log_text(const char *key, struct span text)
{
	return (struct log_field){ .key = key, .kind = LOG_TEXT, .text = text };
}

struct log_field
log_string(const char *key, const char *text)
{
	return log_text(key, text == NULL ? SPAN_NONE : span_of(text));
}

struct log_field
log_id(const char *key, struct span id)
{
	return (struct log_field){ .key = key, .kind = LOG_ID, .text = id };
}

struct log_field
log_payload(struct span message)
{
	return (struct log_field){ .key = "payload", .kind = LOG_PAYLOAD, .text = message };
}

struct log_field
log_number(const char *key, int64_t number)
{
	return (struct log_field){ .key = key, .kind = LOG_NUMBER, .number = number };
}

struct log_field
log_positive(const char *key, uint64_t number)
{
	return number > 0 ? log_number(key, (int64_t)number) : log_string(key, NULL);
}

struct log_field
log_time(const char *key, msec_t duration)
{
	return (struct log_field){ .key = key, .kind = LOG_TIME, .number = duration };
}
