#include "ctl/verdict.h"

#include <jansson.h>
#include <stdarg.h>
#include <string.h>

#include "core/buf.h"
#include "shell/printable.h"

enum { LEFT = 12, WIDTH = 100 }; /* columns of the text: before the explanations, and in all */

/* THE TABLE of the checks. */
static const struct row {
	const char *word;                      /* in JSON and JUnit */
	const char *title;                     /* what the server does if the verdict is yes */
	const char *demands[VERDICT_DIALECTS]; /* the sections of MCP, ACP and LSP; NULL: the check is not for it */
	bool permitted;                        /* the protocol does not demand it: no breaks nothing */
	const char *help;                      /* what canceld does about it */
} rows[CHECKS] = {
	[CHECK_INITIALIZE] = { "initialize", "answers initialize",
	    { "MCP, Lifecycle: the server MUST respond to initialize", "ACP, Initialization: the agent MUST respond",
		"LSP, Initialize Request: the server responds with an InitializeResult" },
	    false,
	    "canceld -t initialize=DURATION answers in its place with an error that quotes the server's last lines" },
	[CHECK_DISCOVER] = { "discover", "answers or refuses server/discover",
	    { "MCP, Discovery: newer clients open with server/discover and take an error for an older server", NULL,
		NULL },
	    false, "canceld --legacy answers server/discover without the server" },
	[CHECK_TOOLS] = { "tools", "lists its tools",
	    { "MCP, Tools: a server that declares tools MUST answer tools/list", NULL, NULL }, false,
	    "canceld -t tools/list=DURATION answers with an error in its place" },
	[CHECK_CALL] = { "call", "answers the call",
	    { "JSON-RPC 2.0: each request gets a response", "JSON-RPC 2.0: each request gets a response",
		"JSON-RPC 2.0: each request gets a response" },
	    false, "canceld -t METHOD:NAME=DURATION gives the call a deadline" },
	[CHECK_PROGRESS] = { "progress", "reports progress",
	    { "MCP, Progress: a server MAY report progress", "ACP, Prompt Turn: the agent reports updates",
		"LSP, Work Done Progress: a server MAY report progress" },
	    true,
	    "without progress canceld -t METHOD:NAME=DURATION is the longest time that the whole call may take: choose it well" },
	[CHECK_BUSY] = { "busy", "answers ping while it works",
	    { "MCP, Ping: the receiver MUST respond promptly", "JSON-RPC 2.0: each request gets a response",
		"JSON-RPC 2.0: each request gets a response" },
	    false,
	    "it cannot hear a cancel either while it works: canceld -t ends the wait, and -kDURATION, longer than any "
	    "call of it, replaces a server that hangs" },
	[CHECK_CANCEL] = { "cancel", "honours a cancel",
	    { "MCP, Cancellation: receivers SHOULD stop processing the cancelled request",
		"ACP, Cancellation: the agent SHOULD stop as soon as possible and MUST answer",
		"LSP, Cancellation Support: a cancelled request still needs to return" },
	    false, "canceld drops the late answer and keeps the session; -k replaces a server that no longer reacts" },
	[CHECK_SILENCE] = { "silence", "is silent after the cancel",
	    { "MCP, Cancellation: receivers SHOULD NOT send a response for the cancelled request",
		"JSON-RPC 2.0: one response for each request", "JSON-RPC 2.0: one response for each request" },
	    false, "canceld drops late answers and late progress, which make some clients close the connection" },
	[CHECK_ALIVE] = { "alive", "lives after a cancel",
	    { "MCP, Cancellation: a cancel MAY be ignored", "ACP, Cancellation: the session goes on",
		"LSP, Cancellation Support: $/ notifications can be ignored" },
	    false, "canceld --no-cancel writes no cancel to it; -r starts it again after a crash" },
	[CHECK_TIMEOUT] = { "timeout", "goes on after a timeout",
	    { "MCP, Timeouts: the sender SHOULD issue a cancellation and stop waiting",
		"JSON-RPC 2.0: requests are independent", "JSON-RPC 2.0: requests are independent" },
	    false, "canceld -kDURATION replaces a server that no longer reacts" },
	[CHECK_STDOUT] = { "stdout", "keeps stdout clean",
	    { "MCP, stdio: the server MUST NOT write anything to its stdout that is not a valid MCP message",
		"ACP, stdio: the agent MUST NOT write anything to its stdout that is not a valid ACP message",
		"LSP, Base Protocol: only messages with headers" },
	    false, "canceld moves such output to its log; no option is needed" },
	[CHECK_ONCE] = { "once", "answers each request once",
	    { "JSON-RPC 2.0: one response for each request", "JSON-RPC 2.0: one response for each request",
		"JSON-RPC 2.0: one response for each request" },
	    false, "canceld drops responses that match no request" },
	[CHECK_EXIT] = { "exit", "exits when its stdin ends",
	    { "MCP, Shutdown: the client closes the server's stdin and waits for its exit",
		"ACP, stdio: the client closes stdin to end the agent",
		"LSP, Exit Notification; stdin's end means the same" },
	    false, "canceld sends SIGTERM, then SIGKILL; --term-after and --kill-after say when" },
	[CHECK_ORPHANS] = { "orphans", "leaves no process behind",
	    { "MCP, Shutdown: the process is over", "ACP, stdio: the process is over",
		"LSP, Exit Notification: the process ends" },
	    false, "canceld ends every process that the server started, unless --sweep group is given" },
	[CHECK_MEMORY] = { "memory", "stays below --max-memory",
	    { "your own limit", "your own limit", "your own limit" }, false,
	    "canceld does not limit a server's memory" },
};

