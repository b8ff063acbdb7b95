#pragma once

/*
 * The one vocabulary of what canceld does and why. Each word names a line of the log or of the
 * history, a counter of the statistics, an entry under DIAGNOSTICS in the manual, and what tests
 * assert. WHY_LIST(X): X(name, level, meaning); the meaning says what happened to which message:
 * no code uses it.
 */

enum why_level {
	LEVEL_ERROR,    /* shown even with -q */
	LEVEL_NOTICE,   /* shown by default */
	LEVEL_DECISION, /* shown with -v */
	LEVEL_TRAFFIC,  /* shown with -vv */
};

/* clang-format off */
#define WHY_LIST(X)                                                                                \
	/* a message passes */                                                                     \
	X(RELAYED, TRAFFIC, "a message passed unchanged")                                          \
	X(BATCH, NOTICE, "a JSON-RPC batch passed; its requests are not tracked (logged once)")     \
	X(IN_BATCH, NOTICE, "what is dropped when it comes alone passed, because it is an element of a batch") \
	X(UNTRACKED, DECISION, "a message that canceld cannot track passed")                       \
	X(ID_COERCED, DECISION, "a response or progress passed although its id is spelled differently: it fits only one request") \
	X(ALIASED, DECISION, "a request whose id is still in use was sent under a fresh id")       \
	X(RECOVERED, DECISION, "a message was cut out of a line that also held text or another message")       \
	X(TEXT_REPAIRED, NOTICE, "U+FFFD was put in place of what was no UTF-8 in a message of the server's, or what --clean-text replaces") \
	X(BOM_STRIPPED, DECISION, "a byte order mark before the message was removed")              \
	X(HELD, DECISION, "a request waits until the server has answered others (--parallel)")             \
	X(RELEASED, DECISION, "a request that was HELD was sent to the server") \
	X(CANCEL_FORWARDED, NOTICE, "a cancel was forwarded to the side that works on the request") \
	X(CANCEL_TRANSLATED, NOTICE, "a cancel was forwarded in the form that its receiver's protocol defines") \
	X(REPAIRED, NOTICE, "a session/cancel that was sent as a request was forwarded as a notification") \
	/* a message is dropped */                                                                 \
	X(LATE, DECISION, "a response to an abandoned request was dropped")                        \
	X(LATE_PROGRESS, DECISION, "progress that names no active request was dropped")            \
	X(STRAY, NOTICE, "a response that matches no request was dropped")                         \
	X(UNKNOWN_CANCEL, DECISION, "a cancel of a request that is not outstanding was dropped")   \
	X(REPEATED_CANCEL, DECISION, "a cancel of a request that was already cancelled was dropped") \
	X(MALFORMED_CANCEL, NOTICE, "a cancel without a usable id was dropped")                    \
	X(FORBIDDEN_CANCEL, NOTICE, "a cancel that the protocol forbids was dropped")              \
	X(NOISE, NOTICE, "output on the server's stdout that is not a message was moved to the log") \
	X(SWALLOWED, DECISION, "a response or progress that only canceld had asked for was consumed") \
	X(CANCEL_UNSENT, NOTICE, "a cancelled request of which the server had read nothing was not sent, or not again") \
	X(BLANK, TRAFFIC, "a blank line was dropped")                                              \
	/* a message of canceld's own */                                                           \
	X(TIMED_OUT, NOTICE, "a deadline passed: canceld gave the request up and answers it with an error") \
	X(OPERATOR_CANCELLED, NOTICE, "a person gave the request up with cancelctl: canceld answers it with an error") \
	X(CANCEL_SENT, DECISION, "canceld told the receiver of a request to cancel it")            \
	X(PROGRESS_ASKED, DECISION, "a progress token was added to a request")                     \
	X(ANSWERED_FOR_CLIENT, DECISION, "a request of the server's got the result that --answer gives, and not the client's") \
	X(HEARTBEAT_SENT, DECISION, "the client was told that its request is still waited for")        \
	X(PROBE_ANSWERED, DECISION, "server/discover was answered as an unknown method")           \
	X(TASK_CANCEL_SENT, DECISION, "canceld told the side that works on a task to cancel it")              \
	X(CANCEL_ACKNOWLEDGED, NOTICE, "a $/canceld/cancel was answered: the request that it names has ended") \
	X(CANCEL_WITHHELD, DECISION, "no cancel was sent: it is not allowed, not wanted, or too early") \
	X(CANCEL_ANSWERED, NOTICE, "canceld answered a cancelled request in place of its receiver") \
	X(CLIENT_GONE, NOTICE, "the client went away: its request was cancelled")                  \
	X(SERVER_GONE, NOTICE, "the server went away, or never started: the request was answered with an error or cancelled") \
	X(SERVER_LOST, NOTICE, "the server is started again: a request that it was working on was answered with an error") \
	X(TERMINATED, NOTICE, "canceld is ending: the request was cancelled and answered with an error") \
	X(TOO_MANY, NOTICE, "a request beyond --max-inflight, or what --parallel may hold, was answered with an error")          \
	X(MALFORMED, NOTICE, "a malformed response was replaced by an error")                      \
	X(OVERSIZED, NOTICE, "a message longer than --max-message was discarded")                  \
	X(PARSE_ERROR, NOTICE, "input that is not JSON was refused with -32700")                   \
	X(INVALID_REQUEST, NOTICE, "JSON that is not a JSON-RPC message was refused with -32600")  \
	X(TOO_DEEP, NOTICE, "a message with more than 1000 nested arrays and objects was refused") \
	X(REPEATED_ID, NOTICE, "a message with more than one id was refused")                      \
	X(REPEATED_METHOD, NOTICE, "a message with more than one method was refused")              \
	X(UNANSWERABLE, NOTICE, "a server's request to a client that has gone was not passed on; it got an error, if its stdin is open") \
	X(TRUNCATED, NOTICE, "a message was dropped: its writer ended in the middle of it")              \
	X(REPLAYED, DECISION, "a message from the client was repeated to the new server")          \
	X(LIST_CHANGE_SENT, DECISION, "canceld told the client that the new server's lists may differ") \
	X(PROBE_SENT, DECISION, "the server was asked whether it is alive: after a cancel, or by a person") \
	/* events */                                                                               \
	X(DIALECT, DECISION, "the protocol of the session was detected or chosen")                 \
	X(PLAIN, NOTICE, "the client does not speak JSON-RPC: everything passes and nothing is tracked") \
	X(ERA, DECISION, "the era of the protocol was detected: legacy or modern")                 \
	X(SKEWED, NOTICE, "the machine or canceld stood still: all deadlines were shifted")        \
	X(FORGOTTEN, DECISION, "an abandoned request was forgotten: its response never came")      \
	X(DEAF, NOTICE, "the server closed its stdin and runs on: it can only answer what it has")  \
	X(STUCK, NOTICE, "the server did not answer a probe: canceld ends it")                     \
	X(CANCEL_IGNORED, NOTICE, "the server goes on with a request that was cancelled or timed out: canceld ends it") \
	X(UNREAD, NOTICE, "capabilities or _meta were too long to be looked at to their end (logged once)") \
	X(PROBE_UNANSWERED, NOTICE, "the server does not answer probes: it is not ended for that")     \
	X(UNRECORDED, NOTICE, "a message could not be kept: a restarted server would not be told of it") \
	X(REPLAY_FAILED, NOTICE, "the new server did not accept a repeated message")               \
	X(SERVER_CHANGED, NOTICE, "the new server's version differs from what the client was told") \
	X(RESTARTED, NOTICE, "the new server accepts requests")                                    \
	X(RESTARTING, NOTICE, "the server failed and is started again")                            \
	X(RESTART_REFUSED, NOTICE, "the server failed and is not started again")                   \
	X(STARTED, NOTICE, "the server was started")                                             \
	X(INPUT_ENDED, DECISION, "the client closed its end of the connection")                    \
	X(INPUT_ENDED_EARLY, NOTICE, "the client closed its end before its requests were answered: they are cancelled") \
	X(CLIENT_ENDED, NOTICE, "the client's process ended, though others hold its end of the connection open") \
	X(SIGNALLED, NOTICE, "a signal arrived")                                                   \
	X(INTERRUPT_IGNORED, DECISION, "Ctrl+C in the client's terminal was left to the client")   \
	X(ENDING, DECISION, "the first step to end the server: its stdin was closed")              \
	X(FORCED, NOTICE, "the server was sent SIGTERM or SIGKILL, as it had not ended by itself") \
	X(CONTAINER_LEFT, NOTICE, "docker run, or the same of podman, was killed: its container may still run") \
	X(SERVER_EXITED, NOTICE, "the server ended before the session was over")                   \
	X(SERVER_ENDED, DECISION, "the server ended after the session was over")                   \
	X(GUARDIAN_LOST, NOTICE, "the guardian was stopped or has ended: canceld sweeps in its place") \
	X(SWEPT, NOTICE, "a process that the server had left behind was sent SIGTERM, or SIGKILL ended it")                   \
	X(NOT_SWEPT, NOTICE, "a process that the server had left behind could not be ended")       \
	X(LOG_EXPOSED, NOTICE, "the log file existed, and other users may read it or write to it") \
	X(CONFIG_REFUSED, NOTICE, "the configuration file, or a key of it, does not count")          \
	X(CONFIG_RELOADED, NOTICE, "the configuration file was read again")                        \
	X(RULE_DOUBTED, NOTICE, "the METHOD of a rule, or its tool, is none that is known: was another one meant?") \
	X(RULE_UNUSED, NOTICE, "the session is over, and a rule has named no request of it")       \
	X(CONTROL_REFUSED, NOTICE, "there is no control socket: cancelctl does not reach this canceld")            \
	X(HISTORY_REFUSED, NOTICE, "no history is kept: cancelctl history does not know this session") \
	X(ISOLATION_REFUSED, DECISION, "the system did not let canceld give up all that it does not need") \
	X(OPERATOR_SET, NOTICE, "a person changed a deadline with cancelctl")                      \
	X(OPERATOR_RESTARTED, NOTICE, "a person has the server ended with cancelctl, and started again") \
	X(COUNTED, NOTICE, "in the history: how many requests were answered at once")             \
	X(KILLED, NOTICE, "in the history: canceld ended without a summary")                       \
	X(LINES_LOST, ERROR, "lines were lost because stderr or the log was full")                 \
	X(FAILED, ERROR, "canceld itself could not do something")                                  \
	X(SUMMARY, NOTICE, "the totals of the session")
/* clang-format on */

enum why {
#define WHY_NAME(name, level, meaning) WHY_##name,
	WHY_LIST(WHY_NAME)
#undef WHY_NAME
	    WHY_COUNT
};

const char *why_word(enum why why); /* "TIMED_OUT" */
enum why_level why_level(enum why why);
