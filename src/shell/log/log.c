#include "shell/log.h"

#include "core/compose.h"
#include "shell/words.h"

enum {
	TIME_SIZE = 64,
	DIGITS_MOST = 18, /* of an integer that every reader of JSON keeps */
	OF_OTHERS = S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH,
};

/*
 * Why messages, which may have secrets, must not be written to the file; NULL: only its user can
 * read it.
 */
static const char *
find_exposure(int fd, struct stat *status)
{
	if (fstat(fd, status) < 0 || !S_ISREG(status->st_mode))
		return "it is no regular file, and --log-payload writes to no other";
	if (status->st_uid != geteuid())
		return "it belongs to another user, and --log-payload writes secrets to it";
	if ((status->st_mode & OF_OTHERS) != 0)
		return "it is open to other users: for --log-payload chmod 600 it first";
	return NULL;
}

void
log_init(struct log *log, const struct log_config *config)
{
	*log = (struct log){
		.config = *config,
		.descriptor = DESCRIPTOR_NONE,
		.writer.back = DESCRIPTOR_NONE,
		.file = -1,
		.pid = getpid(),
	};
}

const char *
log_open(struct log *log, const struct log_config *config)
{
	struct stat status = { 0 };
	char mode[16];
	const char *exposure;
	/* A duplicate of stderr, so that closing the log leaves stderr open. */
	int fd = config->file == NULL ?
	    fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) :
	    open(config->file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
		0600);

	if (fd < 0)
		return errno == ENOENT ? NO_SUCH_FOLDER : strerror(errno);
	exposure = find_exposure(fd, &status);
	if (config->payload && exposure != NULL) {
		close(fd);
		return exposure;
	}
	log_init(log, config);
	if (config->file != NULL && S_ISREG(status.st_mode))
		log->file = fd;
	else
		descriptor_init(&log->descriptor, fd, false);
	if (log->file >= 0 && (status.st_mode & OF_OTHERS) != 0) {
		print_into(mode, "%04o", (unsigned)(status.st_mode & 07777));
		log_event(log, WHY_LOG_EXPOSED, log_string("mode", mode));
	}
	return NULL;
}

/*
 * Starts the writer. If no process can be started, this process writes the file itself; a shared
 * file is then not written.
 */
static void
start_writer(struct log *log)
{
	int fd = writer_start(&log->writer, log->file, log->config.shared);

	descriptor_init(&log->descriptor, fd < 0 ? log->file : fd, fd >= 0);
	log->file = -1;
}

void
log_reopen(struct log *log)
{
	descriptor_close(&log->descriptor);
	writer_end(&log->writer, 0);
	start_writer(log);
	log_flush(log);
}

int
log_failed(struct log *log)
{
	int error = writer_failed(&log->writer);

	if (error == 0 && log->descriptor.broken)
		error = log->descriptor.error != 0 ? log->descriptor.error : EPIPE;
	if (error == 0 || log->failed || log->config.file == NULL)
		return 0;
	log->failed = true;
	return error;
}

void
log_watch(struct log *log)
{
	descriptor_want(&log->descriptor, log->queue.len > 0 ? EV_WRITE : 0);
	descriptor_want(&log->writer.back, log->writer.back.ended ? 0 : EV_READ);
}

int
log_close(struct log *log)
{
	msec_t left = log->writer.pid > 0 && log->config.shared == NULL ? LOG_FILE_WAIT :
									  LOG_LAST_WAIT,
	       end = monotonic_now() + left;
	struct pollfd ready = { .fd = log->descriptor.fd, .events = POLLOUT };

	log_flush(log);
	for (; log->queue.len > 0 && left > 0 && poll(&ready, 1, (int)left) != 0;
	     left = end - monotonic_now())
		log_flush(log);
	descriptor_close(&log->descriptor);
	writer_end(&log->writer, end - monotonic_now());
	close(log->file);
	buf_free(&log->queue);
	buf_free(&log->tail);
	return log_failed(log);
}

const char *const log_levels[] = { "error", "notice", "decision", "traffic" };

bool
log_level_named(struct span name, enum why_level *level)
{
	for (int i = LEVEL_ERROR; i <= LEVEL_TRAFFIC; i++)
		if (span_is(name, log_levels[i])) {
			*level = (enum why_level)i;
			return true;
		}
	return false;
}

/* Words that the history has, too. */
static const unsigned char lasting[] = { WHY_DIALECT, WHY_STARTED, WHY_DEAF, WHY_STUCK,
	WHY_CANCEL_IGNORED, WHY_FAILED, WHY_SERVER_EXITED, WHY_OPERATOR_RESTARTED, WHY_RESTARTING,
	WHY_REPLAY_FAILED, WHY_RESTARTED, WHY_RESTART_REFUSED, WHY_SIGNALLED, WHY_SUMMARY };

