#ifndef CTL_DOCTOR_H
#define CTL_DOCTOR_H

/* What the files of `cancelctl doctor` share; from the bottom up: dialogue, verdicts, visit, checkup, configured. */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "core/buf.h"
#include "core/timeline.h"

/*
 * What a client says in each protocol, where the protocols differ: it only builds JSON. Sources: MCP 2025-11-25 and
 * 2026-07-28 (lifecycle, cancellation, progress, ping), ACP 1 (initialization, prompt turn), LSP 3.17.
 */

enum dialogue_kind { DIALOGUE_MCP, DIALOGUE_ACP, DIALOGUE_LSP, DIALOGUES };

struct dialogue {
	enum dialogue_kind kind;
	bool modern; /* MCP after 2025-11-25, without initialize */
};

/* "mcp", "acp" or "lsp". false: none of them. */
bool dialogue_named(const char *name, enum dialogue_kind *kind);
const char *dialogue_name(enum dialogue_kind kind);

/* The protocol that a server with this command most likely speaks: MCP, unless a word tells. command: ended by NULL. */
enum dialogue_kind dialogue_guess(char *const command[]);

/* The request that opens a session, and the notification that follows its answer, or NULL. */
const char *dialogue_opening(struct dialogue dialogue);
json_t *dialogue_opening_params(struct dialogue dialogue);
const char *dialogue_opened(struct dialogue dialogue);

/* A request that every server answers, if only with the error that it does not know it. */
const char *dialogue_ping(struct dialogue dialogue);

/* The method of --call NAME: tools/call in MCP, else the name itself. */
const char *dialogue_call_method(struct dialogue dialogue, const char *name);

/* Its params, with the request for progress under this id. arguments: borrowed; session: of ACP, empty if there is none. */
json_t *dialogue_call_params(struct dialogue dialogue, const char *name, const json_t *arguments, const char *session,
    int64_t id);

/* Completes the params of any request. */
json_t *dialogue_params(struct dialogue dialogue, json_t *params);

/* The cancel of that request: a whole notification. */
json_t *dialogue_cancel(struct dialogue dialogue, const char *method, const char *session, int64_t id);

/* Whether a notification reports progress on the request, and whether an answer says that it was cancelled. */
bool dialogue_is_progress(struct dialogue dialogue, const json_t *message, int64_t id);
bool dialogue_says_cancelled(const json_t *answer);

/* The answer of a client without any capability to a request of the server's. */
json_t *dialogue_answer(const json_t *request);

/*
 * What a server has to keep, what was found, and the report of it as text, JSON and JUnit's XML. Names and texts of
 * servers are hostile: each report escapes them.
 */

/* In the order of the reports; src/ctl/doctor/verdicts.c has a row for each. */
enum check {
	CHECK_INITIALIZE,
	CHECK_DISCOVER,
	CHECK_TOOLS,
	CHECK_CALL,
	CHECK_PROGRESS,
	CHECK_BUSY,
	CHECK_CANCEL,
	CHECK_ALIVE,
	CHECK_STDOUT,
	CHECK_EXIT,
	CHECK_ORPHANS,
	CHECKS
};

enum verdict { VERDICT_NOT_TESTED, VERDICT_YES, VERDICT_NO };

struct verdicts {
	const char *command; /* borrowed, printable */
	enum dialogue_kind kind;
	char server[256]; /* what it calls itself; may be empty */
	bool ended;       /* it ended before it opened a session, as the evidence of CHECK_INITIALIZE says */
	struct finding {
		enum verdict verdict;
		msec_t time; /* MSEC_NEVER: no time was taken */
		char evidence[512];
	} findings[CHECKS];
};

void verdicts_init(struct verdicts *report, const char *command, enum dialogue_kind kind);

/* A later finding replaces an earlier one unless that was worse: no is worse than yes, and yes than not tested. */
void verdicts_tell(struct verdicts *report, enum check check, enum verdict verdict, msec_t time, const char *format,
    ...) __attribute__((format(printf, 5, 6)));

/* Whether a promise is broken: one that the protocol demands, not one that it only permits. */
bool verdicts_is_broken(const struct verdicts *report);

/* What was not tested because no session was opened is only counted. colour: with escapes for a terminal. */
void verdicts_print(const struct verdicts *report, FILE *to, bool colour);

/* One object, on one line. */
void verdicts_print_json(const struct verdicts *report, FILE *to);
void verdicts_print_junit(const struct verdicts *report, FILE *to);

/*
 * One run of the server behind canceld: requests, their answers with the times, and what canceld's log shows. Every
 * wait has an end; what the server sends is read and dropped as fast as it comes. The caller ignores SIGPIPE.
 */

enum {
	VISIT_REQUESTS = 64, /* in one visit */
	VISIT_TEXT = 256,    /* of a session's id, and of a path */
	VISIT_KEPT = 1000,
	VISIT_TERM_AFTER = 2000, /* ms from the end of stdin to SIGTERM, as clients grant */
};

