/*
 * THE WORLDS. Each is small, so that all of its states can be visited; several with few events are
 * better than one.
 */
#include "explore.h"

#define V "\"jsonrpc\":\"2.0\""
#define META "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}"

static const char *const mcp[] = {
	"c{" V
	",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":"
	"{\"elicitation\":{}}}}",
	"s{" V
	",\"id\":0,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}}}}",
	"c{" V ",\"method\":\"notifications/initialized\"}", NULL
};
static const char *const acp[] = {
	"c{" V
	",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1,\"clientCapabilities\":{}}}",
	"s{" V ",\"id\":0,\"result\":{\"protocolVersion\":1,\"agentCapabilities\":{}}}", NULL
};
static const char *const acp2[] = {
	"c{" V
	",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":2,\"clientCapabilities\":{}}}",
	"s{" V ",\"id\":0,\"result\":{\"protocolVersion\":2,\"agentCapabilities\":{}}}", NULL
};
static const char *const acp_loads[] = {
	"c{" V
	",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1,\"clientCapabilities\":{}}}",
	"s{" V
	",\"id\":0,\"result\":{\"protocolVersion\":1,\"agentCapabilities\":{\"loadSession\":true}}}",
	"c{" V
	",\"id\":\"n\",\"method\":\"session/new\",\"params\":{\"cwd\":\"/\",\"mcpServers\":[]}}",
	"s{" V ",\"id\":\"n\",\"result\":{\"sessionId\":\"s\"}}", NULL
};
static const char *const lsp[] = {
	"c{" V ",\"id\":0,\"method\":\"initialize\",\"params\":{\"capabilities\":{}}}",
	"s{" V ",\"id\":0,\"result\":{\"capabilities\":{}}}",
	"c{" V ",\"method\":\"initialized\",\"params\":{}}", NULL
};
static const char *const bsp[] = { "c{" V
				   ",\"id\":0,\"method\":\"build/initialize\",\"params\":{}}",
	"s{" V ",\"id\":0,\"result\":{\"displayName\":\"s\"}}",
	"c{" V ",\"method\":\"build/initialized\",\"params\":{}}", NULL };
static const char *const none[] = { NULL };

#define MCP_SERVED "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}}}"

