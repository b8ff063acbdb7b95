#ifndef CORE_SCAN_H
#define CORE_SCAN_H

/*
 * A resumable scanner of one JSON text (RFC 8259, UTF-8, strict). It builds nothing: it checks the
 * syntax, finds the end, and keeps the few values that say what kind of JSON-RPC message this is.
 * A byte is read once, or twice where its token is not whole in one piece, whatever the sizes of the pieces.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"

enum {
	SCAN_DEPTH_MAX = 1000, /* nesting of arrays and objects */
	SCAN_VALUE_MAX = 1024, /* bytes kept of one captured value as spelled */
	SCAN_META_MAX = 16384, /* bytes kept of all params._meta members in SCAN_PARAMS_META */
};

enum value_type {
	VALUE_ABSENT,
	VALUE_NULL,
	VALUE_BOOL,
	VALUE_NUMBER,
	VALUE_STRING,
	VALUE_OBJECT,
	VALUE_ARRAY,
};

/* The closed list of paths that are read. Keys are compared after unescaping. */
enum scan_field {
	SCAN_JSONRPC,             /* jsonrpc */
	SCAN_ID,                  /* id */
	SCAN_METHOD,              /* method */
	SCAN_PARAMS,              /* params: its type only */
	SCAN_RESULT,              /* result: its type only */
	SCAN_ERROR,               /* error: its type only */
	SCAN_ERROR_CODE,          /* error.code */
	SCAN_ERROR_MESSAGE,       /* error.message; a second one is no fault */
	SCAN_PARAMS_ID,           /* params.id */
	SCAN_REQUEST_ID,          /* params.requestId */
	SCAN_NAME,                /* params.name */
	SCAN_URI,                 /* params.uri */
	SCAN_SESSION_ID,          /* params.sessionId */
	SCAN_REASON,              /* params.reason */
	SCAN_TASK,                /* params.task: its type only */
	SCAN_TASK_ID,             /* params.taskId */
	SCAN_STATUS,              /* params.status */
	SCAN_TOKEN,               /* params.token */
	SCAN_PROGRESS_TOKEN,      /* params.progressToken: a progress notification */
	SCAN_WORK_TOKEN,          /* params.workDoneToken */
	SCAN_PARTIAL_TOKEN,       /* params.partialResultToken */
	SCAN_PARAMS_VERSION,      /* params.protocolVersion */
	SCAN_CLIENT_CANCELS,      /* params.clientCapabilities.cancellation.request */
	SCAN_META_TOKEN,          /* params._meta.progressToken: a request that wants progress */
	SCAN_META_SUBSCRIPTION,   /* params._meta["io.modelcontextprotocol/subscriptionId"] */
	SCAN_META_VERSION,        /* params._meta["io.modelcontextprotocol/protocolVersion"] */
	SCAN_REQUEST_META,        /* params._meta: its type only */
	SCAN_PARAMS_META,         /* the members of params._meta with a key "io.modelcontextprotocol/...", as
	                             spelled, joined by commas */
	SCAN_RESULT_VERSION,      /* result.protocolVersion */
	SCAN_AGENT_CANCELS,       /* result.agentCapabilities.cancellation.request */
	SCAN_STOP_REASON,         /* result.stopReason */
	SCAN_RESULT_TYPE,         /* result.resultType */
	SCAN_RESULT_TASK_ID,      /* result.taskId */
	SCAN_CREATED_TASK_ID,     /* result.task.taskId */
	SCAN_RESULT_STATUS,       /* result.status */
	SCAN_CAPABILITIES,        /* result.capabilities: its type only */
	SCAN_TOOLS_CHANGE,        /* result.capabilities.tools.listChanged */
	SCAN_PROMPTS_CHANGE,      /* result.capabilities.prompts.listChanged */
	SCAN_RESOURCES_CHANGE,    /* result.capabilities.resources.listChanged */
	SCAN_RESULT_SUBSCRIPTION, /* result._meta["io.modelcontextprotocol/subscriptionId"] */
	SCAN_FIELDS
};

/* What is wrong. The first fault counts. After a soft fault the scan goes on and may find the id. */
enum scan_fault {
	SCAN_FINE,
	SCAN_UTF8,      /* soft: invalid UTF-8 */
	SCAN_CONTROL,   /* soft: a raw control character inside a string */
	SCAN_DUPLICATE, /* soft: one of the paths above occurs twice in its object */
	SCAN_SYNTAX,    /* hard: not JSON from here on; the rest of the frame is only skipped */
	SCAN_DEPTH,     /* hard: nested deeper than SCAN_DEPTH_MAX */
	SCAN_TRAILING,  /* hard: a complete value, then something that is not white space */
	SCAN_CUT,       /* the frame ended inside the value */
};

struct scan_value {
	enum value_type type;
	bool overflow;    /* longer than what is kept; text is empty then */
	bool empty;       /* an object or array without members; valid once end > 0 */
	uint64_t offset;  /* of its first byte, from the first byte fed since scan_start */
	uint64_t end;     /* behind its last byte, counted likewise; 0 until the value has ended */
	uint32_t at, len; /* where its bytes are kept; use scan_text */
};

enum scan_end {
	SCAN_END_NEWLINE,  /* '\n' ends the frame, wherever it stands (newline-delimited JSON) */
	SCAN_END_EXPLICIT, /* the caller knows the end and says so with scan_finish */
};

struct scan; /* opaque: its size is fixed and it keeps its memory between frames */

struct scan *scan_new(enum scan_end end);
void scan_free(struct scan *scan);

/* Forgets the last frame. With vectors false strings are skipped a byte at a time: tests compare the two. */
void scan_start(struct scan *scan);
void scan_use_vectors(struct scan *scan, bool vectors);

/*
 * Feeds the next len bytes of the frame. Returns how many were consumed: all of them, or, with
 * SCAN_END_NEWLINE, those up to and including the newline that ended the frame.
 */
size_t scan_feed(struct scan *scan, const char *bytes, size_t len);

/* The frame ends here without a newline (end of file, or the length of its header is reached). */
void scan_finish(struct scan *scan);

bool scan_ended(const struct scan *scan);           /* by newline or scan_finish */
enum value_type scan_type(const struct scan *scan); /* of the top-level value; VALUE_ABSENT: a blank line */
bool scan_complete(const struct scan *scan);        /* the top-level value has ended */
enum scan_fault scan_fault(const struct scan *scan);
uint64_t scan_fault_offset(const struct scan *scan);
uint64_t scan_value_start(const struct scan *scan); /* offset of the top-level value's first byte */
uint64_t scan_value_end(const struct scan *scan);   /* offset behind its last byte; if complete */
bool scan_bom(const struct scan *scan);             /* the frame starts with a UTF-8 byte order mark (skipped) */

/*
 * What was found of a field so far: VALUE_ABSENT until its value has been read to its end (for the fields
 * of "its type only": until its first byte was read). An object or array gives its type and no text.
 * Of duplicates the first is kept. SCAN_PARAMS_META is an object from its first complete member on, and has no end.
 */
const struct scan_value *scan_value(const struct scan *scan, enum scan_field field);

/* Its bytes as spelled on the wire (a string with its quotes); valid until the next scan_start. */
struct span scan_text(const struct scan *scan, enum scan_field field);

#endif
