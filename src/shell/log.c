#include "shell/log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "log_line.h"

int
log_open(struct log *log, const struct log_config *config)
{
	int fd;

	/* Of stderr a duplicate: closing the log leaves the process its stderr. */
	if (config->file == NULL)
		fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	else
		fd = open(config->file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
	if (fd < 0)
		return -1;
	*log = (struct log){
		.level = config->level,
		.json = config->json,
		.dated = config->file != NULL,
	};
	descriptor_init(&log->descriptor, fd, false);
	buf_init(&log->queue);
	return 0;
}

static msec_t
monotonic(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (msec_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void
log_close(struct log *log)
{
	msec_t end = monotonic() + LOG_LAST_WAIT;
	msec_t left;

	for (log_flush(log); log_wants_write(log); log_flush(log)) {
		struct pollfd ready = { .fd = log->descriptor.fd, .events = POLLOUT };

		left = end - monotonic();
		if (left <= 0 || poll(&ready, 1, (int)left) == 0)
			break;
	}
	descriptor_close(&log->descriptor);
	buf_free(&log->queue);
}

bool
log_shows(const struct log *log, enum why why)
{
	return why_level(why) <= log->level;
}

bool
log_wants_write(const struct log *log)
{
	return log->queue.len > 0;
}

static size_t
count_lines(struct span bytes)
{
	size_t lines = 0;
	const char *newline;

	while (bytes.len > 0 && (newline = memchr(bytes.ptr, '\n', bytes.len)) != NULL) {
		size_t len = (size_t)(newline - bytes.ptr) + 1;

		bytes = span_part(bytes, len, bytes.len - len);
		lines++;
	}
	return lines;
}

/* The disk may have room again later, so what breaks one write does not end the log. */
static void
give_up_queue(struct log *log)
{
	log->lost += count_lines(buf_span(&log->queue)) + log->told - (log->told > 0);
	log->told = 0;
	log->descriptor.broken = false;
	buf_clear(&log->queue);
}

/* One write a line: what others write to the same pipe cannot come between its bytes. */
static bool
write_line(struct log *log)
{
	struct span line = buf_span(&log->queue);
	const char *newline = memchr(line.ptr, '\n', line.len);
	ssize_t put;

	line.len = (size_t)(newline - line.ptr) + 1;
	put = descriptor_write(&log->descriptor, &line, 1);
	if (log->descriptor.broken)
		give_up_queue(log);
	if (put < 0)
		return false;
	buf_consume(&log->queue, (size_t)put);
	if ((size_t)put == line.len)
		log->told = 0;
	return true;
}

static bool
write_queue(struct log *log)
{
	while (log->queue.len > 0)
		if (!write_line(log))
			return false;
	return true;
}

/* In either format, with its newline. */
static void
compose(const struct log *log, struct buf *line, enum why why, const struct log_field *fields, size_t count)
{
	if (log->json) {
		line_object(line, &why, fields, count);
	} else {
		line_head(line, why, log->dated);
		line_fields(line, fields, count);
	}
	buf_append(line, SPAN("\n"));
}

void
log_flush(struct log *log)
{
	int kept = errno;
	struct log_field lines;

	if (write_queue(log) && log->lost > 0) {
		lines = log_number("lines", (int64_t)log->lost);
		log->told = log->lost;
		log->lost = 0;
		compose(log, &log->queue, WHY_LINES_LOST, &lines, 1);
		write_queue(log);
	}
	errno = kept;
}

/* Takes the line over. */
static void
put(struct log *log, struct buf *line)
{
	log_flush(log);
	if (log->lost > 0 || log->queue.len + line->len > LOG_QUEUE_MAX)
		log->lost++;
	else
		buf_append(&log->queue, buf_span(line));
	buf_free(line);
	log_flush(log);
}

void
log_event(struct log *log, enum why why, const struct log_field *fields, size_t count)
{
	int kept = errno;
	struct buf line;

	if (!log_shows(log, why))
		return;
	buf_init(&line);
	compose(log, &line, why, fields, count);
	put(log, &line);
	errno = kept;
}

void
log_statistics(struct log *log, const struct log_field *fields, size_t count)
{
	int kept = errno;
	struct buf line;

	buf_init(&line);
	if (log->json) {
		compose(log, &line, WHY_STATISTICS, fields, count);
	} else {
		line_head(&line, WHY_STATISTICS, log->dated);
		buf_append(&line, SPAN(" "));
		line_object(&line, NULL, fields, count);
		buf_append(&line, SPAN("\n"));
	}
	put(log, &line);
	errno = kept;
}

static void
compose_noise(const struct log *log, struct buf *line, struct span noise)
{
	struct span shown = span_part(noise, 0, noise.len < LOG_NOISE_MAX ? noise.len : LOG_NOISE_MAX);
	char rest[48] = "";

	line_head(line, WHY_NOISE, log->dated);
	buf_append(line, SPAN(" | "));
	line_bytes(line, shown);
	if (shown.len < noise.len)
		snprintf(rest, sizeof(rest), "... (%zu bytes)", noise.len);
	buf_append(line, (struct span){ rest, strlen(rest) });
	buf_append(line, SPAN("\n"));
}

void
log_noise(struct log *log, struct span noise)
{
	struct log_field fields[] = {
		log_text("text", noise),
		log_number("bytes", (int64_t)noise.len),
	};
	int kept = errno;
	struct buf line;

	if (!log_shows(log, WHY_NOISE))
		return;
	buf_init(&line);
	if (log->json)
		compose(log, &line, WHY_NOISE, fields, 2);
	else
		compose_noise(log, &line, noise);
	put(log, &line);
	errno = kept;
}

void
log_failure(struct log *log, const char *doing, int error)
{
	struct log_field fields[] = {
		log_string("doing", doing),
		log_string("reason", error == 0 ? NULL : strerror(error)),
	};

	log_event(log, WHY_FAILED, fields, 2);
}

struct log_field
log_text(const char *key, struct span text)
{
	return (struct log_field){ .key = key, .kind = LOG_TEXT, .text = text };
}

struct log_field
log_string(const char *key, const char *text)
{
	return log_text(key, (struct span){ text, text == NULL ? 0 : strlen(text) });
}

struct log_field
log_id(const char *key, struct span id)
{
	return (struct log_field){ .key = key, .kind = LOG_ID, .text = id };
}

struct log_field
log_number(const char *key, int64_t number)
{
	return (struct log_field){ .key = key, .kind = LOG_NUMBER, .number = number };
}

struct log_field
log_time(const char *key, msec_t duration)
{
	return (struct log_field){ .key = key, .kind = LOG_TIME, .number = duration };
}
