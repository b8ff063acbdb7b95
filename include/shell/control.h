#pragma once

/*
 * The control socket: how cancelctl(1) sees and steers this canceld. A Unix stream socket
 * (shell/place.h) of its user's; JSON-RPC 2.0, a message a line, at most CONTROL_LINE bytes. It
 * starts no program and opens no file that a caller names.
 *
 *   list {"requests":false}      -> pid, name, version, command, dialect, era, client, directory,
 *                                   started, age_ms, server, in_flight, calls: how many requests
 *                                   the client sent, oldest_ms, timeouts, dry_run, restarts,
 *                                   places_taken: how many requests were given up and still count
 *                                   for --parallel, if there are any, file: the path of the
 *                                   configuration file, config: what is wrong in it, doubted: rules
 *                                   that were most likely meant otherwise; with requests also
 *                                   requests, the oldest first of each side, more: how many did not
 *                                   fit, and ended: the last ones that ended
 *   cancel {id?,serial?,from?,reason?} -> cancelled, refused: lists of requests. id: "7" or "\"7\""
 *                                as in the list, or else the text of a string. Without from it must
 *                                name a request of one side only. serial: as in the list, of this
 *                                one only; one of both must be there. Error -32001: no such request
 *   cancel {older_ms?,method?,name?,from?,reason?} -> the same for all that fit, at most
 *                                CONTROL_CANCELS in one call ("more":true: there are others).
 *                                method and name may have '*'; one of the three must be there. What
 *                                by its nature has no deadline only with method; none that is
 *                                cancelled already
 *   set {option,rule,now?,unset?} -> changed: how many outstanding requests. option: "timeout" or
 *                                "max-time". unset: takes back what was set for the same METHOD and
 *                                NAME. Error -32001: nothing was set
 *   set {}                       -> rules: those in force, the strongest source first; more: how
 *                                   many did not fit
 *   stats {}                     -> pid, name, dialect, uptime_ms, why, requests, tallies,
 *                                   in_flight, oldest_ms, queued_bytes, restarts, methods: tallies
 *                                   and times of the requests of each method and name; within_s:
 *                                   how many of them took at most so many seconds
 *   ping {}                      -> {}: the server was asked whether it is alive; list tells in
 *                                   server how long that is unanswered_ms, else how long the last
 *                                   answer took: probe_ms. Error -32002
 *   restart {force?}             -> {}: the server is ended, and started again. Error -32002
 *   watch {level}                -> {}, and from then on {"method":"decision","params":an object of
 *                                   the JSON log} for each event up to this level: "notice",
 *                                   "decision" (the default) or "traffic". Who reads too slowly
 *                                   gets {"method":"lost","params":{"count":n}} in their place
 *   reload {}                    -> changed, at_next_start: keys of the configuration file;
 *                                   refused: what is wrong in it; doubted: rules that were most
 *                                   likely meant otherwise; unfit: its sections that do not fit
 *                                   this server; section: the one that counts;
 *                                   file: its path. Error -32002: the whole is refused
 *   log {level}                  -> {}: the level of the log itself, "error" too
 *   log {}                       -> lines: the last ones of the log, as objects of the JSON log
 *
 * It cannot delay the relay: a round of the loop carries out one line, and the connections, at most
 * CONTROL_PEERS, take turns; after that the relay has nine times as long for itself. A connection
 * that does not read its answers is not read either.
 */

#include "shell/life.h"
#include "shell/place.h"
#include "shell/statistics.h"

enum {
	CONTROL_PEERS = 16,
	CONTROL_LINE = 64 << 10,
	/* bytes that a connection has not read, beyond which notifications are lost */
	CONTROL_QUEUE = 256 << 10,
	CONTROL_CANCELS = 256,

	CONTROL_NOT_FOUND = -32001,
	CONTROL_REFUSED = -32002,
	CONTROL_BAD_PARAMS = -32602,

	VIEWS_BYTES = 128 << 10, /* of the requests in one list, about */
	VIEWS_NAME = 256,        /* bytes shown of a method or name */
	VIEWS_RULES = 256,
};

struct control {
	struct options *options; /* this and what follows is borrowed */
	struct log *log;
	struct session *session;
	const struct life *life;
	const struct statistics *statistics;
	msec_t now;

	int64_t started;       /* seconds since 1970 */
	msec_t started_at;     /* on the clock of `now` */
	char path[PLACE_PATH]; /* "": there is no socket */
	struct descriptor listener;
	msec_t accept_at; /* when to try again, after there was no descriptor; MSEC_NEVER */
	msec_t wake;      /* when control_round is due; MSEC_NEVER: only after an event */
	msec_t rest;      /* until when no line is taken */
	unsigned next;    /* the index, modulo count, of the peer whose line is taken next */
	int count;
	struct peer
	    *peers[CONTROL_PEERS + 1]; /* the connections; the last one is about to be refused */
};

/*
 * Opens the socket, unless an option forbids it; if that fails, one line of the log tells why. Sets
 * control->path. The caller has set the first members and the time; life may be started later.
 * control must not move in memory until control_close.
 */
void control_open(struct control *control);

/*
 * Ends all connections, and removes the socket, unless another canceld listens under its name by
 * now.
 */
void control_close(struct control *control);

/* Reads and carries out what was asked. */
void control_round(struct control *control, msec_t now);

/* Writes what can be written, and sets up the watchers for the next wait. */
void control_watch(struct control *control);

/*
 * The results of `list` and `stats`, which the caller owns. requests: with as many of the
 * outstanding requests as fit.
 */
json_t *views_list(const struct control *control, bool requests);
json_t *views_stats(const struct control *control);

/* What the rule was most likely meant to be; the caller owns it. NULL: what it says. */
json_t *views_meant(const struct control *control, const struct policy_rule *rule);

/* Each rule that was most likely meant otherwise, as a sentence; the caller owns the array. */
json_t *views_doubts(const struct control *control);

/*
 * The rules in force, those of the strongest source first, and within a source the latest first:
 * the result of `set` without parameters. The caller owns it.
 */
json_t *views_rules(const struct policy *policy);

/* The members that name a request: id, serial, from, method, name, age_ms. The caller owns them. */
json_t *views_name(const struct request_view *view);