bool
log_shows(const struct log *log, enum why why)
{
	return why_level(why) <= log->config.level ||
	    (log->hear != NULL && why_level(why) <= log->hear_level) ||
	    (log->keep != NULL && memchr(lasting, (int)why, sizeof(lasting)) != NULL);
}

bool
log_pass(struct log *log, struct span bytes, size_t most)
{
	if (log->queue.len > 0 && log->queue.len + bytes.len > most)
		return false;
	buf_append(&log->queue, bytes);
	log->inside = bytes.ptr[bytes.len - 1] != '\n';
	return true;
}

void
log_end_line(struct log *log)
{
	if (log->inside)
		compose_text(&log->queue, "\n");
	log->inside = false;
}

/* Each write is of whole lines, so that other writers to the same pipe cannot split them. */
void
log_write(struct log *log)
{
	ssize_t put = 1;

	if (log->queue.len > 0 &&
	    (log->file >= 0 || (log->config.shared != NULL && log->descriptor.fd < 0)))
		start_writer(log);
	while (log->queue.len > 0 && put > 0) {
		struct span lines = buf_span(&log->queue);
		size_t whole = span_through(span_head(lines, PIPE_BUF), '\n');

		if (whole == 0)
			whole = span_until(lines, "\n").len + 1;
		lines = span_head(lines, whole);
		put = descriptor_write(&log->descriptor, &lines, 1);
		if (put > 0)
			buf_consume(&log->queue, (size_t)put);
		if (log->descriptor.broken) {
			/*
			 * A full disk may have room again later, so a failed write does not end the
			 * log.
			 */
			log->lost += span_count(buf_span(&log->queue), '\n');
			buf_clear(&log->queue);
		}
	}
}

static const char *
time_text(char text[TIME_SIZE])
{
	msec_t now = real_now();
	time_t seconds = now / 1000;
	struct tm parts;
	size_t len;

	gmtime_r(&seconds, &parts);
	len = strftime(text, TIME_SIZE, "%Y-%m-%dT%H:%M:%S", &parts);
	snprintf(text + len, TIME_SIZE - len, ".%03dZ", (int)(now % 1000));
	return text;
}

static bool
is_left_out(const struct log_field *field)
{
	if (field->kind == LOG_TIME)
		return field->number == MSEC_NEVER;
	if (field->kind == LOG_POSITIVE)
		return field->number <= 0;
	return field->kind != LOG_NUMBER && field->text.len == 0;
}

/* The beginning of a text, at most so many bytes, and no character cut. */
static struct span
shown_part(struct span text, size_t most)
{
	if (text.len <= most)
		return text;
	for (int i = 0; i < 3 && (text.ptr[most] & 0xc0) == 0x80; i++)
		most--;
	return span_head(text, most);
}

/* Whether a value needs no quotes in a line of text. */
static bool
is_plain(struct span text)
{
	for (size_t i = 0; i < text.len; i++) {
		unsigned char byte = (unsigned char)text.ptr[i];

		if (byte <= ' ' || byte >= 0x7f || strchr("\"'=\\", byte) != NULL)
			return false;
	}
	return true;
}

/*
 * Whether an id can be written as it is in a JSON line: null, or a number so short that no reader
 * rounds it.
 */
static bool
is_value(struct span id)
{
	size_t digits = id.ptr[0] == '-';

	while (digits < id.len && is_digit(id.ptr[digits]))
		digits++;
	return (digits == id.len && digits <= DIGITS_MOST) || span_is(id, "null");
}

static void
append_text(struct buf *line, const struct log_field *field, bool json)
{
	struct span text =
	    shown_part(field->text, field->kind == LOG_PAYLOAD ? LOG_PAYLOAD_MAX : LOG_VALUE_MAX);
	bool cut = text.len < field->text.len, id = field->kind == LOG_ID && !cut;
	bool bare = json ? id && is_value(text) : id || is_plain(text);
	struct span quote = bare ? SPAN_NONE : SPAN("\"");
	char storage[LOG_VALUE_MAX];

	buf_append(line, quote);
	/* An escaped half of a character may stand in a string, but readers refuse it. */
	if (json && id && text.ptr[0] == '"')
		text = unescaped(text, storage, sizeof(storage));
	if (is_plain(text))
		buf_append(line, text);
	else if (json)
		printable_append_json(line, text, !bare);
	else
		printable_append(line, text, bare ? "" : "\"\\");
	if (cut)
		compose_text(line, "...");
	buf_append(line, quote);
}

