#pragma once

/*
 * What the files of `cancelctl doctor` and `cancelctl call` share; from the bottom up: verdicts,
 * visit, tools, checkup.
 */

#include <jansson.h>
#include <signal.h>
#include <sys/types.h>

#include "core/buf.h"
#include "core/framing.h"
#include "core/limits.h"
#include "core/timeline.h"
#include "ctl/ctl.h"

/*
 * What a client says in each protocol, where they differ. Sources: MCP 2025-11-25 and 2026-07-28
 * (lifecycle, cancellation, progress, ping), ACP 1 (initialization, prompt turn), LSP 3.17.
 */
enum dialogue_kind {
	DIALOGUE_MCP,
	DIALOGUE_ACP,
	DIALOGUE_LSP,
	DIALOGUES,
	/* after 2025-11-25, without initialize; no server is asked to speak only this */
	DIALOGUE_MCP_NEWEST = DIALOGUES,
};

struct dialogue {
	const char *name;
	const char *opening, *params; /* the request that opens a session */
	const char *info;             /* where its answer has the server's name */
	/* a request that every server answers, if only with the error that it does not know it */
	const char *ping;
	const char *cancel, *id;      /* the notification, and the member that names the request */
	const char *progress, *token; /* the same of progress; NULL: it names none */
	const char *opened; /* the notification that follows the first answer; NULL: none */
	const char *meta;   /* _meta of all params; NULL: none */
	const char *call;   /* the method of all calls; NULL: each has its own */
	/* the request, and the notification, that end a session; NULL: none */
	const char *farewell, *last;
	enum framing framing;
	bool owed; /* a request is answered after its cancel too */
};

extern const struct dialogue dialogues[DIALOGUES + 1];

/*
 * What a server has to keep, what was found, and the report of it as text and as JSON. Names and
 * texts of servers are hostile: each report escapes them.
 */

/* In the order of the reports; src/ctl/doctor/verdicts.c has a row for each. */
enum check {
	CHECK_INITIALIZE,
	CHECK_DISCOVER,
	CHECK_TOOLS,
	CHECK_CALL,
	CHECK_SUCCESS,
	CHECK_BUSY,
	CHECK_CANCEL,
	CHECK_ALIVE,
	CHECK_STDOUT,
	CHECK_EXIT,
	CHECK_ORPHANS,
	CHECKS
};

enum verdict { VERDICT_NOT_TESTED, VERDICT_YES, VERDICT_NO, VERDICTS };

struct verdicts {
	struct span command; /* borrowed, printable */
	enum dialogue_kind kind;
	char server[256]; /* what it calls itself; may be empty */
	/* it ended before it opened a session, as the evidence of CHECK_INITIALIZE says */
	bool ended;
	bool continues; /* another server can continue its session */
	struct finding {
		enum verdict verdict;
		msec_t time; /* MSEC_NEVER: no time was taken */
		char evidence[LIMIT_LAST_WORDS + 512];
	} findings[CHECKS];
	json_t *asks; /* by method, how often the server asked its client that */
	/* of canceld that help, each behind a blank, as a shell takes them; empty: none */
	struct buf options;
	int status; /* CTL_YES; or there is no report, as was told: the status to exit with */
};

void verdicts_init(struct verdicts *report, struct span command, enum dialogue_kind kind);

/* A later finding replaces an earlier one unless that was worse: behind it in enum verdict. */
void verdicts_tell(struct verdicts *report, enum check check, enum verdict verdict, msec_t time,
    const char *format, ...) __attribute__((format(printf, 5, 6)));

/*
 * The option of canceld, as a shell takes it, that answers this request of a server's in its
 * client's place and does no harm; "": there is none. refused: only if the examination has refused
 * the request, as many clients do.
 */
const char *verdicts_answer(const char *method, bool refused);

/* How many findings of the protocol's checks are such. */
int verdicts_count(const struct verdicts *report, enum verdict verdict);

/*
 * What was not tested because no session was opened is only counted. colour: with escapes for a
 * terminal.
 */
void verdicts_write(const struct verdicts *report, bool colour, struct buf *text);

/* One object, which the caller owns. */
json_t *verdicts_json(const struct verdicts *report);

/* The server that is visited, and how; what only an examination asks for. */
struct examination {
	char canceld[PROGRAM_SIZE]; /* its path */
	char *const *command;       /* ended by NULL */
	/* canceld's, ended by NULL: it is as for any client; NULL: as the doctor needs it */
	char *const *options;
	enum dialogue_kind kind;
	/* the tool, or in ACP and LSP the method, that may be called; NULL: none */
	const char *call;
	json_t *arguments; /* an object */
	msec_t timeout;    /* the longest wait for one answer */
	msec_t start;      /* the same for the first one */
	bool loud;         /* the server's stderr is ours; else nobody reads it */
	bool logs;         /* canceld's log goes where its options say */
};

/*
 * One run of the server behind canceld, which passes all messages: requests, their answers with the
 * times, and what canceld's log shows. Every wait has an end; what the server sends is read and
 * dropped as fast as it comes. The caller ignores SIGPIPE. If this process is killed, canceld
 * notices and ends the server.
 */
enum { VISIT_REQUESTS = 128 /* in one visit */ };

#define VISIT_FOREVER ((msec_t)100000 * 3600 * 1000) /* a wait without a limit, in ms */

/* The signal by which a person has ended all waits for answers; 0: none. */
extern volatile sig_atomic_t visit_interrupted;

/* Our ends of the pipes to and from canceld, and of its log; -1: closed. */
enum visit_end { VISIT_TO, VISIT_FROM, VISIT_LOG, VISIT_ENDS };

