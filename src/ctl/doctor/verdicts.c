#include <stdarg.h>
#include <string.h>

#include "ctl/doctor.h"
#include "shell/words.h"

enum { LEFT = 12 /* columns before the text */ };

#define RESPONSE "JSON-RPC 2.0: each request gets a response"

/* THE TABLE of the checks. */
static const struct row {
	const char *word;               /* in JSON */
	const char *title;              /* what the server does if the verdict is yes */
	const char *demands[DIALOGUES]; /* the sections of MCP, ACP and LSP; NULL: the check is not for it */
	const char *help;               /* what canceld does about it */
} rows[CHECKS] = {
	[CHECK_INITIALIZE] = { "initialize", "answers initialize",
	    { "MCP, Lifecycle: the server MUST respond to initialize", "ACP, Initialization: the agent MUST respond",
		"LSP, Initialize Request: the server responds with an InitializeResult" },

	    "canceld -t initialize=DURATION answers in its place with an error that quotes the server's last lines; a server of ACP "
	    "or LSP needs doctor --dialect" },
	[CHECK_DISCOVER] = { "discover", "answers or refuses server/discover",
	    { "MCP, Discovery: newer clients open with server/discover and take an error for an older server", NULL,
		NULL },
	    "canceld --legacy answers server/discover without the server" },
	[CHECK_TOOLS] = { "tools", "lists its tools",
	    { "MCP, Tools: a server that declares tools MUST answer tools/list", NULL, NULL },
	    "canceld -t tools/list=DURATION answers with an error in its place" },
	[CHECK_CALL] = { "call", "answers the call", { RESPONSE, RESPONSE, RESPONSE },
	    "canceld -t METHOD:NAME=DURATION gives the call a deadline" },
	[CHECK_PROGRESS] = { "progress", "reports progress",
	    { "MCP, Progress: a server MAY report progress", "ACP, Prompt Turn: the agent reports updates",
		"LSP, Work Done Progress: a server MAY report progress" },

	    "without progress canceld -t METHOD:NAME=DURATION is the longest time that the whole call may take: choose it well" },
	[CHECK_BUSY] = { "busy", "answers ping while it works",
	    { "MCP, Ping: the receiver MUST respond promptly", RESPONSE, RESPONSE },
	    "it cannot hear a cancel either while it works: canceld -t ends the wait, and -kDURATION, longer than any "
	    "call of it, replaces a server that hangs" },
	[CHECK_CANCEL] = { "cancel", "honours a cancel",
	    { "MCP, Cancellation: receivers SHOULD stop processing the cancelled request",
		"ACP, Cancellation: the agent SHOULD stop as soon as possible and MUST answer",
		"LSP, Cancellation Support: a cancelled request still needs to return" },
	    "canceld drops the late answer and keeps the session; -k replaces a server that no longer reacts" },
	[CHECK_ALIVE] = { "alive", "lives after a cancel",
	    { "MCP, Cancellation: a cancel MAY be ignored", "ACP, Cancellation: the session goes on",
		"LSP, Cancellation Support: $/ notifications can be ignored" },
	    "canceld --no-cancel writes no cancel to it; -r starts it again after a crash" },
	[CHECK_STDOUT] = { "stdout", "keeps stdout clean",
	    { "MCP, stdio: the server MUST NOT write anything to its stdout that is not a valid MCP message",
		"ACP, stdio: the agent MUST NOT write anything to its stdout that is not a valid ACP message",
		"LSP, Base Protocol: only messages with headers" },

	    "canceld moves such output to its log, and drops responses that match no request; no option is needed" },
	[CHECK_EXIT] = { "exit", "exits when its stdin ends",
	    { "MCP, Shutdown: the client closes the server's stdin and waits for its exit",
		"ACP, stdio: the client closes stdin to end the agent",
		"LSP, Exit Notification; stdin's end means the same" },
	    "canceld sends SIGTERM, then SIGKILL; --term-after and --kill-after say when" },
	[CHECK_ORPHANS] = { "orphans", "leaves no process behind",
	    { "MCP, Shutdown: the process is over", "ACP, stdio: the process is over",
		"LSP, Exit Notification: the process ends" },
	    "canceld ends every process that the server started, unless --sweep group is given" },
};

static const char *const words[VERDICTS] = { "not tested", "yes", "not offered", "no" };

void
verdicts_init(struct verdicts *report, const char *command, enum dialogue_kind kind)
{
	*report = (struct verdicts){ .command = command, .kind = kind };
	for (int i = 0; i < CHECKS; i++) {
		report->findings[i].time = MSEC_NEVER;
		strcpy(report->findings[i].evidence, "the session was over before");
	}
}

void
verdicts_tell(struct verdicts *report, enum check check, enum verdict verdict, msec_t time, const char *format, ...)
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
		found += rows[i].demands[report->kind] != NULL && report->findings[i].verdict == verdict;
	return found;
}

/* Printable; xml: and escaped for XML, which has no place for U+FFFE and U+FFFF either. */
static void
put(FILE *to, const char *text, bool xml)
{
	struct span left;
	struct buf safe;

	buf_init(&safe);
	printable_append(&safe, span_of(text), "");
	for (left = buf_span(&safe); left.len > 0; left = span_part(left, 1, left.len - 1)) {
		if (xml && strchr("&<>\"'", left.ptr[0]) != NULL) {
			fprintf(to, "&#%d;", left.ptr[0]);
		} else if (xml && left.len > 2 && memcmp(left.ptr, "\xef\xbf", 2) == 0 && (left.ptr[2] & 0x3f) > 0x3d) {
			fputc('?', to);
			left = span_part(left, 2, left.len - 2);
		} else {
			fputc(left.ptr[0], to);
		}
	}
	buf_free(&safe);
}

