#ifndef CTL_VISIT_H
#define CTL_VISIT_H

/* One run of the server behind canceld: requests, their answers with the times, and what canceld's log shows. */

#include <jansson.h>
#include <stdbool.h>

#include "core/clock.h"
#include "ctl/dialogue.h"
#include "ctl/peer.h"
#include "ctl/witness.h"

enum {
	VISIT_REQUESTS = 64, /* in one visit */
	VISIT_TEXT = 256,
	VISIT_START = 60000,     /* ms that canceld gets to start the server */
	VISIT_END = 10000,       /* ms that canceld gets to end */
	VISIT_TERM_AFTER = 2000, /* ms from the end of stdin to SIGTERM, as clients grant */
};

struct asked {
	int64_t id;
	const char *method;
	json_t *answer;        /* NULL: none yet */
	msec_t sent, answered; /* peer_now */
	int order;             /* of the answers, from 1 */
	int progress;          /* how often it was reported */
};

struct visit {
	struct peer peer;
	struct witness witness;
	struct dialogue dialogue;
	struct asked asked[VISIT_REQUESTS];
	int count, answers;
	char session[VISIT_TEXT]; /* the id of the ACP session; empty: none */
};

struct visit_setup {
	char *const *command;     /* ended by NULL */
	char *const *environment; /* NULL: ours */
	const char *directory;    /* NULL: ours */
	struct dialogue dialogue;
	msec_t grace;    /* how long a cancelled request may take to be answered where it must be */
	const char *cap; /* NULL, or the value of canceld's --max-time */
	bool plain;      /* canceld treats cancels as any message */
	bool loud;       /* the server's stderr is ours */
};

/* Starts the server. visit must not move until visit_free. 0, or -1 with errno. */
int visit_start(struct visit *visit, const struct visit_setup *setup) __attribute__((warn_unused_result));

/* Sends a request; takes the reference to params, which gets what its era demands. */
struct asked *visit_ask(struct visit *visit, const char *method, json_t *params);

/* Waits until canceld has started the server, from where the time of the first request counts. */
void visit_wait_start(struct visit *visit, struct asked *first);

/* The ACP session that cancels of turns name. false: the id is too long. */
bool visit_set_session(struct visit *visit, const char *id);

/* The id of the next request. */
int64_t visit_next_id(const struct visit *visit);

void visit_notify(struct visit *visit, const char *method);
void visit_cancel(struct visit *visit, const struct asked *asked);

/* Waits for the answer. false: it did not come in so many ms. */
bool visit_wait(struct visit *visit, const struct asked *asked, msec_t limit);

/* The same until that time. */
bool visit_wait_until(struct visit *visit, const struct asked *asked, msec_t until);

/* Whether canceld wrote the answer, in the server's place. */
bool visit_is_own(const struct asked *asked);

/* The text of an answer's error, or of a result that tells one; NULL: it is none. Borrowed. */
const char *visit_error(const struct asked *asked);

/* Closes the server's stdin, and waits for the end of all. The answers stay. */
void visit_close(struct visit *visit);

void visit_free(struct visit *visit);

#endif
