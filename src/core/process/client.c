#include "core/client.h"

/* clang-format off */
#define STAY      { CLIENT_STATES, LEAVE_NOT }
#define UNSERVE   { CLIENT_UNSERVED, LEAVE_NOT }
#define DRAIN     { CLIENT_DRAINING, LEAVE_DRAIN }
#define CANCEL    { CLIENT_LEFT, LEAVE_CANCEL }
#define TERMINATE { CLIENT_LEFT, LEAVE_TERMINATED }

#define ROW(state, ...) [CLIENT_##state] = { __VA_ARGS__ },

static const struct move {
	enum client_state next;
	enum leaving leaving;
} life[CLIENT_STATES][CLIENT_EVENTS] = {
/*             STAYS ENDS    FINISHES TIME       DEAF    HUNG     SIGNAL */
ROW(PRESENT,   STAY, CANCEL, DRAIN,   CANCEL,    CANCEL, UNSERVE, TERMINATE)
ROW(UNSERVED,  STAY, STAY,   STAY,    STAY,      STAY,   STAY,    TERMINATE)
ROW(DRAINING,  STAY, STAY,   STAY,    TERMINATE, CANCEL, UNSERVE, TERMINATE)
ROW(LEFT,      STAY, STAY,   STAY,    STAY,      STAY,   STAY,    STAY)
};
/* clang-format on */

enum leaving
client_handle(enum client_state *state, enum client_event event)
{
	struct move move = life[*state][event];

	if (move.next != CLIENT_STATES)
		*state = move.next;
	return move.leaving;
}
