#include "load.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	BATCH = 65536,  /* of messages to write at once */
	PATTERN = 1000, /* equal bytes of padding in a row */
	GLANCE = 5,     /* milliseconds between two looks at the board */
};

/* Neighbouring stretches differ, also from those of neighbouring messages. */
static void
append_padding(struct text *text, long number, size_t len)
{
	char stretch[PATTERN];

	for (size_t done = 0; done < len; done += PATTERN) {
		size_t part = len - done < PATTERN ? len - done : PATTERN;

		memset(stretch, 'a' + (int)(((size_t)number + done / PATTERN) % 26), part);
		text_append(text, stretch, part);
	}
}

void
load_request(struct text *text, long number, size_t padding)
{
	text_print(text, "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"method\":\"x\",\"params\":[\"", number);
	append_padding(text, number, padding);
	text_append(text, "\"]}\n", 4);
}

void
load_answer(struct text *text, long number, size_t padding)
{
	text_print(text, "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":\"", number);
	append_padding(text, number, padding);
	text_append(text, "\"}\n", 3);
}

static size_t
piece_size(const struct end *end, size_t most)
{
	size_t size = end->piece == 0 ? most : 1 + (size_t)random() % end->piece;

	return size < most ? size : most;
}

bool
end_can_send(const struct end *end, long limit)
{
	return end->sent.done < end->sent.text.len || end->sent.count < limit;
}

static void
fill(struct flow *flow, long limit)
{
	if (flow->done < flow->text.len)
		return;
	flow->text.len = flow->done = 0;
	while (flow->count < limit && flow->text.len < BATCH)
		flow->message(&flow->text, flow->count++, flow->padding);
}

void
end_send(struct end *end, long limit)
{
	struct flow *sent = &end->sent;
	ssize_t done;

	fill(sent, limit);
	done = write(end->out, sent->text.data + sent->done, piece_size(end, sent->text.len - sent->done));
	if (done > 0) {
		sent->done += (size_t)done;
		end->moved += done;
	}
}

static void
expect_next(struct flow *flow)
{
	if (flow->text.len == 0)
		flow->message(&flow->text, flow->count, flow->padding);
}

/* Compares with what is expected, message by message; false at the first byte that differs. */
static bool
flow_matches(struct flow *flow, const char *data, size_t len)
{
	while (len > 0) {
		size_t part;

		expect_next(flow);
		part = flow->text.len - flow->done < len ? flow->text.len - flow->done : len;
		if (memcmp(flow->text.data + flow->done, data, part) != 0)
			return false;
		flow->done += part;
		data += part;
		len -= part;
		if (flow->done == flow->text.len) {
			flow->text.len = flow->done = 0;
			flow->count++;
		}
	}
	return true;
}

void
end_receive(struct end *end)
{
	char piece[BATCH];
	ssize_t done = read(end->in, piece, piece_size(end, sizeof(piece)));

	if (done > 0) {
		end->moved += done;
		end->wrong = end->wrong || !flow_matches(&end->received, piece, (size_t)done);
	} else if (done == 0 || (errno != EAGAIN && errno != EINTR)) {
		close(end->in);
		end->in = -1;
	}
}

void
end_free(struct end *end)
{
	free(end->received.text.data);
	free(end->sent.text.data);
}

struct board *
board_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *board;

	if (fd < 0 || ftruncate(fd, sizeof(struct board)) != 0)
		return NULL;
	board = mmap(NULL, sizeof(struct board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return board == MAP_FAILED ? NULL : board;
}

static void
mirror_step(struct end *end, struct board *board, bool eager)
{
	bool answering = end_can_send(end, end->received.count);
	bool listening = !board->server_pauses && (eager || !answering);
	struct pollfd fds[2] = {
		{ .fd = listening ? end->in : -1, .events = POLLIN },
		{ .fd = answering ? end->out : -1, .events = POLLOUT },
	};

	poll(fds, 2, listening ? -1 : GLANCE);
	if (fds[0].revents != 0 && !board->server_pauses)
		end_receive(end);
	if (fds[1].revents != 0)
		end_send(end, end->received.count);
	board->moved = end->moved;
}

int
load_mirror(int count, char **arguments)
{
	struct board *board = count < 5 ? NULL : board_open(arguments[1]);
	struct end end = { .in = STDIN_FILENO, .out = STDOUT_FILENO };

	if (board == NULL)
		return 2;
	end.received = (struct flow){ .message = load_request, .padding = (size_t)atol(arguments[2]) };
	end.sent = (struct flow){ .message = load_answer, .padding = (size_t)atol(arguments[3]) };
	fcntl(end.in, F_SETFL, fcntl(end.in, F_GETFL) | O_NONBLOCK);
	fcntl(end.out, F_SETFL, fcntl(end.out, F_GETFL) | O_NONBLOCK);
	while (end.in >= 0 && !end.wrong)
		mirror_step(&end, board, strcmp(arguments[4], "eager") == 0);
	if (end.wrong)
		fprintf(stderr, "mirror: request %ld has changed on its way\n", end.received.count);
	end_free(&end);
	return end.wrong ? 9 : 0;
}
