#include "core/table.h"

enum { /* one-letter steps, so that the table reads as a table */
	P = DECIDE_PASS,
	C = DECIDE_CANCEL,
	A = DECIDE_ANSWER,
	E = DECIDE_EXTEND,
	R = DECIDE_REPORT,
	D = DECIDE_COMPLETED,
	F = DECIDE_FAILED,
	S = DECIDE_STREAM,
};

#define CELL(event, steps, next, why) \
	[EVENT_##event] = { steps, REQUEST_##next, { WHY_##why, WHY_##why } }
/* The same cell for the event and for its form with an answer owed. */
#define BOTH(event, ...) CELL(event, __VA_ARGS__), CELL(event##_OWED, __VA_ARGS__)
/* The same cell for every response, but for what the request counts as. */
#define RESPONSES(steps, next, why) \
	CELL(RESPONSE, (steps) | D | DECIDE_ANSWERED, next, why), \
	    CELL(FAILURE, (steps) | D | F, next, why), \
	    CELL(CONFIRMED, (steps) | DECIDE_CONFIRMED, next, why)
/* A request of the server's has another word. */
#define SIDES(event, steps, next, why, server_why) \
	[EVENT_##event] = { steps, REQUEST_##next, { WHY_##why, WHY_##server_why } }

/* clang-format off */
TABLE_CONST struct decision decisions[REQUEST_STATES][DECIDE_EVENTS] = {
	[REQUEST_QUEUED] = { /* which is WAITING, as long as nothing is written: see table.h */
		/* the receiver cannot have seen the request */
		RESPONSES(                0, WAITING, STRAY),
		CELL(MALFORMED,           R, WAITING, STRAY),
		CELL(OVERSIZED,           R, WAITING, OVERSIZED),
		SIDES(DECLINED,           A | R | D, ENDED, PROBE_ANSWERED, ANSWERED_FOR_CLIENT),
		CELL(STREAM_ENDED,        0, WAITING, FORBIDDEN_CANCEL),
		BOTH(PROGRESS,            P | E, WAITING, RELAYED),
		CELL(CANCEL,              0, ENDED, CANCEL_UNSENT),
		CELL(CANCEL_OWED,         A | R, ENDED, CANCEL_UNSENT),
		CELL(CANCEL_ACKNOWLEDGED, A | R, ENDED, CANCEL_UNSENT),
		CELL(TURN_CANCELLED,      A | R, ENDED, CANCEL_UNSENT),
		BOTH(DEADLINE,            A | R, ENDED, TIMED_OUT),
		CELL(DEADLINE_ANSWERED,   A | R, ENDED, ANSWERED_FOR_CLIENT),
		BOTH(PERSON,              A | R, ENDED, OPERATOR_CANCELLED),
		SIDES(REQUESTER_GONE,     R | S, ENDED, CLIENT_GONE, SERVER_GONE),
		CELL(TERMINATED,          A | R | S, ENDED, TERMINATED),
		SIDES(RECEIVER_GONE,      A | R | D, ENDED, SERVER_GONE, UNANSWERABLE),
		/* it will be written to the next server */
		CELL(RECEIVER_LOST,       0, WAITING, SERVER_LOST),
		CELL(RECEIVER_DEAF,       A | R | D, ENDED, SERVER_GONE),
	},
	[REQUEST_WAITING] = {
		RESPONSES(                P, ENDED, RELAYED),
		CELL(MALFORMED,           A | R | D, ENDED, MALFORMED),
		CELL(OVERSIZED,           A | R | D, ENDED, OVERSIZED),
		SIDES(DECLINED,           A | R | D, ENDED, PROBE_ANSWERED, ANSWERED_FOR_CLIENT),
		/* a result may still follow */
		CELL(STREAM_ENDED,        P | D | S, ABANDONED, CANCEL_FORWARDED),
		BOTH(PROGRESS,            P | E, WAITING, RELAYED),
		CELL(CANCEL,              C, ABANDONED, CANCEL_FORWARDED),
		CELL(CANCEL_OWED,         C, CANCELLING, CANCEL_FORWARDED),
		CELL(CANCEL_ACKNOWLEDGED, C | A | R, ABANDONED, CANCEL_ANSWERED),
		/* the session/cancel itself passes */
		CELL(TURN_CANCELLED,      0, CANCELLING, CANCEL_FORWARDED),
		CELL(DEADLINE,            C | A | R, ABANDONED, TIMED_OUT),
		CELL(DEADLINE_OWED,       C | R, CANCELLING, TIMED_OUT),
		CELL(DEADLINE_ANSWERED,   C | A | R, ABANDONED, ANSWERED_FOR_CLIENT),
		CELL(PERSON,              C | A | R, ABANDONED, OPERATOR_CANCELLED),
		CELL(PERSON_OWED,         C | R, CANCELLING, OPERATOR_CANCELLED),
		SIDES(REQUESTER_GONE,     C | R | S, ABANDONED, CLIENT_GONE, SERVER_GONE),
		CELL(TERMINATED,          C | A | R | S, ABANDONED, TERMINATED),
		SIDES(RECEIVER_GONE,      A | R | D, ENDED, SERVER_GONE, UNANSWERABLE),
		CELL(RECEIVER_LOST,       A | R | D, ENDED, SERVER_LOST),
		CELL(RECEIVER_DEAF,       A | R | D, ABANDONED, SERVER_GONE),
	},
	[REQUEST_CANCELLING] = {
		RESPONSES(                P, ENDED, RELAYED),
		CELL(MALFORMED,           A | R | F, ENDED, MALFORMED),
		CELL(OVERSIZED,           A | R | F, ENDED, OVERSIZED),
		CELL(DECLINED,            A | R, ENDED, CANCEL_ANSWERED),
		CELL(STREAM_ENDED,        0, CANCELLING, REPEATED_CANCEL),
		CELL(PROGRESS,            0, CANCELLING, LATE_PROGRESS),
		CELL(PROGRESS_OWED,       P, CANCELLING, RELAYED),
		BOTH(CANCEL,              R, CANCELLING, REPEATED_CANCEL),
		CELL(CANCEL_ACKNOWLEDGED, R, CANCELLING, REPEATED_CANCEL),
		CELL(TURN_CANCELLED,      0, CANCELLING, REPEATED_CANCEL),
		BOTH(DEADLINE,            A | R, ABANDONED, CANCEL_ANSWERED),
		CELL(DEADLINE_ANSWERED,   A | R, ABANDONED, CANCEL_ANSWERED),
		BOTH(PERSON,              A | R, ABANDONED, OPERATOR_CANCELLED),
		SIDES(REQUESTER_GONE,     R, ABANDONED, CLIENT_GONE, SERVER_GONE),
		CELL(TERMINATED,          A | R, ABANDONED, TERMINATED),
		CELL(RECEIVER_GONE,       A | R, ENDED, CANCEL_ANSWERED),
		CELL(RECEIVER_LOST,       A | R, ENDED, CANCEL_ANSWERED),
		CELL(RECEIVER_DEAF,       A | R, ABANDONED, CANCEL_ANSWERED),
	},
	[REQUEST_ABANDONED] = {
		RESPONSES(                0, ENDED, LATE),
		CELL(MALFORMED,           0, ABANDONED, LATE),
		CELL(OVERSIZED,           0, ENDED, OVERSIZED),
		CELL(DECLINED,            0, ENDED, LATE),
		CELL(STREAM_ENDED,        0, ABANDONED, REPEATED_CANCEL),
		BOTH(PROGRESS,            0, ABANDONED, LATE_PROGRESS),
		BOTH(CANCEL,              R, ABANDONED, REPEATED_CANCEL),
		CELL(CANCEL_ACKNOWLEDGED, R, ABANDONED, REPEATED_CANCEL),
		CELL(TURN_CANCELLED,      0, ABANDONED, REPEATED_CANCEL),
		BOTH(DEADLINE,            R, ENDED, FORGOTTEN),
		CELL(DEADLINE_ANSWERED,   R, ENDED, FORGOTTEN),
		BOTH(PERSON,              0, ABANDONED, OPERATOR_CANCELLED),
		CELL(REQUESTER_GONE,      0, ABANDONED, CLIENT_GONE),
		CELL(TERMINATED,          0, ABANDONED, TERMINATED),
		CELL(RECEIVER_GONE,       0, ENDED, SERVER_GONE),
		CELL(RECEIVER_LOST,       0, ENDED, SERVER_LOST),
		CELL(RECEIVER_DEAF,       0, ABANDONED, SERVER_GONE),
	},
};
/* clang-format on */

#define CANCELLED \
	{ \
		TALLY_CANCELLED, "cancelled", " was cancelled" \
	}
#define GONE \
	{ \
		TALLY_LOST, NULL, " cannot be answered: " \
	}

const struct ending endings[WHY_COUNT] = {
	[WHY_RELAYED] = { TALLY_ANSWERED, NULL, NULL },
	[WHY_ANSWERED_FOR_CLIENT] = { TALLY_ANSWERED, NULL, NULL },
	[WHY_PROBE_ANSWERED] = { TALLY_ANSWERED, NULL,
	    " is not known to the server, which ended on it (see the option --legacy of canceld)" },
	[WHY_MALFORMED] = { TALLY_FAILED, "malformed-response",
	    "the response was malformed and was replaced by this error" },
	[WHY_OVERSIZED] = { TALLY_FAILED, "oversized-message",
	    "a message was larger than --max-message and was discarded" },
	[WHY_CANCEL_UNSENT] = CANCELLED,
	[WHY_CANCEL_FORWARDED] = CANCELLED,
	[WHY_CANCEL_ANSWERED] = CANCELLED,
	[WHY_TIMED_OUT] = { TALLY_TIMED_OUT, "timeout",
	    " was not answered within %d ms and was given up" },
	[WHY_OPERATOR_CANCELLED] = { TALLY_BY_PERSON, "operator", " was cancelled by a person" },
	[WHY_CLIENT_GONE] = { TALLY_LEFT, NULL, NULL },
	[WHY_TERMINATED] = { TALLY_LEFT, "terminated",
	    " was cancelled as canceld ends, by a signal or as the time of --drain is over" },
	[WHY_SERVER_GONE] = GONE,
	[WHY_UNANSWERABLE] = GONE,
	[WHY_SERVER_LOST] = { TALLY_LOST, "server-restarted",
	    " was not finished when the server was restarted, and is not repeated" },
};
