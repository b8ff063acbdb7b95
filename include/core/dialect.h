#pragma once

/*
 * The protocols, one const row each: how a cancel is spelled, which answers are owed, which methods
 * are exempt. Other files of the core name no method but their own subject (acks.h, probe.c),
 * and policy.c MCP's tools/call.
 */

#include "core/timeline.h"
#include "core/framing.h"
#include "core/scan.h"

enum { /* JSON-RPC 2.0 section 5.1; LSP 3.17 "ErrorCodes"; ACP "Error" */
	CODE_PARSE_ERROR = -32700,
	CODE_INVALID_REQUEST = -32600,
	CODE_METHOD_NOT_FOUND = -32601,
	CODE_INVALID_PARAMS = -32602,
	CODE_INTERNAL_ERROR = -32603,
	CODE_SERVER_NOT_INITIALIZED = -32002,
	CODE_REQUEST_CANCELLED = -32800,
	CODE_SERVER_CANCELLED = -32802,
	CODE_REQUEST_FAILED = -32803,
	CODE_AUTH_REQUIRED = -32000,
};

enum method_trait {
	/* its answer opens the session; if it times out, the server is ended */
	METHOD_HANDSHAKE = 1 << 0,
	/* asks for the era of the server: a timeout is answered as an unknown method */
	METHOD_DISCOVERY = 1 << 1,
	METHOD_SHUTDOWN = 1 << 2,
	METHOD_LONG = 1 << 3,   /* long-lived by design */
	METHOD_STREAM = 1 << 4, /* ... and the receiver may end it with a cancel of its own */
	/* a turn of a session: cancelled with the dialect's turn_cancel; a longer grace */
	METHOD_TURN = 1 << 5,
	/* waits for a person: the other side's idle clock stops meanwhile */
	METHOD_PERSON = 1 << 6,
	METHOD_CODE = 1 << 7, /* runs a user's code: the longer built-in deadline */
	METHOD_TOOL = 1 << 8, /* --tool-errors applies */
	/* stays in force and replaces an earlier one of its name: replayed to a new server */
	METHOD_SETTING = 1 << 9,
	METHOD_UNSETTING = 1 << 10, /* ends the setting of the same name, or the login */
	METHOD_CLOSE = 1 << 11,     /* its result ends its ACP session, and the turn in it */
	/* its result is an array, with an element for each of params.items */
	METHOD_EACH = 1 << 12,
	/* MCP: its answer is that of a task's request: the task has ended */
	METHOD_RESULT = 1 << 13,
	METHOD_LOAD = 1 << 15, /* ACP: opens a session again, whose updates are then awaited */
	/* METHOD_PERSON only of a client with the capability before its '/' */
	METHOD_DECLARED = 1 << 14,
	METHOD_SLOW = 1 << 17, /* a handshake that a server may index a whole project for */
	/* asks what must be answered while all else waits: no place of --parallel */
	METHOD_FREE = 1 << 19,
	/* opens or loads a session: a -t without METHOD does not shorten its deadlines */
	METHOD_SESSION = 1 << 16,
	/* ACP: a new server may want it once more before it opens a session */
	METHOD_LOGIN = 1 << 18,
	METHOD_TOOLS = 1 << 20, /* MCP: its result has the server's tools */

	/* Kept and replayed to a new server. */
	METHOD_RECORDED =
	    METHOD_HANDSHAKE | METHOD_STREAM | METHOD_SETTING | METHOD_SESSION | METHOD_LOGIN,
	/* Opens the session: its deadline is built in, a -t without METHOD does not change it. */
	METHOD_START = METHOD_HANDSHAKE | METHOD_DISCOVERY,
	/* canceld sends no cancel for it; see DIALECT_CANCELS_START */
	METHOD_NO_CANCEL = METHOD_START | METHOD_SHUTDOWN,
	/* no deadline unless a rule names it */
	METHOD_EXEMPT = METHOD_LONG | METHOD_STREAM | METHOD_TURN | METHOD_PERSON,
	/* of no use to another server: what opens the session is replayed, as a stream is */
	METHOD_UNKEPT = METHOD_NO_CANCEL | METHOD_STREAM,
	/* --parallel neither holds nor counts it: in ACP it may be meant for the turn that runs. */
	METHOD_UNCOUNTED = METHOD_NO_CANCEL | METHOD_LONG | METHOD_STREAM | METHOD_PERSON |
	    METHOD_FREE | METHOD_CLOSE | METHOD_SETTING | METHOD_UNSETTING,
};

