#include "shell/io.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "shell/system.h"

enum {
	READ_SIZE = 16 << 10,
	READS = 4,       /* reads in one turn of the loop */
	LAST_READS = 64, /* READ_SIZE times this is the largest pipe */
};

int
relay_open(struct relay *relay, bool inherited, struct descriptor *shared)
{
	bool direct = inherited || isatty(STDERR_FILENO);
	int pair[2] = { -1, -1 }, own = shared != NULL ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	*relay = (struct relay){ .in = DESCRIPTOR_NONE, .own = DESCRIPTOR_NONE };
	relay->out = shared != NULL ? shared : &relay->own;
	if (own >= 0)
		descriptor_init(&relay->own, own, false);
	if (!direct && pipe2(pair, O_CLOEXEC) == 0)
		descriptor_init(&relay->in, pair[0], true);
	relay->write_end = pair[1];
	return relay->out->fd < 0 || (!direct && pair[1] < 0) ? -1 : 0;
}

/* The length of the first line, with its newline if there is one. */
static size_t
first_line(struct span bytes)
{
	const char *newline = memchr(bytes.ptr, '\n', bytes.len);

	return newline == NULL ? bytes.len : (size_t)(newline - bytes.ptr) + 1;
}

/* Queues the lines that fit; one that does not is dropped to its end, even if that comes later. */
static void
enqueue(struct relay *relay, struct span bytes)
{
	for (size_t len; bytes.len > 0; bytes = span_from(bytes, len)) {
		len = first_line(bytes);
		if (!relay->dropping && relay->queue.len + len > RELAY_QUEUE_MAX) {
			buf_append(&relay->queue, span_of(relay->inside ? "\n" : ""));
			relay->dropping = true;
			relay->inside = false;
			relay->lost++;
		}
		if (relay->dropping) {
			relay->dropping = bytes.ptr[len - 1] != '\n';
			continue;
		}
		buf_append(&relay->queue, span_part(bytes, 0, len));
		relay->inside = bytes.ptr[len - 1] != '\n';
	}
}

static void
flush(struct relay *relay)
{
	struct span bytes;
	ssize_t put;

	while (relay->queue.len > 0) {
		bytes = buf_span(&relay->queue);
		put = descriptor_write(relay->out, &bytes, 1);
		if (relay->out->broken) {
			/* The disk may have room again later. */
			relay->lost += span_count(bytes, '\n');
			buf_clear(&relay->queue);
		}
		if (put <= 0)
			return;
		buf_consume(&relay->queue, (size_t)put);
	}
}

static void
move(struct relay *relay, int reads)
{
	char bytes[READ_SIZE];
	ssize_t got;

	flush(relay);
	while (relay->in.fd >= 0 && reads-- > 0 && (got = descriptor_read(&relay->in, bytes, sizeof(bytes))) > 0) {
		struct span read = { bytes, (size_t)got };

		buf_append(&relay->tail, read);
		if (relay->tail.len > RELAY_TAIL_MAX)
			buf_consume(&relay->tail, relay->tail.len - RELAY_TAIL_MAX);
		enqueue(relay, read);
		flush(relay);
	}
}

void
relay_watch(struct relay *relay)
{
	descriptor_want(&relay->in, EV_READ);
	descriptor_want(&relay->own, relay->queue.len > 0 ? EV_WRITE : 0);
}

void
relay_turn(struct relay *relay)
{
	if (relay->in.ready || relay->queue.len > 0)
		move(relay, READS);
}

void
relay_say(struct relay *relay, const char *line)
{
	if (relay->inside)
		enqueue(relay, SPAN("\n"));
	enqueue(relay, SPAN("canceld: "));
	enqueue(relay, span_of(line));
	enqueue(relay, SPAN("\n"));
	flush(relay);
}

void
relay_close(struct relay *relay)
{
	msec_t end = monotonic_now() + RELAY_LAST_WAIT;

	move(relay, LAST_READS);
	while (relay->queue.len > 0 && descriptor_wait(relay->out, end))
		flush(relay);
	descriptor_close(&relay->in);
	descriptor_close(&relay->own);
	if (relay->write_end >= 0)
		close(relay->write_end);
	buf_free(&relay->queue);
	buf_free(&relay->tail);
}

uint64_t
relay_lost(struct relay *relay)
{
	uint64_t lost = relay->queue.len > 0 ? 0 : relay->lost;

	relay->lost -= lost;
	return lost;
}

struct span
relay_last_lines(struct relay *relay)
{
	struct span tail;
	size_t cut;

	move(relay, LAST_READS);
	tail = buf_span(&relay->tail);
	cut = tail.len < RELAY_TAIL_MAX ? 0 : first_line(tail);
	return cut < tail.len ? span_from(tail, cut) : tail;
}

void
relay_forget(struct relay *relay)
{
	move(relay, LAST_READS);
	buf_clear(&relay->tail);
}
