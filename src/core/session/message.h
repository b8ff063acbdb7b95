#pragma once

/* The message at hand, and what is to be changed in it before it passes. */

#include "core/session.h"

struct edits {            /* of the message at hand, or of the batch that it is in */
	struct buf list;  /* struct edit, by offset */
	struct buf texts; /* of them */
};

/* Of a JSON-RPC 2.0 message, judged by its top-level members alone. */
enum message_kind {
	/*
	 * no JSON, also for its UTF-8, but see broken_at; no JSON-RPC; refused for its depth or
	 * repeated members
	 */
	MESSAGE_NONE,
	MESSAGE_REQUEST,
	MESSAGE_NOTIFICATION,
	MESSAGE_RESPONSE,
	MESSAGE_BATCH, /* an array, one of whose elements is a message */
	MESSAGE_BLANK, /* white space only */
};

enum { METHOD_MAX = 256 };

/*
 * The message at hand, whole: one frame of a lane with its positions, and the edits to be made
 * before it passes. It borrows the lane's bytes: it is invalid when more are read into the lane, or
 * lane_sent or lane_give_back was called. It is not copied.
 */
struct message {
	enum side from, to;
	struct party *writer, *reader; /* of these sides */
	const struct scan *scan;
	enum message_kind kind;
	/* as far as it was read; REQUEST, NOTIFICATION, RESPONSE or NONE */
	enum message_kind meant;
	const char *malformed; /* a response that is no sound answer: what is wrong; or NULL */
	struct id id;       /* empty if absent, null, repeated or not kept: it cannot be tracked */
	struct span method; /* unescaped; or empty */
	struct span text;   /* without byte order mark and newline */
	uint64_t start, next; /* positions in the lane of `from`: of text, and behind its newline */
	/* which it names, or whose answer it is, or is meant to be, by its id; or NULL */
	struct request *request;
	struct request *question;    /* ... of canceld's own; or NULL */
	const struct cancel *cancel; /* its form, if it is a cancel; else NULL */
	enum why word;        /* the word that it passes under: RELAYED, RECOVERED or ID_COERCED */
	struct span obstacle; /* why it does not pass, where its word does not say that; or empty */
	/* the server's: a string is no UTF-8, first before this offset; 0: it is sound */
	size_t broken_at;
	size_t cleaned; /* --clean-text: how many characters were replaced */
	bool bound;     /* meaningful to the current server only, which may need it now */
	bool urgent;    /* it overtakes the messages that wait */
	bool front;     /* unless it overtakes, what was held waits for it: handshake->front */
	bool swallowed; /* only canceld had asked for it: it is dropped where it would pass */
	/* of an element: the batch, with which it passes in any case; else NULL */
	struct message *batch;
	struct edits *edits;
	uint64_t *taken_at; /* of a request of which there is a copy: its copy->start; else NULL */
	struct outlet *outlet; /* of the session: reports its fate, and answers its sender */
	size_t edits_from;     /* of an element: bytes of the list before its own edits; else 0 */
	char unescaped[METHOD_MAX]; /* private, as the next */
	struct scan storage;
};

/*
 * Reads the text as a message of this writer: scans it, tells its kind, and finds what it answers.
 * needs_jsonrpc: a text without the member "jsonrpc" is MESSAGE_NONE, unless it names a request:
 * some SDKs leave it out of answers.
 */
void message_read(struct message *message, struct party *writer, struct span text,
    bool needs_jsonrpc);

/*
 * Reads the next element of a batch from *at on, which is 0 before the first one and is moved
 * behind it. false: there is none, or it is not complete.
 */
bool message_read_element(struct message *element, struct message *batch, size_t *at,
    bool needs_jsonrpc);

/*
 * How many bytes an unfinished message of the writer's lacks, by its header, though its text has
 * ended; 0: it has not.
 */
uint64_t message_missing(const struct party *writer);

/* Replaces len bytes from this offset of the text on, or the field's value, by `with`. */
void message_edit(struct message *message, uint64_t offset, uint64_t len, struct span with);
void message_replace(struct message *message, enum scan_field field, struct span with);

/* How a sound response answers: "result", "isError" or the code of an error; else empty. */
struct span message_answer(const struct message *message);

/* Not a batch: a single message. */
static inline bool
message_is_single(const struct message *message)
{
	return message->kind >= MESSAGE_REQUEST && message->kind <= MESSAGE_RESPONSE;
}

/* As scan_text. */
static inline struct span
message_value(const struct message *message, enum scan_field field)
{
	return scan_text(message->scan, field);
}

/* The message is a sound response with a result. */
static inline bool
message_grants(const struct message *message)
{
	return scan_has(message->scan, SCAN_RESULT) && !message->malformed;
}

/* The field's value if it can be an id or a token: a string or a number, and kept; else empty. */
static inline struct id
message_id(const struct message *message, enum scan_field field)
{
	enum value_type type = scan_type(message->scan, field);

	if (type != VALUE_STRING && type != VALUE_NUMBER)
		return ID_NONE;
	return id_of(message_value(message, field));
}