struct method {
	const char *name;
	size_t len;                 /* of the name */
	unsigned traits;            /* enum method_trait */
	enum scan_field name_field; /* the member that names a tool, prompt or resource; 0: none */
	/* the result that tells that it was cancelled; NULL: an error does */
	const char *cancelled;
};

/* A notification that cancels the request whose id is in a member of its params. */
struct cancel {
	const char *method, *key;
	enum scan_field field;
	bool owes; /* the sender of such a cancel still waits for an answer */
};

#ifdef DECISIONS_MUTABLE /* the mutation test changes one fact or cell at a time */
#define TABLE_CONST
#else
#define TABLE_CONST const
#endif

/* All forms of a cancel, ended by a NULL method. */
extern TABLE_CONST struct cancel dialect_cancels[];

enum dialect_flag {
	DIALECT_OWES_ANSWER = 1 << 0, /* a cancelled request must still be answered */
	/*
	 * tokens are the requester's: one that is still in use is replaced by a fresh one, and
	 * progress that names no request is dropped
	 */
	DIALECT_OWN_TOKENS = 1 << 1,
	DIALECT_HAS_ERAS = 1 << 2, /* canceld sends nothing of its own before the era is settled */
	DIALECT_REASONS = 1 << 3,  /* a cancel may have a reason */
	DIALECT_CANCELS_START = 1 << 4, /* the requester may cancel a METHOD_NO_CANCEL request */
	/* after a deadline the receiver still has the grace to answer */
	DIALECT_DEADLINE_WAITS = 1 << 5,
	DIALECT_REPLAYS = 1 << 6, /* a new server can be told everything that the session needs */
	/*
	 * a turn begins with the answer to its prompt, whose result does not tell of a cancel: see
	 * turns.c
	 */
	DIALECT_TURNS_RUN_ON = 1 << 7,
	/* requests may wait, as no notification changes what they mean */
	DIALECT_PARALLEL = 1 << 8,
};

enum {
	DIALECT_TOKENS = 2,
	DIALECT_LISTS = 3,
};

struct list_change { /* a list of the server's that may change, as it may with a new server */
	const char *capability;   /* with the member listChanged it allows the server to send ... */
	const char *notification; /* NULL: there is no such list */
};

struct progress_form {  /* where a progress message tells a person something */
	const char *in; /* the member of params that has these members; NULL: params itself */
	const char *done, *total; /* numbers; NULL: there is none */
	const char *said[2];      /* text; the second one if the first is missing */
};

struct first_request { /* of a client */
	enum framing framing;
	struct span method;
	const struct scan *scan;
};

struct dialect {
	const char *name; /* versions have the same */
	/* whether such a client speaks it; NULL: if it speaks nothing else, or it never shows */
	bool (*begins)(const struct first_request *first);
	const struct dialect *version_2; /* the row from protocolVersion 2 on; NULL: this one */
	unsigned flags;                  /* enum dialect_flag */
	const struct cancel *cancel;     /* NULL: there is none */
	/* for a peer with the capability cancellation.request */
	const struct cancel *declared_cancel;
	/* notification with params.sessionId, which is the requests' token */
	const char *turn_cancel;
	const char *resume,
	    /* of a session of such a kind in a new server, without and with its history; or NULL */
	    *load;
	const char *progress;           /* notification */
	enum scan_field progress_field; /* the member with its token; 0: none */
	struct progress_form progress_form;
	/* the members with a request's own tokens; 0: none */
	enum scan_field token_fields[DIALECT_TOKENS];
	const char *task_cancel, *task_status; /* NULL: no tasks */
	/* the first version with tasks, and with errors without "id": null */
	const char *tasks_since;
	const char *opened;        /* notification that the client sends after its handshake */
	const char *closed;        /* notification of the client that ends the server */
	const char *stream_opened; /* notification of the server that begins a METHOD_STREAM */
	/*
	 * Progress in the server's name, for compose: of the method, the token, how many seconds
	 * the request has waited, and the value, where there is one; NULL: there is none.
	 */
	const char *heartbeat;
	/* a request that every server answers; NULL: an unknown method */
	const char *ping, *modern_ping;
	/* where --ask-progress puts a token: SCAN_REQUEST_META or SCAN_PARAMS */
	enum scan_field asked_object;
	const char *asked_member; /* ... under this name; NULL: nowhere */
	/* a deadline passed; the server has gone, or another failure */
	int timeout_code, failure_code;
	int closed_code; /* no session is open yet */
	msec_t patience; /* as much more than TIME_CLOSE_WAIT has a server to end by itself */
	msec_t at_once;  /* what is answered sooner than this is only counted */
	struct list_change lists[DIALECT_LISTS];
	TABLE_CONST struct method *methods; /* ended by a NULL name */
};

