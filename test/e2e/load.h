/*
 * load: the two ends of a connection that send as fast as it takes. Each end knows what the other
 * sends, so every byte that is lost, doubled, changed or out of order is found at once.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "text.h"

/* Appends message number, its newline included, with so many bytes of padding in it. */
typedef void message_function(struct text *text, long number, size_t padding);

/* One direction, seen from one end. */
struct flow {
	message_function *message;
	size_t padding;
	long count;       /* whole messages received, or messages put into text to be sent */
	struct text text; /* the message that is expected, or those to be sent */
	size_t done;      /* bytes of text received, or written */
};

struct end {
	int in, out; /* must not block; in becomes -1 at its end */
	struct flow received, sent;
	bool in_pieces;  /* each read and write has a random size */
	long long moved; /* bytes, both ways */
	bool wrong;      /* an unexpected byte came; received.count is the message */
};

/*
 * On stdin and stdout. Requests and answers have so many bytes of padding. With the kind "spelled"
 * they have numbers, strings and ids in spellings that do not survive a parser, each eight are
 * answered in reverse order, and all goes in pieces.
 */
struct end load_end(bool is_server, const char *kind, size_t request, size_t answer);

/* a message before number `limit` is unwritten */
bool end_can_send(const struct end *end, long limit);
void end_send(struct end *end, long limit); /* at most one write */
void end_receive(struct end *end);          /* at most one read */
void end_free(struct end *end);

/* Memory shared by a test and its server: the server's progress, and the test's orders. */
struct board {
	atomic_llong moved;
	atomic_bool server_pauses; /* the server must not read */
};

struct board *board_open(const char *path);

/*
 * A server: mirror BOARD REQUEST ANSWER KIND SEED. Answers each request (see load_end). KIND
 * lockstep reads nothing while it has an answer to write; the others read always. Ends at the end
 * of its input; with 9 if a request is wrong.
 */
int load_mirror(int count, char **arguments);
