#include <stdarg.h>

#include "core/compose.h"
#include "doctor.h"
#include "ctl/show.h"
#include "shell/words.h"

static const char left[] = "            "; /* before the text, as wide as a verdict */

#define ENDS "ends the session, which no other server can continue"
#define RESPONSE "JSON-RPC 2.0: each request gets a response"

/* THE TABLE of the checks. */
static const struct row {
	const char *word;  /* in JSON */
	const char *title; /* what the server does if the verdict is yes */
	/* the sections of MCP, ACP and LSP; NULL: the check is not for it */
	const char *demands[DIALOGUES];
	const char *help; /* what canceld does about it */
	const char *last; /* ... if no other server can continue the session; NULL: the same */
} rows[CHECKS] = {
	[CHECK_INITIALIZE] = { "initialize", "answers initialize",
	    { "MCP, Lifecycle: the server MUST respond with its own capabilities and information",
		"ACP, Initialization: the agent MUST respond with the chosen version and its capabilities",
		"LSP, Initialize Request: the server responds with an InitializeResult" },

	    "canceld -t initialize=DURATION answers in its place with an error that quotes the server's last lines; a server of ACP "
	    "or LSP needs doctor --dialect",
	    NULL },
	[CHECK_DISCOVER] = { "discover", "answers or refuses server/discover",
	    { "MCP, Discovery: newer clients open with server/discover and take an error for an older server",
		NULL, NULL },
	    "canceld --legacy answers server/discover without the server", NULL },
	[CHECK_TOOLS] = { "tools", "lists its tools",
	    { "MCP, Tools: clients send tools/list to a server that declares tools", NULL, NULL },
	    "canceld passes what the server says; where it says nothing, -t tools/list=DURATION answers with an error in its place",
	    NULL },
	[CHECK_CALL] = { "call", "answers the call", { RESPONSE, RESPONSE, RESPONSE },
	    "canceld -t METHOD:NAME=DURATION gives the call a deadline; -r starts a server again that has died, and "
	    "-r1000/1m one that exits by itself or after each answer",
	    "canceld -t METHOD:NAME=DURATION gives the call a deadline" },
	[CHECK_SUCCESS] = { "success", "succeeds in the call",
	    { "MCP, Tools: a result with isError, or an error, tells that the call failed",
		"JSON-RPC 2.0: an error tells that the call failed",
		"JSON-RPC 2.0: an error tells that the call failed" },
	    "canceld passes what the server says: choose --arguments with which the call succeeds; --parallel 1 spares a "
	    "server two calls at once",
	    NULL },
	[CHECK_BUSY] = { "busy", "answers ping while it works",
	    { "MCP, Ping: the receiver MUST respond promptly",
		"ACP, Cancellation: an agent that does not read hears no cancel",
		"LSP, Cancellation Support: a server that does not read hears no cancel" },
	    "it cannot hear a cancel either while it works: canceld -t ends the wait, and -kDURATION, longer than any "
	    "call of it, replaces a server that hangs",
	    "it cannot hear a cancel either while it works: canceld -t ends the wait; -k " ENDS },
	[CHECK_CANCEL] = { "cancel", "honours a cancel",
	    { "MCP, Cancellation: receivers SHOULD stop processing the cancelled request",
		"ACP, Cancellation: the agent SHOULD stop as soon as possible and MUST answer",
		"LSP, Cancellation Support: a cancelled request still needs to return" },
	    "canceld answers the client all the same, drops the late answer and keeps the session; -KDURATION ends a "
	    "server that goes on (MCP: that still reports progress), and a session that no other one can continue",
	    NULL },
	[CHECK_ALIVE] = { "alive", "lives after a cancel",
	    { "MCP, Ping: the receiver MUST respond promptly", RESPONSE, RESPONSE },
	    "canceld -r starts it again after a crash, -r1000/1m when it is asked something after it has exited by itself, "
	    "and -kDURATION after a hang; --no-cancel writes no cancel to one that only a cancel breaks",
	    "canceld -t ends the wait, and --no-cancel writes no cancel to one that only a cancel breaks; -k " ENDS },
	[CHECK_STDOUT] = { "stdout", "keeps stdout clean",
	    { "MCP, stdio: the server MUST NOT write anything to its stdout that is not a valid MCP message",
		"ACP, stdio: the agent MUST NOT write anything to its stdout that is not a valid ACP message",
		"LSP, Base Protocol: only messages with headers" },

	    "canceld moves such output to its log, and drops responses that match no request; no option is needed",
	    NULL },
	[CHECK_EXIT] = { "exit", "exits at the end of the session",
	    { "MCP, Shutdown: the client closes the server's stdin and waits for its exit",
		"ACP, stdio: the client closes stdin to end the agent",
		"LSP, Exit Notification: the server exits behind shutdown and exit" },
	    "canceld sends SIGTERM, then SIGKILL; --term-after and --kill-after say when", NULL },
	[CHECK_ORPHANS] = { "orphans", "leaves no process behind",
	    { "MCP, Shutdown: the process is over", "ACP, stdio: the process is over",
		"LSP, Exit Notification: the process ends" },
	    "canceld ends what it may of the processes that the server started, with --sweep tree, the default but on macOS",
	    NULL },
};