/* ` key=value`, or in JSON `,"key":value` */
static void
append_fields(struct buf *line, const struct log_field *fields, size_t count, bool json)
{
	for (const struct log_field *field = fields; field < fields + count; field++) {
		if (is_left_out(field))
			continue;
		compose_text(line, json ? ",\"%s\":" : " %s=", field->key);
		if (field->kind >= LOG_NUMBER)
			compose_text(line, field->kind == LOG_TIME && !json ? "%dms" : "%d",
			    field->number);
		else
			append_text(line, field, json);
	}
}

/* ` | the line` */
static void
append_noise(struct buf *line, struct span noise)
{
	struct span shown = shown_part(noise, LOG_NOISE_MAX);

	compose_text(line, " | ");
	printable_append(line, shown, "");
	if (shown.len < noise.len)
		compose_text(line, "... (%d bytes)", (int64_t)noise.len);
}

void
log_append_line(struct buf *line, const struct log *log, bool json, enum why why,
    const struct log_field *fields, size_t count)
{
	const char *name = log->config.name != NULL ? log->config.name : "";
	int64_t pid = log->pid;
	char now[TIME_SIZE];

	if (json) {
		compose_json(line, "{\"time\":\"%s\",\"pid\":%d", time_text(now), pid);
		append_fields(line, LOG_FIELDS(log_string("server", name)), true);
		if (log->config.members != NULL)
			buf_append(line, buf_span(log->config.members));
		compose_json(line,
		    log->config.dry_run ? ",\"dry_run\":true,\"why\":\"%s\"" : ",\"why\":\"%s\"",
		    why_word(why));
		append_fields(line, fields, count, true);
		compose_json(line, "}\n");
		return;
	}
	if (log->config.file != NULL)
		compose_text(line, "%s ", time_text(now));
	compose_text(line, name[0] != '\0' ? "canceld[%d] " : "canceld[%d]", pid);
	printable_append(line, span_of(name), "");
	compose_text(line, log->config.dry_run ? " (dry run): %s" : ": %s", why_word(why));
	if (why != WHY_NOISE) {
		append_fields(line, fields, count, false);
	} else {
		append_fields(line, fields + 1, count > 1, false); /* the hint */
		append_noise(line, fields[0].text);
	}
	compose_text(line, "\n");
}

void
log_flush(struct log *log)
{
	int kept = errno;
	uint64_t told;

	if (log->queue.len + log->lost == 0)
		return;
	log_write(log);
	told = log->lost;
	if (told > 0 && log->queue.len <= LOG_QUEUE_MAX / 2) {
		log->lost = 0;
		log_end_line(log);
		log_append_line(&log->queue, log, log->config.json, WHY_LINES_LOST,
		    LOG_FIELDS(log_number("lines", told)));
		log_write(log);
		/* If the LINES_LOST line itself was lost, its lines still have to be counted. */
		log->lost += log->lost > 0 ? told - 1 : 0;
	}
	errno = kept;
}

void
log_fields(struct log *log, enum why why, const struct log_field *fields, size_t count)
{
	size_t told = count - (count > 0 && fields[count - 1].kind == LOG_PAYLOAD);
	int kept = errno;
	struct buf line = { 0 };

	if (why_level(why) <= log->config.level) {
		if (!log->config.by_round)
			log_flush(log);
		if (log->lost == 0)
			log_append_line(&line, log, log->config.json, why, fields,
			    log->config.payload ? count : told);
		log_end_line(log);
		if (line.len == 0 ||
		    !log_pass(log, buf_span(&line),
			log->writer.pid > 0 ? LOG_FILE_QUEUE_MAX : LOG_QUEUE_MAX))
			log->lost++;
		if (!log->config.by_round)
			log_flush(log);
		if (log->config.tail)
			log_append_line(&log->tail, log, true, why, fields, told);
		while (log->tail.len > LOG_TAIL_MAX)
			buf_consume(&log->tail, span_until(buf_span(&log->tail), "\n").len + 1);
	}
	if (log->hear != NULL && why_level(why) <= log->hear_level)
		log->hear(log->hearer, why, fields, told);
	if (log->keep != NULL && memchr(lasting, (int)why, sizeof(lasting)) != NULL)
		log->keep(log->keeper, why, fields, told);
	buf_free(&line);
	errno = kept;
}

void
log_failure(struct log *log, const char *doing, int error)
{
	log_event(log, WHY_FAILED, log_string("doing", doing),
	    log_string("reason", error == 0 ? NULL : strerror(error)));
}

struct log_field
log_string(const char *key, const char *text)
{
	return log_text(key, span_of(text));
}
