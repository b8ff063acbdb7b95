#include "shell/log.h"

#include "core/compose.h"
#include "shell/words.h"

enum {
	READ_SIZE = 16 << 10,
	READS = 4,       /* reads in one round of the loop */
	LAST_READS = 64, /* READ_SIZE times this is the largest pipe */
};

int
relay_open(struct relay *relay, bool inherited, struct log *shared)
{
	const struct log_config config = { .level = LEVEL_ERROR };
	int pair[2];

	*relay = (struct relay){ .in = DESCRIPTOR_NONE, .write_end = -1 };
	log_init(&relay->own, &config);
	relay->out = shared != NULL ? shared : &relay->own;
	if (shared == NULL && log_open(&relay->own, &config) != NULL)
		return -1;
	if (inherited || isatty(STDERR_FILENO))
		return 0;
	if (system_pipe(pair) < 0)
		return -1;
	descriptor_init(&relay->in, pair[0], true);
	relay->write_end = pair[1];
	return 0;
}

/*
 * Queues the lines that fit. A line that does not fit is dropped up to its end, even if that comes
 * with a later read.
 */
static void
enqueue(struct relay *relay, struct span bytes)
{
	for (size_t len; bytes.len > 0; bytes = span_from(bytes, len)) {
		len = span_until(bytes, "\n").len;
		len += len < bytes.len;
		if (!relay->dropping &&
		    !log_pass(relay->out, span_head(bytes, len), RELAY_QUEUE_MAX)) {
			log_end_line(relay->out);
			relay->dropping = true;
			relay->lost++;
		}
		relay->dropping = relay->dropping && bytes.ptr[len - 1] != '\n';
	}
}

static void
carry(struct relay *relay, int reads)
{
	char bytes[READ_SIZE];
	ssize_t got;

	log_write(relay->out);
	while (relay->in.fd >= 0 && reads-- > 0 &&
	    (got = descriptor_read(&relay->in, bytes, sizeof(bytes))) > 0) {
		struct span read = { bytes, (size_t)got };

		buf_append(&relay->tail, read);
		if (relay->tail.len > RELAY_TAIL_MAX)
			buf_consume(&relay->tail, relay->tail.len - RELAY_TAIL_MAX);
		enqueue(relay, read);
		log_write(relay->out);
	}
}

void
relay_watch(struct relay *relay)
{
	descriptor_want(&relay->in, EV_READ);
	log_watch(&relay->own);
}

void
relay_round(struct relay *relay)
{
	if (relay->in.ready || relay->out->queue.len > 0)
		carry(relay, READS);
}

void
relay_say(struct relay *relay, struct span line)
{
	BUF_AUTO text = { 0 };

	log_end_line(relay->out);
	compose_text(&text, "canceld: ");
	printable_append(&text, line, "");
	compose_text(&text, "\n");
	enqueue(relay, buf_span(&text));
	log_write(relay->out);
}

void
relay_close(struct relay *relay)
{
	carry(relay, LAST_READS);
	descriptor_close(&relay->in);
	log_close(&relay->own);
	close(relay->write_end);
	buf_free(&relay->tail);
}

uint64_t
relay_lost(struct relay *relay)
{
	uint64_t lost = relay->lost + relay->own.lost;

	if (relay->out->queue.len > 0)
		return 0;
	relay->lost = relay->own.lost = 0;
	return lost;
}

struct span
relay_last_lines(struct relay *relay)
{
	carry(relay, LAST_READS);
	return span_last_lines(buf_span(&relay->tail), RELAY_TAIL_MAX - 1);
}

void
relay_forget(struct relay *relay)
{
	carry(relay, LAST_READS);
	buf_clear(&relay->tail);
}