/*
 * Requests that stop a server if its client refuses or ignores them, each with the option whose
 * answer does no harm.
 */
#define HARMLESS(method, result, refused) \
	{ \
		method, "--answer '" method "=" result "'", refused \
	}
static const struct {
	const char *method, *option;
	bool refused; /* by the examination too */
} harmless[] = { HARMLESS("client/registerCapability", "null", false),
	HARMLESS("client/unregisterCapability", "null", true),
	HARMLESS("roots/list", "{\"roots\":[]}", true),
	HARMLESS("window/workDoneProgress/create", "null", false),
	HARMLESS("workspace/configuration", "[null]", true),
	HARMLESS("workspace/workspaceFolders", "null", true) };

static const char *const words[VERDICTS] = { "not tested", "yes", "no" };

void
verdicts_init(struct verdicts *report, struct span command, enum dialogue_kind kind)
{
	*report = (struct verdicts){ .command = command, .kind = kind, .asks = json_object() };
	for (int i = 0; i < CHECKS; i++) {
		report->findings[i].time = MSEC_NEVER;
		strcpy(report->findings[i].evidence, "the session was over before");
	}
}

void
verdicts_tell(struct verdicts *report, enum check check, enum verdict verdict, msec_t time,
    const char *format, ...)
{
	struct finding *finding = &report->findings[check];
	va_list values;

	if (verdict < finding->verdict)
		return;
	finding->verdict = verdict;
	finding->time = time;
	va_start(values, format);
	vsnprintf(finding->evidence, sizeof(finding->evidence), format, values);
	va_end(values);
}

int
verdicts_count(const struct verdicts *report, enum verdict verdict)
{
	int found = 0;

	for (int i = 0; i < CHECKS; i++)
		found +=
		    rows[i].demands[report->kind] != NULL && report->findings[i].verdict == verdict;
	return found;
}

static bool
is_shown(const struct verdicts *report, int check)
{
	return rows[check].demands[report->kind] != NULL &&
	    (report->findings[CHECK_INITIALIZE].verdict != VERDICT_NO ||
		report->findings[check].verdict != VERDICT_NOT_TESTED);
}

/* Whether the next check has the same finding, so that both are shown there. */
static bool
is_repeated(const struct verdicts *report, int check)
{
	const struct finding *finding = &report->findings[check], *next = finding + 1;

	return check + 1 < CHECKS && is_shown(report, check + 1) &&
	    finding->verdict == VERDICT_NOT_TESTED && next->verdict == finding->verdict &&
	    text_is(next->evidence, finding->evidence);
}

static const char *
help_for(const struct verdicts *report, int check)
{
	return report->continues || rows[check].last == NULL ? rows[check].help : rows[check].last;
}