struct asked {
	json_int_t id;
	const char *method;
	json_t *answer;       /* NULL: none yet */
	const json_t *result; /* of the answer; NULL: it is no object */
	/* the text of the answer's error, or of a result with isError; NULL: none */
	const char *error;
	bool served; /* the server has answered, not canceld in its place */
	bool died;   /* the latter, as the server has died */
	/* the answer says: was cancelled; no such method; wrong params */
	bool cancelled, unknown, unfit;
	bool newer;                        /* ... to initialize: only MCP without it is spoken */
	msec_t sent, answered, progressed; /* visit_now; progressed: the last time */
	msec_t began, ended; /* of the wait for the answer; by the steady clock, in ms */
	int order;           /* of the answers, from 1 */
	int progress;        /* how often it was reported */
	json_t *report;      /* the params of the last progress; NULL: none */
};

struct visit {
	const struct dialogue *dialogue;
	/*
	 * canceld's first decision with each word (canceld(7), DIAGNOSTICS), and with its step if
	 * it has one ("ENDING SIGTERM"). "times": how many there were.
	 */
	json_t *decisions;
	/*
	 * borrowed: how often the server asked its client for each method; NULL: nobody wants to
	 * know
	 */
	json_t *asks;
	struct asked asked[VISIT_REQUESTS];
	int count, answers;
	char session[256]; /* the id of the ACP session; empty: none */
	pid_t pid;         /* of canceld; 0: it has exited */
	int status;        /* then: as from waitpid */
	int ends[VISIT_ENDS];
	/*
	 * canceld's; it opens its log by the name of ours, so that this stays open until it exits.
	 */
	int theirs[VISIT_ENDS];
	char end[32];     /* "status 3" or "signal 11" of the server; empty: it runs */
	msec_t ended;     /* then: the real time, in ms */
	msec_t dismissed; /* the same when the last notification was sent; MSEC_NEVER: none was */
	struct buf in[VISIT_ENDS], out;
	struct frame frames[VISIT_ENDS];
	msec_t late;       /* see visit_now */
	bool tells;        /* what a caller must know of canceld's log */
	bool terminal;     /* what is told on stderr replaces what was told before */
	const char *check; /* what is waited for */
	msec_t began, told;
	msec_t until; /* visit_now at which that wait ends */
	/* an answer came that jansson does not take (half a surrogate pair): no more waits */
	bool unreadable;
};

/* Starts canceld, with the server. 0, or -1 with errno; then visit_free must not be called. */
int visit_start(struct visit *visit, const struct examination *what,
    const struct dialogue *dialogue) MUST_USE;

/*
 * The time, in ms. It stands still while this process should wake up and does not, as on a busy
 * machine: what it did not see then says nothing about the server.
 */
msec_t visit_now(const struct visit *visit);

/*
 * How long the answer took, or has been waited for, in real ms; that of what opens a session from
 * the server's start on.
 */
long long visit_took(const struct asked *asked);

/*
 * From here on waits are for this, all in all at most so many ms; with it the line begins that
 * tells on stderr how long they take, and may take.
 */
void visit_begin(struct visit *visit, const char *check, msec_t limit);

/* Opens a session, whose first answer may take so many ms from when the server was started. */
struct asked *visit_open(struct visit *visit, const char *check, msec_t limit);

/* Sends a request; takes the reference to params. */
struct asked *visit_ask(struct visit *visit, const char *method, json_t *params);

/* The same for the tool, or the method, of this name; asks for progress. */
struct asked *visit_call(struct visit *visit, const char *name, const json_t *arguments);
void visit_cancel(struct visit *visit, const struct asked *asked);

/* Waits for the answer, at most so many ms. false: it did not come. */
bool visit_wait(struct visit *visit, const struct asked *asked, msec_t limit);

/* Hears all that comes for so many ms, or until canceld has ended. */
void visit_rest(struct visit *visit, msec_t limit);

/*
 * Ends the session in the words of the protocol, if it has some. false: the farewell was not
 * answered in so many ms.
 */
bool visit_dismiss(struct visit *visit, msec_t limit);

/* Closes the server's stdin, and waits for the end of all. The answers stay. */
void visit_close(struct visit *visit);
void visit_free(struct visit *visit);

/*
 * Adds the tools of an MCP server to the array, page by page, each of which may take so long.
 * Returns the last request: more, if it has a nextCursor.
 */
const struct asked *tools_ask(struct visit *visit, const char *check, msec_t limit, json_t *tools);

/*
 * An object on the command line, or, -, on standard input. What is none ends the program. what: how
 * it is called.
 */
json_t *tools_read(const char *what, const char *word);

bool tools_require(const json_t *tool, const char *argument);

/* Of these a mistake of the caller's is told on standard error. */

/*
 * The tool of this name, or NULL; cut: it may be one that is not in the list, which is no mistake.
 */
const json_t *tools_find(const json_t *tools, const char *name, bool cut);

/*
 * Adds what was said, in its order: objects of arguments, and arrays of a name and a text. This is
 * a string if the tool's schema wants one and nothing that the text is as JSON, or if it is no
 * JSON. tool: NULL: not known. false: it has no such parameter, or of another type.
 */
bool tools_fill(const json_t *tool, const json_t *said, json_t *arguments);

/* Whether the arguments have all that the tool's schema requires. */
bool tools_suffice(const json_t *tool, const json_t *arguments);

/*
 * Examines a server: handshake, tools, one call, a cancel, the end. No process is left in any case.
 */
void checkup_run(const struct examination *what, struct verdicts *report);
