#ifndef CORE_WHY_H
#define CORE_WHY_H

/*
 * The one vocabulary of what canceld does and why: the word in the log, the counter's name in the
 * statistics, the entry under DIAGNOSTICS in the manual, the word that tests assert.
 * WHY_LIST(X): X(name, level, meaning).
 */

enum why_level {
	LEVEL_ERROR,    /* shown with -q too */
	LEVEL_PERSON,   /* what a person must know: shown by default */
	LEVEL_DECISION, /* -v */
	LEVEL_TRAFFIC,  /* -vv */
};

/* clang-format off */
#define WHY_LIST(X)                                                                                \
	/* a message passes */                                                                     \
	X(RELAYED, TRAFFIC, "the message passes unchanged")                                        \
	X(BATCH, PERSON, "JSON-RPC batches pass unchanged and untracked (said once)")              \
	X(UNTRACKED, DECISION, "what canceld cannot track passes")                                 \
	X(ID_COERCED, DECISION, "a response whose id is spelled otherwise was taken for the only request it fits") \
	X(ALIASED, DECISION, "a request whose id is still in use travels under a fresh id")        \
	X(RECOVERED, DECISION, "a response was cut out of a line that it shared with text")        \
	X(CR_STRIPPED, TRAFFIC, "a carriage return before the newline was removed")                \
	X(BOM_STRIPPED, DECISION, "a byte order mark before the message was removed")              \
	X(CANCEL_FORWARDED, PERSON, "a cancel was handed on to the peer that works on the request") \
	X(CANCEL_TRANSLATED, PERSON, "a cancel was handed on in the words of the peer's protocol") \
	X(REPAIRED, PERSON, "a session/cancel that was a request went on as the notification that it should be") \
	/* a message is dropped */                                                                 \
	X(LATE, DECISION, "a response to an abandoned request was dropped")                        \
	X(LATE_PROGRESS, DECISION, "progress that names no active request was dropped")            \
	X(STRAY, PERSON, "a response that answers no request was dropped")                         \
	X(UNKNOWN_CANCEL, DECISION, "a cancel of a request that is not outstanding was dropped")   \
	X(REPEATED_CANCEL, DECISION, "a cancel of a request that is already cancelled was dropped") \
	X(MALFORMED_CANCEL, PERSON, "a cancel without a usable id was dropped")                    \
	X(FORBIDDEN_CANCEL, PERSON, "a cancel that the protocol forbids was dropped")              \
	X(NOISE, PERSON, "what is no message on the server's stdout went to stderr")               \
	X(SWALLOWED, DECISION, "an answer, or progress, that only canceld had asked for was taken") \
	X(CANCEL_ACKNOWLEDGED, PERSON, "canceld was asked to cancel a request, and says what came of it") \
	X(CANCEL_UNSENT, PERSON, "the request was cancelled before it was sent, and never was")    \
	X(BLANK, TRAFFIC, "a blank line was dropped")                                              \
	/* a message of canceld's own */                                                           \
	X(TIMED_OUT, PERSON, "the deadline passed: the request was cancelled and answered")        \
	X(CANCEL_SENT, DECISION, "the peer was told to cancel the request")                        \
	X(PROGRESS_ASKED, DECISION, "the request was given a progress token")                       \
	X(PROBE_ANSWERED, DECISION, "server/discover was answered as an unknown method")            \
	X(TASK_CANCEL_SENT, DECISION, "the server was told to cancel the task")                    \
	X(CANCEL_WITHHELD, DECISION, "no cancel goes out: not allowed, or not yet")                \
	X(CANCEL_ANSWERED, PERSON, "the cancelled request was answered in the peer's stead")       \
	X(CLIENT_GONE, PERSON, "the client has gone: its request was cancelled")                   \
	X(SERVER_GONE, PERSON, "the server has gone: the request was answered in its stead")       \
	X(SERVER_LOST, PERSON, "the server is started again: a request that it was at work on was answered with an error") \
	X(TERMINATED, PERSON, "canceld was told to end: the request was cancelled and answered")   \
	X(TOO_MANY, PERSON, "more requests outstanding than --max-inflight: answered with an error") \
	X(MALFORMED, PERSON, "a malformed response was replaced by an error")                      \
	X(OVERSIZED, PERSON, "a message beyond --max-message was discarded")                       \
	X(PARSE_ERROR, PERSON, "unreadable input was answered with -32700")                        \
	X(INVALID_REQUEST, PERSON, "JSON that is no JSON-RPC message was answered with -32600")    \
	X(UNANSWERABLE, PERSON, "a request to a client that has gone was answered with an error")  \
	X(TRUNCATED, PERSON, "a message that was half passed on and never ended was closed")       \
	X(STALLED, PERSON, "a message that was half passed on and stood still was closed")         \
	X(REPLAYED, DECISION, "what the client had said to the server before was said to the new one") \
	X(LIST_CHANGE_SENT, DECISION, "the client was told that the new server's lists may differ") \
	X(PROBE_SENT, DECISION, "the server, which was sent a cancel, was asked whether it is alive") \
	X(LATE_FAULT, PERSON, "a message turned out malformed after its first part had passed")    \
	/* what happens */                                                                         \
	X(DIALECT, DECISION, "which protocol the session speaks")                                  \
	X(PLAIN, PERSON, "the client speaks no JSON-RPC: everything passes, and nothing is tracked") \
	X(ERA, DECISION, "which era of the protocol the session speaks")                           \
	X(AMBIGUOUS, PERSON, "an id is in use twice: the request passes without a deadline")       \
	X(SKEWED, PERSON, "the clock jumped: all deadlines were shifted")                          \
	X(FORGOTTEN, DECISION, "an abandoned request was never answered and is forgotten")         \
	X(STUCK, PERSON, "the server does not answer at all: it is ended")                         \
	X(UNRECORDED, PERSON, "too much to be kept: a restarted server would not be told")          \
	X(REPLAY_FAILED, PERSON, "the new server did not take what was said to it again")           \
	X(SERVER_CHANGED, PERSON, "the new server differs from what the client was told")           \
	X(RESTARTED, PERSON, "the new server takes requests")                                      \
	X(RESTARTING, PERSON, "the server has failed and is started again")                         \
	X(RESTART_REFUSED, PERSON, "the server has failed and is not started again")                \
	X(STARTED, DECISION, "the server was started")                                             \
	X(INPUT_ENDED, DECISION, "the client closed its end of the connection")                    \
	X(INPUT_ENDED_EARLY, PERSON, "the client closed its end while requests were outstanding: they are cancelled") \
	X(SIGNALLED, PERSON, "a signal arrived")                                                   \
	X(ENDING, DECISION, "a step of the way down: stdin closed, SIGTERM, SIGKILL")              \
	X(SERVER_EXITED, PERSON, "the server has ended before the session was over")               \
	X(SERVER_ENDED, DECISION, "the server has ended after the session did")                    \
	X(SWEPT, PERSON, "a process that the server had left behind was ended")                    \
	X(LINES_LOST, ERROR, "stderr was full: this many lines were lost")                         \
	X(FAILED, ERROR, "canceld itself failed")                                                  \
	X(STATISTICS, PERSON, "the counters, asked for with SIGUSR1")                              \
	X(SUMMARY, PERSON, "what the session came to")
/* clang-format on */

enum why {
#define WHY_NAME(name, level, meaning) WHY_##name,
	WHY_LIST(WHY_NAME)
#undef WHY_NAME
	    WHY_COUNT
};

const char *why_word(enum why why);    /* "TIMED_OUT" */
const char *why_meaning(enum why why); /* one line for a person */
enum why_level why_level(enum why why);

#endif
