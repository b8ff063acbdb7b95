#pragma once

/*
 * Scenarios as they are read from *.scn files: which side sends what at which millisecond, and what
 * each side must then see. test/scenario/README describes the lines. Reading a script does not play
 * it.
 */

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "core/session.h"

enum line_kind {
	LINE_SEND,    /* side writes text: a message, or exactly these bytes with `exact` */
	LINE_SEE,     /* side must read text next: a pattern, or exactly these bytes with `exact` */
	LINE_NOTHING, /* side must have read nothing more */
	LINE_AT,      /* time passes until `value`, each wake in time */
	LINE_ASLEEP,  /* time passes until `value`, and canceld does not run meanwhile */
	LINE_WHY,     /* text: the words decided since the last such line, in order */
	LINE_SAYS,    /* text: the next such word with its fields */
	LINE_STALL,   /* side reads no more ... */
	LINE_RESUME,  /* ... reads again */
	LINE_TAKE,    /* side reads `value` bytes while it stalls */
	LINE_MISS,    /* side has not read what no line has asked for */
	LINE_UNREAD,  /* what side writes is not read by canceld ... */
	LINE_READ,    /* ... is read again */
	LINE_END,     /* side closes what it writes */
	LINE_LEAVE,   /* the client leaves; value: enum leaving */
	LINE_GONE,    /* the server has gone; value: status, or signal with `exact` */
	LINE_LOST,    /* the same, and a new one will come */
	LINE_BACK,    /* a new one has started */
	LINE_QUOTE,   /* text: the server's last words */
	LINE_STUCK,   /* the server is to be ended */
	LINE_RESTART, /* text: why no new server could continue; or "yes" */
	LINE_DEAF,    /* the server closed its stdin */
	LINE_SHUT,    /* canceld has closed it */
	LINE_RETIRES, /* ... and another one will follow */
	LINE_HOPELESS,    /* no new server will come */
	LINE_OUTSTANDING, /* side has `value` requests outstanding */
	LINE_REQUESTED,   /* side has sent `value` requests so far */
	LINE_REFUSALS,    /* so many messages of side were none, and counted as refused */
	LINE_TALLY,       /* `value` requests of the client's ended as text tells: a tally_word */
	/*
	 * a person cancels side's request; text: its id, then the reason in quotes; exact: in vain
	 */
	LINE_OPERATE,
	/*
	 * a person adds `rule`; value: for so many outstanding requests too; -1: for later ones
	 * only
	 */
	LINE_SET,
	LINE_PING,      /* a person asks the server whether it is alive; text: "yes", or why not */
	LINE_DISMISS,   /* ... has it started again; the same; exact: by force */
	LINE_VERDICT,   /* text: the verdict on the server */
	LINE_WANTS_END, /* the session wants to end */
};

struct option {
	enum policy_kind kind;
	char *method, *name, *result;
	msec_t duration;
};

struct line {
	enum line_kind kind;
	enum side side;
	const char *file; /* owned by the script */
	unsigned number;
	struct buf text;
	bool exact;
	enum framing framing; /* of the message that is sent or seen; without `exact` */
	msec_t value;
	struct option rule;
};

struct scenario {
	char *title;
	const char *file;
	unsigned number;
	struct session_config config; /* without policy */
	enum framing framing;         /* framing of both sides' messages, except raw bytes */
	struct option *options;       /* the policy's rules */
	size_t option_count;
	char **seeds;
	size_t seed_count;
	bool is_short; /* about a limit of size: not played with fillers */
	struct line *lines;
	size_t line_count;
};

struct script {
	struct scenario *scenarios;
	size_t count;
	char **files;
	size_t file_count;
	struct vocabulary *vocabulary;
	unsigned faults; /* each is printed when it is found */
};

/* It lives as long as the process. */
void script_init(struct script *script);

/* Adds the scenarios and definitions of a file; faults go to stdout as `file:line: text`. */
void script_read(struct script *script, const char *path);