/* clang-format off */
/* Events that several worlds have. */
#define TIME { .act = ACT_TICK }, { .act = ACT_EXPIRE }
#define SAYS(what, side, request, says) \
	{ .act = what, .by = SIDE_##side, .of = request, .text = says }
#define CALL(of) SAYS(ACT_ASK, CLIENT, of, "{" V ",\"id\":$1,\"method\":\"tools/call\",\"params\":{\"name\":\"n\",$q}}")
#define CALL_TOLD(of) \
	SAYS(ACT_ASK, CLIENT, of, \
	    "{" V \
	    ",\"id\":$1,\"method\":\"tools/call\",\"params\":{\"name\":\"n\",\"_meta\":{\"progressToken\":$2},$q}}")
#define MODERN(of) \
	SAYS(ACT_ASK, CLIENT, of, "{" V ",\"id\":$1,\"method\":\"tools/call\",\"params\":{\"name\":\"n\"," META ",$q}}")
#define ASKS(side, of, method) SAYS(ACT_ASK, side, of, "{" V ",\"id\":$1,\"method\":\"" method "\",\"params\":{$q}}")
#define ANSWERS(side, of) SAYS(ACT_ANSWER, side, of, "{" V ",\"id\":$1,\"result\":{$q}}")
#define FAILS(side, of) \
	SAYS(ACT_ANSWER, side, of, "{" V ",\"id\":$1,\"error\":{\"code\":-32800,\"message\":\"no\",\"data\":{$q}}}")
#define CANCELS(side, of, method, key) \
	SAYS(ACT_CANCEL, side, of, "{" V ",\"method\":\"" method "\",\"params\":{\"" key "\":$1,$q}}")
#define MCP_CANCELS(side, of) CANCELS(side, of, "notifications/cancelled", "requestId")
#define ACP_CANCELS(side, of) CANCELS(side, of, "$/cancel_request", "requestId")
#define LSP_CANCELS(side, of) CANCELS(side, of, "$/cancelRequest", "id")
#define PROGRESS(of, value) \
	SAYS(ACT_PROGRESS, SERVER, of, \
	    "{" V ",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":$2,\"progress\":" value \
	    ",$q}}")
#define CANCELD(of, target) \
	SAYS(ACT_ASK, CLIENT, of, "{" V ",\"id\":$1,\"method\":\"$/canceld/cancel\",\"params\":{\"id\":" target ",$q}}")
#define PROMPT(of) \
	SAYS(ACT_ASK, CLIENT, of, "{" V ",\"id\":$1,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"s\",$q}}")
#define STOPS(of, how) SAYS(ACT_ANSWER, SERVER, of, "{" V ",\"id\":$1,\"result\":{" how "$q}}")
#define PERMISSION(of) \
	SAYS(ACT_ASK, SERVER, of, \
	    "{" V ",\"id\":$1,\"method\":\"session/request_permission\",\"params\":{\"sessionId\":\"s\",$q}}")
#define STOP_TURN(of) \
	SAYS(ACT_TURN, CLIENT, of, "{" V ",\"method\":\"session/cancel\",\"params\":{\"sessionId\":\"s\",$q}}")
#define IDLE \
	SAYS(ACT_NOTICE, SERVER, 0, \
	    "{" V ",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":" \
	    "\"state_update\",\"state\":\"idle\"},$q}}")
#define LEAVES(how) { .act = ACT_LEAVES, .leaving = LEAVE_##how }
#define STALLS(side) \
	{ .act = ACT_STALLS, .by = SIDE_##side }, { .act = ACT_RESUMES, .by = SIDE_##side }
#define TAKES(side) { .act = ACT_TAKES, .by = SIDE_##side }
#define GOES { .act = ACT_GONE }
#define RESTARTS { .act = ACT_LOST }, { .act = ACT_BACK }, { .act = ACT_OWN }

const struct world worlds[] = {
	{ .name = "mcp",
	    .dialect = "mcp",
	    .options = "timeout=2s max-time=3s grace=1s",
	    .protocol = MCP,
	    .opening = mcp,
	    .asks = { { SIDE_CLIENT, "1", "\"t\"", 0, 0 }, { SIDE_CLIENT, "2", NULL, 0, 0 },
		{ SIDE_SERVER, "1", NULL, ASK_EXEMPT, 0 } },
	    .events = { CALL_TOLD(0), CALL(1), ANSWERS(SERVER, 0), FAILS(SERVER, 0),
		ANSWERS(SERVER, 1), PROGRESS(0, "1"), MCP_CANCELS(CLIENT, 0),
		ASKS(SERVER, 2, "roots/list"), ANSWERS(CLIENT, 2), MCP_CANCELS(SERVER, 2),
		TIME, LEAVES(CANCEL), GOES } },
	{ .name = "mcp-same-id",
	    .dialect = "mcp",
	    .options = "timeout=2s",
	    .protocol = MCP,
	    .opening = mcp,
	    .asks = { { SIDE_CLIENT, "1", "\"t\"", 0, 0 },
		{ SIDE_CLIENT, "1", "\"t\"", 0, 1 } },
	    .events = { CALL_TOLD(0), CALL_TOLD(1), ANSWERS(SERVER, 0), FAILS(SERVER, 0),
		ANSWERS(SERVER, 1), PROGRESS(0, "1"), PROGRESS(1, "2"),
		MCP_CANCELS(CLIENT, 0), TIME, LEAVES(TERMINATED), GOES } },
	{ .name = "mcp-canceld",
	    .dialect = "mcp",
	    .options = "timeout=2s max-time=3s",
	    .protocol = MCP,
	    .opening = mcp,
	    .asks = { { SIDE_CLIENT, "1", NULL, 0, 0 },
		{ SIDE_CLIENT, "\"c\"", NULL, ASK_CANCELD, 1 },
		{ SIDE_CLIENT, "\"d\"", NULL, ASK_CANCELD, 1 } },
	    .events = { CALL(0), CANCELD(1, "1"), CANCELD(2, "1"), ANSWERS(SERVER, 0),
		FAILS(SERVER, 0), MCP_CANCELS(CLIENT, 0), TIME, LEAVES(DRAIN), GOES,
		STALLS(CLIENT), STALLS(SERVER), TAKES(SERVER) } },
	{ .name = "mcp-queue",
	    .dialect = "mcp",
	    .options = "timeout=2s restarts",
	    .protocol = MCP,
	    .opening = mcp,
	    .handshake = MCP_SERVED,
	    .asks = { { SIDE_CLIENT, "1", NULL, 0, 0 }, { SIDE_CLIENT, "2", NULL, 0, 0 } },
	    .events = { CALL(0), CALL(1), ANSWERS(SERVER, 0), ANSWERS(SERVER, 1),
		MCP_CANCELS(CLIENT, 0), MCP_CANCELS(CLIENT, 1), TIME, STALLS(SERVER),
		TAKES(SERVER), RESTARTS, GOES } },
	{ .name = "mcp-person",
	    .dialect = "mcp",
	    .options = "timeout=2s max-time=9s restarts",
	    .protocol = MCP,
	    .opening = mcp,
	    .handshake = MCP_SERVED,
	    .asks = { { SIDE_CLIENT, "1", NULL, ASK_CAPPED, 0 },
		{ SIDE_SERVER, "1", NULL, ASK_EXEMPT | ASK_PERSON, 0 } },
	    .events = { CALL(0), ANSWERS(SERVER, 0), MCP_CANCELS(CLIENT, 0),
		ASKS(SERVER, 1, "elicitation/create"), ANSWERS(CLIENT, 1),
		MCP_CANCELS(SERVER, 1), TIME, STALLS(CLIENT), TAKES(CLIENT), RESTARTS,
		LEAVES(CANCEL) } },
	{ .name = "mcp-probe",
	    .dialect = "mcp",
	    .options = "timeout=2s max-time=3s restarts kill-stuck=1s",
	    .protocol = MCP,
	    .opening = mcp,
	    .handshake = MCP_SERVED,
	    .asks = { { SIDE_CLIENT, "1", NULL, 0, 0 } },
	    .events = { CALL(0), ANSWERS(SERVER, 0), MCP_CANCELS(CLIENT, 0), TIME,
		RESTARTS },
	    .ticks = 5 },
	{ .name = "mcp-stuck",
	    .dialect = "mcp",
	    .options = "timeout=2s max-time=3s restarts kill-stuck=1s",
	    .protocol = MCP,
	    .opening = mcp,
	    .handshake = MCP_SERVED,
	    .asks = { { SIDE_CLIENT, "1", NULL, 0, 0 }, { SIDE_CLIENT, "2", NULL, 0, 0 },
		{ SIDE_SERVER, "1", NULL, ASK_EXEMPT, 0 } },
	    .events = { CALL(0), CALL(1), ANSWERS(SERVER, 0), MCP_CANCELS(CLIENT, 0),
		ASKS(SERVER, 2, "roots/list"), ANSWERS(CLIENT, 2), TIME, RESTARTS },
	    .ticks = 6,
	    .large = true },
	{ .name = "mcp-heartbeat",
	    .dialect = "mcp",
	    .options = "timeout=3s max-time=4s heartbeat=1s",
	    .protocol = MCP,
	    .opening = mcp,
	    .asks = { { SIDE_CLIENT, "1", "\"t\"", 0, 0 },
		{ SIDE_CLIENT, "2", "7", 0, 0 } },
	    .events = { CALL_TOLD(0), ANSWERS(SERVER, 0), PROGRESS(0, "1"),
		PROGRESS(0, "-3"), MCP_CANCELS(CLIENT, 0), TIME, STALLS(CLIENT),
		LEAVES(DRAIN) } },
	{ .name = "mcp-parallel",
	    .dialect = "mcp",
	    .options = "timeout=2s parallel=1 restarts",
	    .protocol = MCP,
	    .opening = mcp,
	    .handshake = MCP_SERVED,
	    .asks = { { SIDE_CLIENT, "1", NULL, 0, 0 }, { SIDE_CLIENT, "2", NULL, 0, 0 } },
	    .events = { CALL(0), CALL(1), ANSWERS(SERVER, 0), ANSWERS(SERVER, 1),
		MCP_CANCELS(CLIENT, 0), MCP_CANCELS(CLIENT, 1), TIME, STALLS(SERVER),
		TAKES(SERVER), RESTARTS },
	    .ticks = 5 },
	{ .name = "mcp-modern",
	    .dialect = "mcp",
	    .options = "timeout=2s",
	    .protocol = MCP,
	    .opening = none,
	    .asks = { { SIDE_CLIENT, "1", NULL, 0, 0 }, { SIDE_CLIENT, "2", NULL, 0, 0 } },
	    .events = { MODERN(0), MODERN(1), ANSWERS(SERVER, 0), ANSWERS(SERVER, 1),
		MCP_CANCELS(CLIENT, 0), MCP_CANCELS(CLIENT, 1), TIME, STALLS(SERVER),
		TAKES(SERVER), LEAVES(CANCEL), GOES } },
	{ .name = "mcp-opening",
	    .dialect = "mcp",
	    .options = "timeout=2s max-time=3s",
	    .protocol = MCP,
	    .opening = none,
	    .asks = { { SIDE_CLIENT, "0", NULL, ASK_FINAL, 0 },
		{ SIDE_CLIENT, "1", NULL, 0, 0 } },
	    .events = { ASKS(CLIENT, 0, "initialize"), CALL(1), ANSWERS(SERVER, 0),
		ANSWERS(SERVER, 1), MCP_CANCELS(CLIENT, 0), MCP_CANCELS(CLIENT, 1), TIME,
		STALLS(SERVER), TAKES(SERVER), LEAVES(CANCEL), GOES } },
	{ .name = "mcp-deaf",
	    .dialect = "mcp",
	    .options = "timeout=2s max-time=3s grace=1s",
	    .protocol = MCP,
	    .opening = mcp,
	    .asks = { { SIDE_CLIENT, "1", NULL, 0, 0 }, { SIDE_CLIENT, "2", NULL, 0, 0 },
		{ SIDE_SERVER, "1", NULL, ASK_EXEMPT, 0 } },
	    .events = { CALL(0), CALL(1), ANSWERS(SERVER, 0), ANSWERS(SERVER, 1),
		MCP_CANCELS(CLIENT, 0), ASKS(SERVER, 2, "roots/list"), ANSWERS(CLIENT, 2),
		TIME, { .act = ACT_DEAF }, { .act = ACT_SHUT }, LEAVES(CANCEL), GOES } },
	{ .name = "acp",
	    .dialect = "acp",
	    .options = "timeout=session/prompt=2s grace=1s",
	    .protocol = ACP,
	    .opening = acp,
	    .asks = { { SIDE_CLIENT, "1", NULL, ASK_TURN, 0 },
		{ SIDE_CLIENT, "2", NULL, ASK_TURN, 0 },
		{ SIDE_SERVER, "1", NULL, ASK_EXEMPT | ASK_PERSON, 0 } },
	    .events = { PROMPT(0), PROMPT(1), STOPS(0, "\"stopReason\":\"end_turn\","),
		STOPS(1, "\"stopReason\":\"cancelled\","), PERMISSION(2),
		ANSWERS(CLIENT, 2), ACP_CANCELS(CLIENT, 0), STOP_TURN(0), TIME } },
	{ .name = "acp2",
	    .dialect = "acp",
	    .options = "timeout=session/prompt=2s grace=1s",
	    .protocol = ACP,
	    .opening = acp2,
	    .asks = { { SIDE_CLIENT, "1", NULL, ASK_TURN, 0 },
		{ SIDE_CLIENT, "2", NULL, ASK_TURN, 0 },
		{ SIDE_SERVER, "1", NULL, ASK_EXEMPT | ASK_PERSON, 0 } },
	    .events = { PROMPT(0), PROMPT(1), STOPS(0, ""), STOPS(1, ""), IDLE,
		PERMISSION(2), ANSWERS(CLIENT, 2), STOP_TURN(0), TIME } },
	{ .name = "acp-queue",
	    .dialect = "acp",
	    .options = "timeout=session/prompt=2s grace=1s stateless",
	    .protocol = ACP,
	    .opening = acp,
	    .handshake = "{\"protocolVersion\":1,\"agentCapabilities\":{}}",
	    .asks = { { SIDE_CLIENT, "1", NULL, ASK_TURN, 0 },
		{ SIDE_SERVER, "1", NULL, ASK_EXEMPT | ASK_PERSON, 0 } },
	    .events = { PROMPT(0), STOPS(0, "\"stopReason\":\"cancelled\","), PERMISSION(1),
		ANSWERS(CLIENT, 1), ACP_CANCELS(CLIENT, 0), STOP_TURN(0), TIME,
		STALLS(SERVER), TAKES(SERVER), RESTARTS } },
	{ .name = "acp-loads",
	    .dialect = "acp",
	    .options = "timeout=session/prompt=2s grace=1s restarts",
	    .protocol = ACP,
	    .opening = acp_loads,
	    .handshake =
		"{\"protocolVersion\":1,\"agentCapabilities\":{\"loadSession\":true}}",
	    .asks = { { SIDE_CLIENT, "1", NULL, ASK_TURN, 0 },
		{ SIDE_SERVER, "1", NULL, ASK_EXEMPT | ASK_PERSON, 0 } },
	    .events = { PROMPT(0), STOPS(0, "\"stopReason\":\"end_turn\","), PERMISSION(1),
		ANSWERS(CLIENT, 1), STOP_TURN(0), TIME, RESTARTS },
	    .ticks = 6 },
	{ .name = "lsp",
	    .dialect = "lsp",
	    .options = "timeout=2s max-time=3s grace=1s",
	    .protocol = LSP,
	    .opening = lsp,
	    .asks = { { SIDE_CLIENT, "1", "\"t\"", 0, 0 }, { SIDE_CLIENT, "2", NULL, 0, 0 },
		{ SIDE_SERVER, "1", NULL, ASK_EXEMPT, 0 } },
	    .events = { SAYS(ACT_ASK, CLIENT, 0,
			    "{" V
			    ",\"id\":$1,\"method\":\"textDocument/hover\",\"params\":{\"workDoneToken\":$2,$q}}"),
		ASKS(CLIENT, 1, "textDocument/hover"), ANSWERS(SERVER, 0), FAILS(SERVER, 0),
		FAILS(SERVER, 1),
		SAYS(ACT_PROGRESS, SERVER, 0,
		    "{" V
		    ",\"method\":\"$/progress\",\"params\":{\"token\":$2,\"value\":{\"kind\":\"begin\"},$q}}"),
		LSP_CANCELS(CLIENT, 0), ASKS(SERVER, 2, "workspace/configuration"),
		ANSWERS(CLIENT, 2), LSP_CANCELS(SERVER, 2), TIME, LEAVES(CANCEL), GOES } },
	{ .name = "lsp-queue",
	    .dialect = "lsp",
	    .options = "timeout=2s grace=1s",
	    .protocol = LSP,
	    .opening = lsp,
	    .asks = { { SIDE_CLIENT, "1", NULL, 0, 0 },
		{ SIDE_CLIENT, "\"c\"", NULL, ASK_CANCELD, 1 },
		{ SIDE_SERVER, "1", NULL, ASK_EXEMPT, 0 } },
	    .events = { ASKS(CLIENT, 0, "textDocument/hover"), CANCELD(1, "1"),
		ANSWERS(SERVER, 0), FAILS(SERVER, 0), LSP_CANCELS(CLIENT, 0), TIME,
		STALLS(SERVER), TAKES(SERVER), STALLS(CLIENT), GOES } },
	{ .name = "bsp",
	    .dialect = "bsp",
	    .options = "timeout=2s max-time=3s grace=1s kill-ignoring=2s stateless",
	    .protocol = BSP,
	    .opening = bsp,
	    .handshake = "{\"displayName\":\"s\"}",
	    .asks = { { SIDE_CLIENT, "1", NULL, 0, 0 }, { SIDE_CLIENT, "2", NULL, 0, 0 },
		{ SIDE_SERVER, "1", NULL, ASK_EXEMPT, 0 } },
	    .events = { ASKS(CLIENT, 0, "buildTarget/compile"),
		ASKS(CLIENT, 1, "buildTarget/sources"), FAILS(SERVER, 0),
		ANSWERS(SERVER, 1), LSP_CANCELS(CLIENT, 0), TIME, RESTARTS },
	    .ticks = 6 },
};
/* clang-format on */

const size_t world_count = sizeof(worlds) / sizeof(worlds[0]);