static const char *const words[] = {
	[VERDICT_NOT_TESTED] = "not tested",
	[VERDICT_YES] = "yes",
	[VERDICT_NO] = "no",
};

void
verdict_init(struct verdicts *verdicts, const char *command, const char *dialect, int column)
{
	*verdicts = (struct verdicts){ .command = command, .dialect = dialect, .column = column };
	for (int i = 0; i < CHECKS; i++) {
		verdicts->findings[i].time = MSEC_NEVER;
		strcpy(verdicts->findings[i].evidence, "the session was over before");
	}
}

void
verdict_name_server(struct verdicts *verdicts, const char *name, const char *version)
{
	snprintf(verdicts->server, sizeof(verdicts->server), "%s%s%s", name, version == NULL ? "" : " ",
	    version == NULL ? "" : version);
}

void
verdict_end(struct verdicts *verdicts)
{
	verdicts->ended = true;
}

void
verdict_tell(struct verdicts *verdicts, enum check check, enum verdict verdict, msec_t time, const char *format, ...)
{
	struct finding *finding = &verdicts->findings[check];
	va_list values;

	if (verdict < finding->verdict)
		return;
	finding->verdict = verdict;
	finding->time = time;
	va_start(values, format);
	vsnprintf(finding->evidence, sizeof(finding->evidence), format, values);
	va_end(values);
}

static bool
is_for(const struct verdicts *verdicts, int check)
{
	return rows[check].demands[verdicts->column] != NULL;
}

static int
count(const struct verdicts *verdicts, enum verdict verdict)
{
	int found = 0;

	for (int i = 0; i < CHECKS; i++)
		found += is_for(verdicts, i) && verdicts->findings[i].verdict == verdict &&
		    !(verdict == VERDICT_NO && rows[i].permitted);
	return found;
}

bool
verdict_is_broken(const struct verdicts *verdicts)
{
	return count(verdicts, VERDICT_NO) > 0;
}

static const char *
word_of(const struct verdicts *verdicts, int check)
{
	return words[verdicts->findings[check].verdict];
}

static void
put_safe(FILE *to, const char *text)
{
	struct buf safe;

	buf_init(&safe);
	printable_append(&safe, span_of(text), "");
	fwrite(buf_span(&safe).ptr, 1, safe.len, to);
	buf_free(&safe);
}

/* Prints the words of a text, in lines that begin at LEFT. */
static void
put_wrapped(FILE *to, const char *text)
{
	int column = 0;

	while (*text != '\0') {
		int len = (int)strcspn(text, " ");

		if (column == 0 || column + 1 + len > WIDTH) {
			fprintf(to, "%s%*s", column == 0 ? "" : "\n", LEFT, "");
			column = LEFT;
		} else {
			fputc(' ', to);
			column++;
		}
		fwrite(text, 1, (size_t)len, to);
		column += len;
		text += len + (text[len] == ' ');
	}
	fputc('\n', to);
}

/* The verdict, in the colour that it means. */
static void
put_word(const struct verdicts *verdicts, int check, FILE *to, bool colour)
{
	static const char *const colours[] = { "\033[33m", "\033[32m", "\033[31m" };
	const struct finding *finding = &verdicts->findings[check];
	bool broken = finding->verdict == VERDICT_NO && !rows[check].permitted;
	const char *paint = colours[broken      ? VERDICT_NO :
		finding->verdict == VERDICT_YES ? VERDICT_YES :
						  VERDICT_NOT_TESTED];

	fprintf(to, "%s%-*s%s", colour ? paint : "", LEFT, word_of(verdicts, check), colour ? "\033[0m" : "");
}

static void
print_finding(const struct verdicts *verdicts, int check, FILE *to, bool colour)
{
	const struct finding *finding = &verdicts->findings[check];

	put_word(verdicts, check, to, colour);
	fprintf(to, "%s\n%*s", rows[check].title, LEFT, "");
	put_safe(to, finding->evidence);
	fputc('\n', to);
	if (finding->verdict == VERDICT_NO) {
		put_wrapped(to, rows[check].demands[verdicts->column]);
		put_wrapped(to, rows[check].help);
	}
}