struct asked {
	int64_t id;
	const char *method;
	json_t *answer;        /* NULL: none yet */
	msec_t sent, answered; /* visit_now */
	int order;             /* of the answers, from 1 */
	int progress;          /* how often it was reported */
};

struct visit {
	struct dialogue dialogue;
	json_t *decisions; /* by their words, the first VISIT_KEPT of each (canceld(7), DIAGNOSTICS); "heard": when */
	struct asked asked[VISIT_REQUESTS];
	int count, answers;
	char session[VISIT_TEXT]; /* the id of the ACP session; empty: none */
	pid_t pid;                /* of canceld */
	int status;               /* as waitpid(2) gives it, once exited */
	bool exited;
	int to, from, log; /* descriptors; -1: closed */
	int writer;        /* keeps the pipe of the log from being at its end */
	struct buf in, out, events;
	char directory[VISIT_TEXT], pipe[VISIT_TEXT + 8], config[VISIT_TEXT + 8];
	msec_t due, late; /* see visit_now */
};

struct visit_setup {
	char *const *command;     /* ended by NULL */
	char *const *environment; /* NULL: ours */
	const char *directory;    /* NULL: ours */
	struct dialogue dialogue;
	msec_t grace; /* how long a cancelled request may take to be answered where it must be */
	bool plain;   /* canceld treats cancels as any message */
	bool loud;    /* the server's stderr is ours; else nobody reads it */
};

/* From here to visit_unwatch a signal that would end this process ends the visits. visit_interrupted: it; 0: none came. */
void visit_watch(void);
int visit_interrupted(void);
void visit_unwatch(void);

/* Starts canceld with the server. 0, or -1 with errno; then visit_free must not be called. */
int visit_start(struct visit *visit, const struct visit_setup *setup) __attribute__((warn_unused_result));

/* Waits until canceld has started the server, from where the time of the first request counts. */
void visit_wait_start(struct visit *visit, struct asked *first);

/*
 * The time, in ms. It stands still while this process should wake up and does not, as on a busy machine: what it did
 * not see then says nothing about the server.
 */
msec_t visit_now(struct visit *visit);

/*
 * Waits until that time at the most, and returns as soon as anything has happened. false: the time is over and all
 * that had come was heard, a signal came, or nothing more can come.
 */
bool visit_turn(struct visit *visit, msec_t until);

/* Sends a request; takes the reference to params, which gets what its dialogue demands. */
struct asked *visit_ask(struct visit *visit, const char *method, json_t *params);
void visit_notify(struct visit *visit, const char *method);
void visit_cancel(struct visit *visit, const struct asked *asked);

/* Waits for the answer. false: it did not come in so many ms. */
bool visit_wait(struct visit *visit, const struct asked *asked, msec_t limit);

/* Whether the server answered, and not canceld in its place. */
bool visit_is_answered(const struct asked *asked);

/* The text of an answer's error, or of a result that tells one; NULL: it is none. Borrowed. */
const char *visit_error(const struct asked *asked);

/* The first decision of that word, and with that text as a member; key NULL: any. NULL: none. Borrowed. */
json_t *visit_saw(const struct visit *visit, const char *why, const char *key, const char *value);

/* The text of that member; "" if it is none. Borrowed. */
const char *visit_text(const json_t *decision, const char *key);

/* The decision that tells how the server ended; NULL: it runs. */
const json_t *visit_ended(const struct visit *visit);

/* Closes the server's stdin, and waits for the end of all. The answers stay. */
void visit_close(struct visit *visit);
void visit_free(struct visit *visit);

/* Examines a server: handshake, tools, one call, a cancel, a timeout, the end. */
struct checkup {
	char *const *command;     /* ended by NULL */
	char *const *environment; /* NULL: ours */
	const char *directory;    /* NULL: ours */
	enum dialogue_kind kind;
	const char *call;        /* the tool, or in ACP and LSP the method, that may be called; NULL: none */
	const json_t *arguments; /* an object */
	msec_t timeout;          /* the longest wait for one answer */
	msec_t start;            /* the same for the first one */
	bool loud;               /* the server's stderr is ours */
};

enum { CHECKUP_FAILURE = 512 };

/*
 * Fills the report. 0; the signal that came; or -1: the command or canceld could not be started, as failure tells. No
 * process is left in any case.
 */
int checkup_run(const struct checkup *checkup, struct verdicts *report, char failure[CHECKUP_FAILURE]);

/* A server as a client starts it: the command, the directory and the environment from the client's file. */
struct configured {
	char **command;     /* the server's own, without canceld; ended by NULL */
	char **environment; /* NAME=VALUE: what clients pass on of their own, and the entry's; ended by NULL */
	char *directory;    /* NULL: this one */
	char fault[512];    /* why there is none; printable by ctl_no */
};

/*
 * Looks in the files of the client, those of the project here only if trusted. 0, or -1 with the fault. Call
 * configured_free in any case.
 */
int configured_find(struct configured *configured, const char *client, const char *server, bool trust)
    __attribute__((warn_unused_result));
void configured_free(struct configured *configured);

#endif