extern TABLE_CONST struct dialect dialect_mcp, dialect_acp, dialect_acp2, dialect_lsp, dialect_bsp,
    dialect_none;

/* All texts of methods and names are unescaped. */

/* The dialect with this name; NULL if there is none. */
const struct dialect *dialect_named(struct span name);

/* The dialect of a client. */
const struct dialect *dialect_of_client(const struct first_request *first);

/*
 * The dialect's row of a method; if there is none, the last row, which has neither name nor traits.
 */
const struct method *dialect_method(const struct dialect *dialect, struct span method);

/*
 * The method of any protocol that the text was most likely meant to be; itself if it is one; empty:
 * none is near.
 */
struct span dialect_nearest(struct span method);

/* Whether the requests of the method have names, in any protocol. */
bool dialect_has_names(struct span method);

/*
 * A result that a request of a server's with this method can have, where it cannot have this JSON;
 * NULL: as far as is known it can.
 */
const char *dialect_result_like(struct span method, struct span json);

/*
 * What may be shown of a request's name, in the log, in answers and to people: of a URI its scheme
 * and host, since the rest may be a password or a token; of a file's its path. uri: it is one, or a
 * path, whatever it looks like. It is in the name, or in `shown`.
 */
enum { NAME_SHOWN = 256 };
struct span name_shown(struct span name, bool uri, char shown[NAME_SHOWN]);

/*
 * The form of the cancel that a notification with this method is; NULL if it is none, or the
 * dialect has none.
 */
const struct cancel *dialect_cancel(const struct dialect *dialect, struct span method);

/* Whether the response is an error with this code, which it may spell in any way: -32e3. */
bool dialect_is_error(const struct scan *response, int code);

/*
 * Whether the response tells that its request was cancelled (LSP "ErrorCodes", ACP "Stop Reasons").
 */
bool dialect_says_cancelled(const struct scan *response);

/* Whether a task with this status, as spelled, has ended (MCP basic/utilities/tasks). */
bool dialect_ends_task(struct span status);

/* ACP: whether a session/update is of a kind of which the history of a session is made. */
bool dialect_is_of_turn(const struct scan *update);

/* --- policy.c */

/*
 * What people say of some requests: each rule names them by METHOD and NAME, and has a value of its
 * kind. Of the rules of a kind that name a request, those of the strongest source count. Of these
 * the most specific one wins: one with a NAME before one without, an exact NAME before one with
 * '*', then an exact METHOD before one with '*'; of equals the later one.
 */
enum policy_kind {
	POLICY_IDLE,     /* -t: the longest time without a sign of life; MSEC_NEVER: none */
	POLICY_CAP,      /* -T: the longest time in total; the same */
	POLICY_PARALLEL, /* --parallel: how many requests at once */
	POLICY_ANSWER,   /* --answer: the result, by METHOD alone */

	POLICY_DEADLINES = 1 << POLICY_IDLE | 1 << POLICY_CAP,
};

/* Where a rule comes from; the strongest is the last. */
enum policy_source {
	POLICY_BUILT_IN, /* no rule at all */
	POLICY_FILE,     /* the configuration file, for all servers */
	POLICY_SECTION,  /* the file's section for this server */
	POLICY_OPTION,
	POLICY_SET, /* a person, while the session runs */
	POLICY_SOURCES
};

/* Where a deadline comes from that no rule names. */
#define POLICY_BUILT_IN_TEXT "built in"

struct policy_rule {
	enum policy_source source;
	enum policy_kind kind;
	char *method, *name; /* owned; NULL: any. '*' stands for any characters, "\\*" for a '*' */
	msec_t value;        /* of its kind */
	char *text;          /* owned: of a kind that has one, such as JSON in one line; or NULL */
	size_t number;       /* how many were added before it */
	bool matched;        /* it has named a request, even if a more specific rule won */
	size_t least;        /* bytes of the shortest name that fits */
	/* for a person, and valid while a rule or request has it; NULL: not known */
	const char *origin;
	bool doubted; /* set at will: a person was told of it */
};

