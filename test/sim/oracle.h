#ifndef SIM_ORACLE_H
#define SIM_ORACLE_H

/*
 * Knows what the two peers put in and sees what they get, and nothing of canceld: it shares no code with src/core. It
 * checks promises 1 to 3 of the manual line by line, and the rest when a world has come to its end.
 *
 * Every message of a peer carries a number of its own, "q", by which it is known again.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLIENT, SERVER };

enum kind {
	KIND_REQUEST,
	KIND_RESPONSE,
	KIND_CANCEL,
	KIND_PROGRESS,
	KIND_NOTICE,
	KIND_JUNK, /* must never arrive */
};

struct said { /* one message of a peer */
	int from;
	enum kind kind;
	int ask;     /* the request that it is, answers, cancels or reports on; -1: none */
	char *bytes; /* as written, with its newline */
	size_t len;
	char *arrives;  /* as it has to arrive, without newline; NULL: as written, without line end */
	uint64_t begun; /* when its first byte reached canceld; 0: not yet */
	uint64_t heard; /* when its last byte did */
	bool arrived;
	bool bad; /* a malformed response */
};

struct ask { /* one request */
	int by;
	char id[48];   /* as spelled by who asks */
	char wire[48]; /* as it arrived; empty: not yet */
	char token[48], wire_token[48];
	bool handshake, probe, task, person;
	int said;
	int64_t asked;      /* when canceld heard it */
	int64_t active;     /* the last sign of life that canceld heard */
	uint64_t cancelled; /* when the asker's cancel was heard; 0: not */
	bool written;       /* some answer was, perhaps not heard yet */
	bool doubled;       /* ... and another one */
	uint64_t replied;   /* when the first answer was heard whole; 0: not */
	uint64_t reply_begun;
	uint64_t decided;   /* when canceld said that it answers; 0: not */
	int64_t decided_at; /* ... by the clock */
	bool answered;      /* the asker got an answer */
	int cancels;        /* that arrived */
	bool refused;       /* canceld answered before it went on */
};

struct telling { /* canceld said that it cancels a request */
	char id[48];
	uint64_t step;
};

struct oracle {
	struct said *said;
	int said_count;
	struct ask *asks;
	int ask_count;
	struct telling *tellings[2];   /* by whose request it is, in order */
	int telling_count[2], told[2]; /* said, and arrived */
	int last[2];                   /* the last message of each peer that arrived */
	int junk_lines, error_lines;   /* unreadable lines of the client, and answers to them */
	uint64_t step;
	int64_t now, timeout, cap;
	bool answer_cancelled, no_cancel, tool_errors;
	bool initialized; /* initialize was answered: heard by canceld */
	bool legacy;      /* it began with initialize */
	bool client_left, server_died;
	int broken;         /* so many have */
	int may_break;      /* so many messages may have broken off in the middle */
	char verdict[1024]; /* empty while every promise holds */
};

void oracle_init(struct oracle *oracle);
void oracle_free(struct oracle *oracle);

/* The peer says it; the message's number. bytes is taken over. */
int oracle_say(struct oracle *oracle, int from, enum kind kind, int ask, char *bytes, size_t len);
int oracle_ask(struct oracle *oracle, int by, const char *id);

/* The message's first or last byte has reached canceld. */
void oracle_begun(struct oracle *oracle, int said);
void oracle_heard(struct oracle *oracle, int said);

/*
 * Canceld's log says that it answers the request, or tells its receiver that it is cancelled. What is written arrives
 * later, and in between much may happen; the log alone never makes a promise held.
 */
void oracle_decided(struct oracle *oracle, int by, const char *id);
void oracle_tells(struct oracle *oracle, int by, const char *id);

/* The peer got this line (without newline). */
void oracle_got(struct oracle *oracle, int to, const char *line, size_t len);

/* The client waits for it, as far as the client knows. */
bool oracle_waits(const struct ask *ask);

/* All has been written and read, and every deadline has passed. */
void oracle_end(struct oracle *oracle);

void oracle_blame(struct oracle *oracle, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
