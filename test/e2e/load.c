#include "load.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "life.h"

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

static void
load_request(struct text *text, long number, size_t padding)
{
	text_print(text, "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"method\":\"x\",\"params\":[\"", number);
	append_padding(text, number, padding);
	text_append(text, "\"]}\n", 4);
}

static void
load_answer(struct text *text, long number, size_t padding)
{
	text_print(text, "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":\"", number);
	append_padding(text, number, padding);
	text_append(text, "\"}\n", 3);
}

/* Values whose spelling does not survive a parser and a printer. */
static const char *const spellings[] = {
	"null",
	"{\"v\":1.10,\"w\":1e2,\"x\":-0,\"y\":0.30000000000000000001}",
	"{ \"b\" : 1 , \"a\" : [ ] , \"b2\":{ } }",
	"\"\\u00e9 \\/ \\ud83d\\ude00 \xc3\xa9 / \xf0\x9f\x98\x80\"",
	"\"zero\xe2\x80\x8dwidth\xe2\x80\x8bjoiner\xef\xbb\xbf \\u200d\"",
	"{\"id\":99999999999999999999,\"method\":\"notifications/cancelled\",\"result\":null}",
	"\"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":1,\\\"result\\\":{}}\"",
	"[12345678901234567890,-98765432109876543210,1E400]",
};

enum {
	SPELLINGS = sizeof(spellings) / sizeof(*spellings),
	LONG_EVERY = 97, /* one answer in so many is long */
	LONG = 300000,
};

static void
wire_id(struct text *text, long number)
{
	if (number % 4 == 0)
		text_print(text, "%ld", number);
	else if (number % 4 == 1)
		text_print(text, "1%019ld", number);
	else if (number % 4 == 2)
		text_print(text, "\"r\\u00e9-%ld\"", number);
	else
		text_print(text, "\"\xe2\x80\x8d%ld\"", number);
}

static void
wire_padding(struct text *text, long number)
{
	size_t len = number % LONG_EVERY == 0 ? LONG : (size_t)(number * 7919 % 1500);

	text_append(text, "\"", 1);
	for (size_t i = 0; i < len; i++)
		text_append(text, i % 61 == 60 ? "\\\\" : "p", i % 61 == 60 ? 2 : 1);
	text_append(text, "\"", 1);
}

static void
load_spelled_request(struct text *text, long number, size_t padding)
{
	const char *spelling = spellings[number * 31 % SPELLINGS];

	(void)padding;
	if (number % 2 == 0) {
		text_print(text, "{\"jsonrpc\":\"2.0\",\"id\":");
		wire_id(text, number);
		text_print(text,
		    ",\"method\":\"tools/call\",\"params\":{\"number\":%ld,\"x\":%s}}\n", number,
		    spelling);
	} else {
		text_print(text,
		    "{ \"method\":\"tools/call\",\"params\":{\"x\":%s,\"number\":%ld},\"id\":",
		    spelling, number);
		wire_id(text, number);
		text_print(text, ", \"jsonrpc\":\"2.0\" }\n");
	}
}

/* Each eight are answered in reverse order. */
static void
load_spelled_answer(struct text *text, long place, size_t padding)
{
	long number = place ^ 7;
	const char *spelling = spellings[number % SPELLINGS];

	(void)padding;
	if (number % 3 == 0) {
		text_print(text, "{\"result\":%s,\"padding\":", spelling);
		wire_padding(text, number);
		text_print(text, ",\"jsonrpc\":\"2.0\",\"id\":");
		wire_id(text, number);
	} else {
		text_print(text, "{\"jsonrpc\":\"2.0\", \"id\" : ");
		wire_id(text, number);
		text_print(text,
		    number % 3 == 1 ? ",\"result\":" :
				      ",\"error\":{\"code\":1,\"message\":\"\",\"data\":");
		text_print(text, "[%s,", spelling);
		wire_padding(text, number);
		text_print(text, number % 3 == 1 ? "]" : "]}");
	}
	text_print(text, "}\n");
}

/* In pieces: mostly some hundred bytes, sometimes a few or many. */
static size_t
piece_size(const struct end *end, size_t most)
{
	static const long pieces[] = { 16, 600, 600, 600, 5000, 5000, BATCH, BATCH };
	size_t size = end->in_pieces ? 1 + (size_t)(random() % pieces[random() % 8]) : most;

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
	done = write(end->out, sent->text.data + sent->done,
	    piece_size(end, sent->text.len - sent->done));
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

struct end
load_end(bool is_server, const char *kind, size_t request, size_t answer)
{
	bool spelled = strcmp(kind, "spelled") == 0;
	struct flow requests = { .message = spelled ? load_spelled_request : load_request,
		.padding = request };
	struct flow answers = { .message = spelled ? load_spelled_answer : load_answer,
		.padding = answer };

	return (struct end){ .in = STDIN_FILENO,
		.out = STDOUT_FILENO,
		.received = is_server ? requests : answers,
		.sent = is_server ? answers : requests,
		.in_pieces = spelled };
}

static void
mirror_step(struct end *end, struct board *board, const char *kind)
{
	long answers = end->in_pieces ? end->received.count / 8 * 8 : end->received.count;
	bool answering = end_can_send(end, answers);
	bool listening = !board->server_pauses && (strcmp(kind, "lockstep") != 0 || !answering);
	struct pollfd fds[2] = {
		{ .fd = listening ? end->in : -1, .events = POLLIN },
		{ .fd = answering ? end->out : -1, .events = POLLOUT },
	};

	poll(fds, 2, listening ? -1 : GLANCE);
	if (fds[0].revents != 0 && !board->server_pauses) {
		live_on();
		end_receive(end);
	}
	if (fds[1].revents != 0)
		end_send(end, answers);
	board->moved = end->moved;
}

int
load_mirror(int count, char **arguments)
{
	struct board *board = count < 6 ? NULL : board_open(arguments[1]);
	const char *kind = arguments[4];
	struct end end;

	if (board == NULL)
		return 2;
	live_on();
	end = load_end(true, kind, (size_t)atol(arguments[2]), (size_t)atol(arguments[3]));
	srandom((unsigned)atol(arguments[5]));
	fcntl(end.in, F_SETFL, fcntl(end.in, F_GETFL) | O_NONBLOCK);
	fcntl(end.out, F_SETFL, fcntl(end.out, F_GETFL) | O_NONBLOCK);
	while (end.in >= 0 && !end.wrong)
		mirror_step(&end, board, kind);
	if (end.wrong)
		fprintf(stderr, "mirror: request %ld has changed on its way\n", end.received.count);
	end_free(&end);
	return end.wrong ? 9 : 0;
}
