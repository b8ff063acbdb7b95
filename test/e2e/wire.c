#include "peers.h"

#include <sched.h>
#include <unistd.h>

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
	LONG_EVERY = 97, /* one answer in so many is longer than canceld holds */
	LONG = 300000,
	PIECE_MAX = 65536,
};

void
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

void
wire_request(struct text *text, long number)
{
	const char *spelling = spellings[number * 31 % SPELLINGS];

	if (number % 2 == 0) {
		text_print(text, "{\"jsonrpc\":\"2.0\",\"id\":");
		wire_id(text, number);
		text_print(text, ",\"method\":\"tools/call\",\"params\":{\"number\":%ld,\"x\":%s}}", number, spelling);
	} else {
		text_print(text, "{ \"method\":\"tools/call\",\"params\":{\"x\":%s,\"number\":%ld},\"id\":", spelling,
		    number);
		wire_id(text, number);
		text_print(text, ", \"jsonrpc\":\"2.0\" }");
	}
}

void
wire_answer(struct text *text, long number)
{
	const char *spelling = spellings[number % SPELLINGS];

	if (number % 3 == 0) {
		text_print(text, "{\"result\":%s,\"padding\":", spelling);
		wire_padding(text, number);
		text_print(text, ",\"jsonrpc\":\"2.0\",\"id\":");
		wire_id(text, number);
	} else {
		text_print(text, "{\"jsonrpc\":\"2.0\", \"id\" : ");
		wire_id(text, number);
		text_print(text,
		    number % 3 == 1 ? ",\"result\":" : ",\"error\":{\"code\":1,\"message\":\"\",\"data\":");
		text_print(text, "[%s,", spelling);
		wire_padding(text, number);
		text_print(text, number % 3 == 1 ? "]" : "]}");
	}
	text_print(text, "}");
}

size_t
wire_piece(void)
{
	static const size_t most[] = { 16, 600, 600, 600, 5000, 5000, PIECE_MAX, PIECE_MAX };

	return 1 + (size_t)random() % most[random() % 8];
}

static void
write_pieces(const struct text *text)
{
	size_t done = 0;

	while (done < text->len) {
		size_t piece = wire_piece();
		ssize_t part =
		    write(STDOUT_FILENO, text->data + done, piece < text->len - done ? piece : text->len - done);

		if (part <= 0)
			exit(8);
		done += (size_t)part;
		if (random() % 4 == 0)
			sched_yield();
	}
}

static long
check_request(const char *line)
{
	struct text wanted = { 0 };
	const char *found = member_find(member_find(line, "params"), "number");
	long number = found == NULL ? -1 : atol(found);

	wire_request(&wanted, number);
	if (strcmp(wanted.data, line) != 0) {
		fprintf(stderr, "peer: changed on the way: %.300s\n", line);
		exit(9);
	}
	free(wanted.data);
	return number;
}

static size_t
take_requests(struct text *input, long *numbers)
{
	char *start = input->data;
	char *newline;
	size_t count = 0;

	while ((newline = memchr(start, '\n', input->len - (size_t)(start - input->data))) != NULL) {
		*newline = '\0';
		numbers[count++] = check_request(start);
		start = newline + 1;
	}
	text_drop(input, (size_t)(start - input->data));
	return count;
}

/* Requests completed by one read are answered in random order. */
int
wire_serve(int count, char **arguments)
{
	static char piece[PIECE_MAX];
	static long numbers[PIECE_MAX];
	struct text input = { 0 };
	struct text output = { 0 };
	ssize_t done;

	srandom(count < 2 ? 1 : (unsigned)atol(arguments[1]));
	while ((done = read(STDIN_FILENO, piece, wire_piece())) > 0) {
		size_t requests;

		text_append(&input, piece, (size_t)done);
		for (requests = take_requests(&input, numbers); requests > 0; requests--) {
			size_t chosen = (size_t)random() % requests;

			wire_answer(&output, numbers[chosen]);
			text_append(&output, "\n", 1);
			numbers[chosen] = numbers[requests - 1];
		}
		write_pieces(&output);
		output.len = 0;
	}
	free(input.data);
	free(output.data);
	return 0;
}