static void
print_finding(const struct verdicts *report, int check, FILE *to, bool colour)
{
	static const char *const colours[VERDICTS] = { "\033[33m", "\033[32m", "\033[33m", "\033[31m" };
	const struct finding *finding = &report->findings[check];

	fprintf(to, "%s%-*s%s", colour ? colours[finding->verdict] : "", LEFT, words[finding->verdict],
	    colour ? "\033[0m" : "");
	if (!report->ended)
		fprintf(to, "%s\n%*s", rows[check].title, LEFT, "");
	put(to, finding->evidence, false);
	fputc('\n', to);
	if (finding->verdict >= VERDICT_NOT_OFFERED && !report->ended)
		fprintf(to, "%*s%s\n%*s%s\n", LEFT, "", rows[check].demands[report->kind], LEFT, "", rows[check].help);
}

void
verdicts_print(const struct verdicts *report, FILE *to, bool colour)
{
	bool opened = report->findings[CHECK_INITIALIZE].verdict != VERDICT_NO;
	int missing = verdicts_count(report, VERDICT_NOT_OFFERED);

	put(to, report->command, false);
	fprintf(to, " (%s%s", dialogues[report->kind].name, report->server[0] != '\0' ? ", " : "");
	put(to, report->server, false);
	fputs(")\n\n", to);
	for (int i = 0; i < CHECKS; i++)
		if (rows[i].demands[report->kind] != NULL &&
		    (opened || report->findings[i].verdict != VERDICT_NOT_TESTED))
			print_finding(report, i, to, colour);
	fprintf(to, "\n%d kept, %d broken, ", verdicts_count(report, VERDICT_YES), verdicts_count(report, VERDICT_NO));
	if (missing > 0)
		fprintf(to, "%d not offered, ", missing);
	fprintf(to, "%d not tested\n", verdicts_count(report, VERDICT_NOT_TESTED));
}

static json_t *
finding_json(const struct verdicts *report, int check)
{
	const struct finding *finding = &report->findings[check];

	return json_pack("{s:s, s:s, s:s, s:b, s:o, s:o*, s:s, s:s*}", "check", rows[check].word, "title",
	    rows[check].title, "verdict", words[finding->verdict], "required", check != CHECK_PROGRESS, "evidence",
	    printable_json(span_of(finding->evidence), false), "ms",
	    finding->time == MSEC_NEVER ? NULL : json_integer(finding->time), "demand",
	    rows[check].demands[report->kind], "help",
	    finding->verdict >= VERDICT_NOT_OFFERED ? rows[check].help : NULL);
}

void
verdicts_print_json(const struct verdicts *report, FILE *to)
{
	json_t *checks = json_array();
	json_t *whole = json_pack("{s:o, s:s, s:o, s:b, s:i, s:i, s:i, s:i, s:o}", "command",
	    printable_json(span_of(report->command), false), "dialect", dialogues[report->kind].name, "server",
	    printable_json(span_of(report->server), false), "broken", verdicts_count(report, VERDICT_NO) > 0, "yes",
	    verdicts_count(report, VERDICT_YES), "no", verdicts_count(report, VERDICT_NO), "not_offered",
	    verdicts_count(report, VERDICT_NOT_OFFERED), "not_tested", verdicts_count(report, VERDICT_NOT_TESTED),
	    "checks", checks);

	for (int i = 0; i < CHECKS; i++)
		if (rows[i].demands[report->kind] != NULL)
			json_array_append_new(checks, finding_json(report, i));
	/* ASCII: safe on any terminal. */
	json_dumpf(whole, to, JSON_COMPACT | JSON_ENSURE_ASCII);
	fputc('\n', to);
	json_decref(whole);
}

static void
put_case(const struct verdicts *report, int check, FILE *to)
{
	static const char *const elements[VERDICTS] = { "skipped", "system-out", "skipped", "failure" };
	const struct finding *finding = &report->findings[check];
	const char *element = elements[finding->verdict];
	long long time = finding->time == MSEC_NEVER ? 0 : (long long)finding->time;

	fprintf(to, "    <testcase classname=\"canceld.doctor\" name=\"%s\" time=\"%lld.%03lld\"><%s",
	    rows[check].title, time / 1000, time % 1000, element);
	fputs(finding->verdict == VERDICT_YES ? ">" : " message=\"", to);
	put(to, finding->evidence, true);
	fputs(finding->verdict == VERDICT_YES ? "" : "\">", to);
	if (finding->verdict == VERDICT_NO) {
		put(to, rows[check].demands[report->kind], true);
		fputs(". ", to);
		put(to, rows[check].help, true);
	}
	fprintf(to, "</%s></testcase>\n", element);
}

void
verdicts_print_junit(const struct verdicts *report, FILE *to)
{
	int failures = verdicts_count(report, VERDICT_NO);
	int skipped = verdicts_count(report, VERDICT_NOT_TESTED) + verdicts_count(report, VERDICT_NOT_OFFERED);

	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"", to);
	put(to, report->command, true);
	fprintf(to, "\" tests=\"%d\" failures=\"%d\" errors=\"0\" skipped=\"%d\">\n",
	    verdicts_count(report, VERDICT_YES) + failures + skipped, failures, skipped);
	for (int i = 0; i < CHECKS; i++)
		if (rows[i].demands[report->kind] != NULL)
			put_case(report, i, to);
	fputs("  </testsuite>\n</testsuites>\n", to);
}
