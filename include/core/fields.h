#ifndef CORE_FIELDS_H
#define CORE_FIELDS_H

/* The members of a message that the scanner reads, the values that it keeps, and the faults that it finds. */

#include <stdbool.h>
#include <stdint.h>

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

/* The complete list of paths that are read. Keys are compared after unescaping. */
enum scan_field {
	SCAN_JSONRPC,             /* jsonrpc */
	SCAN_ID,                  /* id */
	SCAN_METHOD,              /* method */
	SCAN_PARAMS,              /* params: its type only */
	SCAN_RESULT,              /* result: its type only */
	SCAN_ERROR,               /* error: its type only */
	SCAN_ERROR_CODE,          /* error.code */
	SCAN_ERROR_MESSAGE,       /* error.message */
	SCAN_ERROR_REQUEST_ID,    /* error.data.requestId */
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
	SCAN_UPDATE_STATE,        /* params.update.state */
	SCAN_CLIENT_CANCELS,      /* params.clientCapabilities.cancellation.request */
	SCAN_META_TOKEN,          /* params._meta.progressToken: a request that wants progress */
	SCAN_META_SUBSCRIPTION,   /* params._meta["io.modelcontextprotocol/subscriptionId"] */
	SCAN_META_VERSION,        /* params._meta["io.modelcontextprotocol/protocolVersion"] */
	SCAN_REQUEST_META,        /* params._meta: its type only */
	SCAN_PARAMS_META,         /* the members of params._meta with a key "io.modelcontextprotocol/...", as
	                             spelled, joined by commas, each carriage return a space */
	SCAN_RESULT_VERSION,      /* result.protocolVersion */
	SCAN_AGENT_CANCELS,       /* result.agentCapabilities.cancellation.request */
	SCAN_STOP_REASON,         /* result.stopReason */
	SCAN_IS_ERROR,            /* result.isError */
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

struct scan_value {
	enum value_type type;
	bool unkept;     /* longer than the limit, or no sound JSON: a soft fault stands in it; text is empty then */
	bool empty;      /* an object or array without members; valid once end > 0 */
	uint64_t offset; /* of the first byte, counted from the first byte fed since scan_start */
	uint64_t end;    /* of the byte behind the last one, counted likewise; 0 until the value has ended */
	uint32_t len;    /* of the bytes that are kept; use scan_text */
};

/*
 * The first fault that was found. After a soft fault the scan goes on and may still find the id; a text that is kept is
 * valid JSON all the same.
 */
enum scan_fault {
	SCAN_FINE,
	SCAN_UTF8,            /* soft: invalid UTF-8 */
	SCAN_CONTROL,         /* soft: a raw control character inside a string */
	SCAN_DEPTH,           /* soft: nested deeper than SCAN_DEPTH_MAX, where only brackets and strings are checked */
	SCAN_REPEATED_ID,     /* soft: the top-level id occurs twice; told even after another soft fault */
	SCAN_REPEATED_METHOD, /* soft: the top-level method occurs twice */
	SCAN_SYNTAX,          /* hard: not JSON from here on; the rest of the frame is only skipped */
	SCAN_TRAILING,        /* hard: after the complete value comes a byte that is not white space */
	SCAN_CUT,             /* the frame ended inside the value */
};

#endif