struct policy {                    /* zeroed: empty */
	struct policy_rule *rules; /* owned */
	size_t count;
	size_t added;     /* so many ever were */
	struct buf tools; /* a line each, that the server has listed */
	bool more;        /* private: the list has another page, or what is not kept of it */
	bool tools_new;   /* cleared at will: nobody has looked at tools since it was listed */
};

#define each_rule(rule, policy) \
	/* NOLINTNEXTLINE: it declares */ \
	for (struct policy_rule *rule = (policy)->rules; \
	     (rule) != NULL && (rule) < (policy)->rules + (policy)->count; (rule)++)

struct deadline {
	msec_t after;       /* its duration; MSEC_NEVER: there is none */
	const char *origin; /* where that comes from, for a person; NULL: not known */
};

void policy_free(struct policy *policy);

/* Adds a rule. method and name are copied, empty: any; so is text. A name needs a method. */
void policy_add(struct policy *policy, enum policy_source source, enum policy_kind kind,
    struct span method, struct span name, msec_t value, struct span text);

/*
 * Adds a copy of the rule of POLICY_SET, in place of such a one with the same METHOD and NAME; with
 * the value POLICY_UNSET only removes that, whose origin the rule then has, or without a METHOD all
 * of its kind: then its origin is "all". false: there are LIMIT_RULES_SET of them already, or none
 * to remove.
 */
enum { POLICY_UNSET = -1 };
bool policy_set(struct policy *policy, struct policy_rule *rule) MUST_USE;

/*
 * Removes, of so many of the first rules, those of these kinds (1 << kind) and of weaker sources
 * than this one.
 */
void policy_forget(struct policy *policy, size_t count, unsigned kinds, enum policy_source source);

/* What may be shown of its NAME: of an address its host at most. */
struct span policy_shown(const struct policy_rule *rule, char shown[NAME_SHOWN]);

/*
 * Sets the origin of the newest rule. One that was there with the same origin is this rule too, and
 * may have matched.
 */
void policy_name(struct policy *policy, const char *origin);

/* What policy_allows wants, for a person. */
#define POLICY_PATTERN "a pattern with '*' has at most 8 of them and 256 bytes"

/* Whether the pattern, such as a METHOD or NAME, is short enough for every other function here. */
bool policy_allows(struct span pattern);

/*
 * Whether the pattern fits the whole text. It costs at most their lengths multiplied, however many
 * '*' there are.
 */
bool policy_fits(const char *pattern, struct span text);

/*
 * Takes the names of the tools from a result of METHOD_TOOLS: it begins the list or continues it.
 */
void policy_hear_tools(struct policy *policy, struct span result);

/* Whether the rule names a request with this method and name. */
bool policy_names(const struct policy_rule *rule, struct span method, struct span name);

/*
 * Appends what the rule was most likely meant to be, such as tools/call:forecast=10m, if that can
 * be told. false: it has named a request, or nothing shows that it is wrong. policy: has
 * the tools that may be meant. dialect: NULL: any may come.
 */
bool policy_meant(const struct policy *policy, const struct policy_rule *rule,
    const struct dialect *dialect, struct buf *meant);

/*
 * The rule of that kind that counts for the request; NULL: none. It marks those that name the
 * request as matched. A rule without a METHOD counts only if its value is above `above`; with
 * MSEC_NEVER none does.
 */
const struct policy_rule *policy_find(struct policy *policy, enum policy_kind kind,
    struct span method, struct span name, msec_t above);

/* Whether a rule of an idle deadline is for this request, and not for all. */
static inline bool
policy_singles_out(struct policy *policy, struct span method, struct span name)
{
	return policy_find(policy, POLICY_IDLE, method, name, MSEC_NEVER) != NULL;
}

/*
 * The deadline of that kind, POLICY_IDLE or POLICY_CAP, of a request of the client's or, with
 * from_server, of the server's. A server's request has one only if a rule names its METHOD. traits
 * are those of the method.
 */
struct deadline policy_deadline(struct policy *policy, enum policy_kind kind, struct span method,
    struct span name, unsigned traits, bool from_server);
