#pragma once

/* The commands of cancelctl, then what watch and metrics consist of. */

#include <jansson.h>

#include "core/buf.h"

/*
 * THE TABLE of the commands: the name, its arguments and what it does in one line, as the help
 * shows them, and the function: argv[0] is the name; it returns the exit status.
 */
#define COMMANDS(X) \
	X("ls", "[PID|NAME]", "every canceld of this user, or the requests of one; --all", ctl_ls) \
	X("cancel", "PID|NAME ID", "cancel a request; with --older or --method, many", ctl_cancel) \
	X("set", "PID|NAME [METHOD[:NAME]=]DURATION", \
	    "set a deadline; with --now, for what is in flight too", ctl_steer) \
	X("ping", "PID|NAME", "asks the server whether it is alive", ctl_steer) \
	X("restart", "PID|NAME", "ends the server, and starts it again in its session", ctl_steer) \
	X("watch", "[PID|NAME] [FILTER...]", "decisions as they are made", ctl_watch) \
	X("top", "[PID|NAME]", "the requests in flight, refreshed", ctl_top) \
	X("stats", "[PID|NAME]", "what has been counted", ctl_stats) \
	X("metrics", "[--listen [ADDRESS:]PORT]", "the counters for Prometheus", ctl_metrics) \
	X("history", "[PID|NAME]", "what has happened, and how long each tool took", ctl_history) \
	X("trace", "[FILE...]", \
	    "the history or a JSON log, as a page, or for Perfetto or OpenTelemetry", ctl_trace) \
	X("reload", "PID|NAME", "read the configuration file again", ctl_steer) \
	X("log", "PID|NAME [LEVEL]", "the last lines of the log, or change how much is logged", \
	    ctl_steer) \
	X("wrap", "[CLIENT|FILE|--all] [SERVER...] [-- OPTION...]", \
	    "puts canceld before the servers of a client; --list", ctl_wrap) \
	X("unwrap", "CLIENT|FILE|--all [SERVER...]", "takes it out again", ctl_wrap) \
	X("doctor", "[options] [--] COMMAND [argument...]", \
	    "tells which promises of its protocol a server keeps", ctl_doctor) \
	X("call", "TOOL [ARGUMENT...] -- COMMAND [argument...]", \
	    "calls a tool of a server, for scripts; --list", ctl_call) \
	X("help", "", "this text", ctl_help) \
	X("version", "", "the version", ctl_version)

#define COMMAND_DECLARE(name, arguments, help, run) int run(int argc, char *argv[]);
COMMANDS(COMMAND_DECLARE)

/*
 * server: as `list` has it. Whether a ping is answered or no longer awaited. The second appends
 * what came of the ping, and returns the exit status.
 */
bool steer_ping_is_over(const json_t *server);
int steer_tell_ping(struct buf *line, const json_t *server);

enum { FILTER_CONDITIONS = 16, FILTER_VALUE_MAX = 256 };

/*
 * Which decisions are shown: KEY=VALUE, KEY!=VALUE, KEY>VALUE, KEY>=VALUE, KEY<VALUE or KEY<=VALUE,
 * of which all must hold. KEY is a member of a decision; age stands for elapsed. Numbers are
 * compared as such, and may be durations such as 5s. Of anything else the VALUE of = and != may
 * hold '*' and be a list with commas, of which one must fit.
 */
struct filter { /* zeroed: all fit */
	struct condition {
		const char *key;
		int holds;         /* private: which relations fit */
		const char *value; /* borrowed; NULL: the number */
		json_int_t number;
	} conditions[FILTER_CONDITIONS];
	int count;
};

/* Whether the word is meant as a condition. */
bool filter_is_condition(const char *word);

/*
 * Adds a condition, whose word is borrowed. Returns -1; or, if the word is no condition, writes
 * that to stderr and returns the exit status.
 */
int filter_add(struct filter *filter, const char *word);

/* Whether the decision, an object of the JSON log, is to be shown. */
bool filter_fits(const struct filter *filter, const json_t *decision);

/* Who hears the decisions of every canceld. */
struct watcher {
	const char *level; /* as for the method watch of the control socket */
	bool json;         /* the notification of lost decisions goes to stdout too */
	void (*hear)(void *user, json_t *decision);
	/* that canceld sends no more, or is asked anew; may be NULL */
	void (*end)(void *user, long pid);
	/* called whenever something was heard, and each second; may be NULL */
	void (*round)(void *user);
	void *user;
};

/*
 * Hears the decisions of one canceld until it ends; which NULL: of all, those too that are started
 * later. Returns the exit status.
 */
int watch_run(const struct watcher *watcher, const char *which);

/*
 * The counters of all canceld in the text format of Prometheus, summed over those that have a
 * server of the same name. What was counted by a canceld that has ended stays in the sums, so that
 * counters never go back. What is shown is bounded: at most EXPOSITION_SERVERS names of servers and
 * EXPOSITION_PAIRS pairs of a method and a name; the rest is counted as "other".
 */
enum { EXPOSITION_SERVERS = 64, EXPOSITION_PAIRS = 256 };

struct exposition {
	/*
	 * for each canceld, by its key, the samples of its last answer, by family and labels; "":
	 * the sums over those that have ended
	 */
	json_t *samples;
	json_t *servers, *pairs; /* seen so far */
};

void exposition_init(struct exposition *exposition);
void exposition_free(struct exposition *exposition);

/*
 * stats: the answer to `stats` of each, by a key that tells it from all others as long as it runs;
 * null: none came.
 */
void exposition_write(struct exposition *exposition, json_t *stats, struct buf *text);
