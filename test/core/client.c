#include "core/client.h"

#include <check.h>
#include <string.h>

/* In the order of enum client_event, client_state and leaving; '-': it does not leave. */
static const char events[] = " eftdhs";
static const char states[] = "PUDL";
static const char leavings[] = "cdt-";

SUITE("client");

/* For each way into a state: the next state and how the client leaves, after each event. */
static const struct {
	const char *way;
	const char *cells[CLIENT_EVENTS];
} table[] = {
	/* STAYS ENDS FINISHES TIME DEAF HUNG SIGNAL */
	{ "", { "P-", "Lc", "Dd", "Lc", "Lc", "U-", "Lt" } },
	{ "h", { "U-", "U-", "U-", "U-", "U-", "U-", "Lt" } },
	{ "f", { "D-", "D-", "D-", "Lt", "Lc", "U-", "Lt" } },
	{ "fh", { "U-", "U-", "U-", "U-", "U-", "U-", "Lt" } },
	{ "e", { "L-", "L-", "L-", "L-", "L-", "L-", "L-" } },
	{ "t", { "L-", "L-", "L-", "L-", "L-", "L-", "L-" } },
	{ "d", { "L-", "L-", "L-", "L-", "L-", "L-", "L-" } },
	{ "s", { "L-", "L-", "L-", "L-", "L-", "L-", "L-" } },
	{ "ft", { "L-", "L-", "L-", "L-", "L-", "L-", "L-" } },
	{ "fd", { "L-", "L-", "L-", "L-", "L-", "L-", "L-" } },
	{ "hs", { "L-", "L-", "L-", "L-", "L-", "L-", "L-" } },
};

TESTS(each_cell_of_the_table, 0, COUNT(table))
{
	for (int event = 0; event < CLIENT_EVENTS; event++) {
		enum client_state state = CLIENT_PRESENT;
		const char *cell = table[_i].cells[event];
		enum leaving leaving;

		for (const char *way = table[_i].way; *way != '\0'; way++)
			client_handle(&state, (enum client_event)(strchr(events, *way) - events));
		leaving = client_handle(&state, (enum client_event)event);
		ck_assert_msg(states[state] == cell[0] && leavings[leaving] == cell[1],
		    "\"%s\", then %c: %c%c, not %s", table[_i].way, events[event], states[state],
		    leavings[leaving], cell);
	}
}