static void
write_finding(const struct verdicts *report, int check, bool colour, struct buf *text)
{
	static const char *const colours[VERDICTS] = { COLOUR_YELLOW, COLOUR_GREEN, COLOUR_RED };
	const struct finding *finding = &report->findings[check];
	const char *word = words[finding->verdict];

	compose_text(text, "%s%s%s%s", colour ? colours[finding->verdict] : "", word,
	    left + strlen(word), colour ? COLOUR_NONE : "");
	if (!report->ended)
		compose_text(text, "%s\n", rows[check].title);
	if (is_repeated(report, check))
		return;
	compose_text(text, "%s", report->ended ? "" : left);
	show_lines(text, span_of(finding->evidence), left);
	compose_text(text, "\n");
	if (finding->verdict == VERDICT_NO && !report->ended)
		compose_text(text, "%s%s\n%s%s\n", left, rows[check].demands[report->kind], left,
		    help_for(report, check));
}

const char *
verdicts_answer(const char *method, bool refused)
{
	each_of (it, harmless)
		if (text_is(it->method, method) && (!refused || it->refused))
			return it->option;
	return "";
}

/*
 * Lists what the server asked its client for, each with the option that answers it, quoted for a
 * shell, if there is one that does no harm.
 */
static json_t *
asks_json(const struct verdicts *report)
{
	json_t *list = json_array(), *times;
	const char *method;

	json_object_foreach (report->asks, method, times)
		json_array_append_new(list,
		    json_pack("{s:o, s:O, s:s}", "method", printable_json(span_of(method)), "times",
			times, "option", verdicts_answer(method, false)));
	return list;
}

static void
write_asks(const struct verdicts *report, struct buf *text)
{
	json_auto_t *asks = asks_json(report);
	json_t *ask;

	show_each (ask, asks) {
		struct span option = show_string(ask, "option");

		compose_text(text, "asks        ");
		printable_append(text, show_string(ask, "method"), "");
		compose_text(text, ", times: %d\n", (int64_t)show_number(ask, "times"));
		if (option.len > 0)
			compose_text(text, "%sif its client does not answer: canceld %b\n", left,
			    option);
	}
}

void
verdicts_write(const struct verdicts *report, bool colour, struct buf *text)
{
	int64_t kept = verdicts_count(report, VERDICT_YES),
		broken = verdicts_count(report, VERDICT_NO);
	int64_t untested = verdicts_count(report, VERDICT_NOT_TESTED);

	printable_append(text, report->command, "");
	compose_text(text, " (%s%s", dialogues[report->kind].name,
	    report->server[0] != '\0' ? ", " : "");
	printable_append(text, span_of(report->server), "");
	compose_text(text, ")\n\n");
	for (int i = 0; i < CHECKS; i++)
		if (is_shown(report, i))
			write_finding(report, i, colour, text);
	write_asks(report, text);
	compose_text(text, "\n%d checks: %d kept, %d broken, %d not tested\n",
	    kept + broken + untested, kept, broken, untested);
}

static json_t *
finding_json(const struct verdicts *report, int check)
{
	const struct finding *finding = &report->findings[check];

	return json_pack("{s:s, s:s, s:s, s:o, s:o*, s:s, s:s*}", "check", rows[check].word,
	    "title", rows[check].title, "verdict", words[finding->verdict], "evidence",
	    printable_json(span_of(finding->evidence)), "ms",
	    finding->time == MSEC_NEVER ? NULL : json_integer(finding->time), "demand",
	    rows[check].demands[report->kind], "help",
	    finding->verdict == VERDICT_NO ? help_for(report, check) : NULL);
}

json_t *
verdicts_json(const struct verdicts *report)
{
	int broken = verdicts_count(report, VERDICT_NO);
	json_t *checks = json_array();

	for (int i = 0; i < CHECKS; i++)
		if (rows[i].demands[report->kind] != NULL)
			json_array_append_new(checks, finding_json(report, i));
	return json_pack("{s:o, s:s, s:o, s:b, s:i, s:i, s:i, s:o, s:o, s:o}", "command",
	    printable_json(report->command), "dialect", dialogues[report->kind].name, "server",
	    printable_json(span_of(report->server)), "broken", broken > 0, "yes",
	    verdicts_count(report, VERDICT_YES), "no", broken, "not_tested",
	    verdicts_count(report, VERDICT_NOT_TESTED), "checks", checks, "asks", asks_json(report),
	    "options", printable_json(buf_span(&report->options)));
}
