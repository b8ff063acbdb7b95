#pragma once

/*
 * The session, which only the files of this folder see: a struct for each concern, written by the
 * file of its name. A file that handles a message or an event may set single members of another's.
 */

#include "party.h"

enum trial {
	TRIAL_NONE,
	TRIAL_DUE, /* it is to be asked once nothing else is open */
	TRIAL_ASKED,
	TRIAL_UNREAD, /* when its time was over, perhaps the server had not read it */
	TRIAL_ANSWERED,
	TRIAL_FAILED, /* it was not answered in time: the server is not probed */
};

struct probe {                /* probe.c: is the server alive? */
	struct party *client; /* in whose place it is asked */
	struct server *server;
	struct outlet *outlet;
	struct pending cause; /* a copy of the request that was cancelled last */
	uint64_t taken; /* bytes of the client's lane that the server had taken at the last check */
	uint64_t released_to; /* how far the client's queue has waited for a probe already */
	msec_t since;         /* idle time from which the server may have read the question */
	/* how long the last answer to such a question has taken; MSEC_NEVER: none has come */
	msec_t took;
	enum trial trial; /* does it answer such questions at all? */
	bool again; /* to be asked when the present question is answered, and the era settled */
};

struct session {
	struct journal journal; /* what was counted */
	struct handshake handshake;
	struct server server;
	struct outlet outlet;
	/* the lane of each has the bytes that this side writes; the other side reads them */
	union {
		struct party party[2];
		struct {
			struct party client, server_party; /* the same */
		};
	};

	/*
	 * the client's; turns: in ACP v2 the sessions whose prompt was answered and runs;
	 * CANCELLING: told
	 */
	struct pending turns;
	struct records records;
	struct session_config config;
	struct clocks clocks;
	struct probe probe;
	struct parallel *parallel; /* owned, by the number of the rule, as many as had been added */
	size_t rule_count;
	bool waiting; /* deadlines wait until the session is open */
};