void
verdict_print(const struct verdicts *verdicts, FILE *to, bool colour)
{
	bool opened = verdicts->findings[CHECK_INITIALIZE].verdict != VERDICT_NO;

	put_safe(to, verdicts->command);
	fprintf(to, " (%s%s", verdicts->dialect, verdicts->server[0] != '\0' ? ", " : "");
	put_safe(to, verdicts->server);
	fputs(")\n\n", to);
	if (verdicts->ended) {
		put_word(verdicts, CHECK_INITIALIZE, to, colour);
		put_safe(to, verdicts->findings[CHECK_INITIALIZE].evidence);
		fputc('\n', to);
	}
	for (int i = 0; i < CHECKS && !verdicts->ended; i++)
		if (is_for(verdicts, i) && (opened || verdicts->findings[i].verdict != VERDICT_NOT_TESTED))
			print_finding(verdicts, i, to, colour);
	fprintf(to, "\n%d kept, %d broken, %d not tested\n", count(verdicts, VERDICT_YES), count(verdicts, VERDICT_NO),
	    count(verdicts, VERDICT_NOT_TESTED));
}

static json_t *
finding_json(const struct verdicts *verdicts, int check)
{
	const struct finding *finding = &verdicts->findings[check];
	json_t *object = json_pack("{s:s, s:s, s:s, s:b, s:o}", "check", rows[check].word, "title", rows[check].title,
	    "verdict", word_of(verdicts, check), "required", !rows[check].permitted, "evidence",
	    printable_json(span_of(finding->evidence), false));

	if (finding->time != MSEC_NEVER)
		json_object_set_new(object, "ms", json_integer(finding->time));
	json_object_set_new(object, "demand", json_string(rows[check].demands[verdicts->column]));
	if (finding->verdict == VERDICT_NO)
		json_object_set_new(object, "help", json_string(rows[check].help));
	return object;
}

void
verdict_print_json(const struct verdicts *verdicts, FILE *to)
{
	json_t *checks = json_array();
	json_t *report = json_pack("{s:o, s:s, s:o, s:b, s:i, s:i, s:i, s:o}", "command",
	    printable_json(span_of(verdicts->command), false), "dialect", verdicts->dialect, "server",
	    printable_json(span_of(verdicts->server), false), "broken", verdict_is_broken(verdicts), "yes",
	    count(verdicts, VERDICT_YES), "no", count(verdicts, VERDICT_NO), "not_tested",
	    count(verdicts, VERDICT_NOT_TESTED), "checks", checks);

	for (int i = 0; i < CHECKS; i++)
		if (is_for(verdicts, i))
			json_array_append_new(checks, finding_json(verdicts, i));
	/* ASCII: safe on any terminal. */
	json_dumpf(report, to, JSON_COMPACT | JSON_ENSURE_ASCII);
	fputc('\n', to);
	json_decref(report);
}

/* XML has no place for control characters, nor for U+FFFE and U+FFFF. */
static void
put_xml(FILE *to, const char *text)
{
	struct buf safe;
	struct span left;

	buf_init(&safe);
	printable_append(&safe, span_of(text), "");
	for (left = buf_span(&safe); left.len > 0; left = span_part(left, 1, left.len - 1)) {
		char byte = left.ptr[0];

		if (left.len >= 3 &&
		    (memcmp(left.ptr, "\xef\xbf\xbe", 3) == 0 || memcmp(left.ptr, "\xef\xbf\xbf", 3) == 0)) {
			fputc('?', to);
			left = span_part(left, 2, left.len - 2);
		} else if (byte == '&' || byte == '<' || byte == '>' || byte == '"' || byte == '\'') {
			fprintf(to, "&#%d;", byte);
		} else {
			fputc(byte, to);
		}
	}
	buf_free(&safe);
}

static void
put_case(const struct verdicts *verdicts, int check, FILE *to)
{
	const struct finding *finding = &verdicts->findings[check];
	bool broken = finding->verdict == VERDICT_NO && !rows[check].permitted;
	long long time = finding->time == MSEC_NEVER ? 0 : (long long)finding->time;

	fprintf(to, "    <testcase classname=\"canceld.doctor\" name=\"%s\" time=\"%lld.%03lld\">", rows[check].title,
	    time / 1000, time % 1000);
	if (finding->verdict != VERDICT_YES) {
		fputs(broken ? "<failure message=\"" : "<skipped message=\"", to);
		put_xml(to, finding->evidence);
		fputs("\">", to);
		put_xml(to, broken ? rows[check].demands[verdicts->column] : "");
		fputs(broken ? ". " : "", to);
		put_xml(to, broken ? rows[check].help : "");
		fputs(broken ? "</failure>" : "</skipped>", to);
	} else {
		fputs("<system-out>", to);
		put_xml(to, finding->evidence);
		fputs("</system-out>", to);
	}
	fputs("</testcase>\n", to);
}

void
verdict_print_junit(const struct verdicts *verdicts, FILE *to)
{
	int tests = 0, failures = count(verdicts, VERDICT_NO), kept = count(verdicts, VERDICT_YES);

	for (int i = 0; i < CHECKS; i++)
		tests += is_for(verdicts, i);
	fprintf(to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"");
	put_xml(to, verdicts->command);
	fprintf(to, "\" tests=\"%d\" failures=\"%d\" errors=\"0\" skipped=\"%d\">\n", tests, failures,
	    tests - failures - kept);
	for (int i = 0; i < CHECKS; i++)
		if (is_for(verdicts, i))
			put_case(verdicts, i, to);
	fputs("  </testsuite>\n</testsuites>\n", to);
}
