/*
 * The command call: one call of one tool. The visitor is the doctor's; canceld is as for any
 * client.
 */

#include "core/compose.h"
#include "ctl/commands.h"
#include "ctl/configured.h"
#include "ctl/ctl.h"
#include "doctor.h"
#include "ctl/show.h"
#include "shell/child.h"
#include "shell/options.h"
#include "shell/words.h"

static const char help[] =
    "usage: cancelctl call [-jv] TOOL [ARGUMENT...] -- [canceld's options] COMMAND...\n"
    "       cancelctl call [-jv] CLIENT:SERVER TOOL [ARGUMENT...] [-- OPTION...]\n"
    "       cancelctl call [-jv] --list ...\n"
    "\n"
    "Starts an MCP server through canceld, calls one of its tools, prints the text of\n"
    "the result, or its structured content as JSON. ARGUMENT is NAME=VALUE, a JSON\n"
    "object, or - for one on standard input. CLIENT:SERVER, or FILE:SERVER, is one\n"
    "that cancelctl wrap --list shows. Ctrl+C cancels the call.\n"
    "\n"
    "  --list         instead of a call: the tools, with their parameters\n"
    "  -j, --json     the whole result, or each tool, as one JSON object\n"
    "  -v, --verbose  show what the server and canceld write to stderr\n"
    "  -h, --help     this text\n"
    "\n"
    "Of canceld's options -t 30s gives the call a deadline, and --clean-text replaces\n"
    "half characters of the server's, with which no text can be read.\n"
    "\n"
    "Exit status: 0 done; 1 there is no such CLIENT:SERVER; 2 wrong usage, as a tool\n"
    "that the server does not have; 123 it answered with an error; 124 a deadline\n"
    "passed; 125 canceld or cancelctl failed; 126 COMMAND cannot be executed; 127 it\n"
    "was not found; 130, 143 a signal ended it.\n";

struct call {
	struct examination what;
	struct configured server; /* of a client's file; or zeroed */
	char **options;           /* canceld's */
	char *const *words;       /* the tool, then its arguments */
	json_t *said;             /* its arguments; see tools_fill */
	bool list, json;
	struct visit visit;
};

static struct call the_call; /* ends with the process */

/* A second interrupt ends canceld at once instead of waiting for the server's own end. */
static void
on_signal(int number)
{
	if (visit_interrupted != 0 && the_call.visit.pid > 0)
		kill(the_call.visit.pid, SIGTERM);
	visit_interrupted = number;
}

/* --- the command line, whose mistakes end the program at once */

/* Reads the words behind --: canceld's options, and the command, if there is one. */
static void
read_canceld(struct call *call, char **behind)
{
	struct options parsed;
	size_t count;

	if (!program_options(&parsed, behind, &count))
		exit(CTL_USAGE);
	if (options_given(&parsed, options_key("dialect")))
		exit(ctl_usage("call is for MCP: leave --dialect out"));
	ctl_add_words(&call->options, behind);
	call->options[count] = NULL;
	call->what.command = behind + count;
	if (behind[count] != NULL && text_is(behind[count], "--"))
		call->what.command++;
}

static void
read_line(struct call *call, int argc, char *argv[])
{
	const struct ctl_option options[] = { { "list", 0, &call->list },
		{ "json", 'j', &call->json }, { "verbose", 'v', &call->what.loud }, { 0 } };
	char **behind;
	int words = ctl_cut(argc, argv, &behind), status;

	read_canceld(call, behind);
	status = ctl_options(words, argv, options, false, help);
	if (status == CTL_USAGE)
		ctl_usage(
		    "is -- missing? canceld's options and the server's command stand behind it: cancelctl call TOOL "
		    "-- -t 30s COMMAND");
	if (status >= 0)
		exit(ctl_end(status));
	call->words = argv + optind;
}

/*
 * Without a command the first word names the server. Without a control socket the error of a
 * deadline names canceld's option, not a session that has ended.
 */
static void
read_server(struct call *call)
{
	char **options = NULL;
	struct options parsed;
	size_t count;
	bool filed;

	ctl_add_words(&options, (char *const[]){ "--no-control", NULL });
	if (call->what.command[0] == NULL) {
		if (call->words[0] == NULL)
			exit(ctl_usage(
			    "which server? its command stands behind --, or CLIENT:SERVER before the tool"));
		configured_read(&call->server, *call->words++, true);
		call->what.command = call->server.command;
	}
	ctl_add_words(&options, call->server.options);
	ctl_add_words(&options, call->options);
	if (!program_options(&parsed, options, &count))
		exit(CTL_USAGE);
	call->what.options = options;
	filed = options_given(&parsed, options_key("log"));
	call->what.loud |= parsed.log.level > LEVEL_NOTICE && !filed;
	call->what.logs = call->what.loud || filed;
}

/*
 * NAME=VALUE as an array of name and text. The text is read as JSON once the tool's schema is
 * known.
 */
static json_t *
read_pair(const char *word)
{
	size_t len = strcspn(word, "=");
	json_t *pair;

	if (len == 0 || word[len] == '\0')
		exit(ctl_usage(
		    "'%.100s' is no NAME=VALUE, no JSON object and no -; a command stands behind --",
		    word));
	pair = json_pack("[s%, s]", word, len, word + len + 1);
	if (pair == NULL)
		exit(ctl_usage("the argument '%.100s' is not UTF-8", word));
	return pair;
}

/* In the order of the words: objects, and pairs of a name and a value. */
static json_t *
read_arguments(char *const *words)
{
	json_t *said = json_array();

	for (; *words != NULL; words++)
		json_array_append_new(said,
		    text_is(*words, "-") || (*words)[0] == '{' ?
			tools_read("the arguments", *words) :
			read_pair(*words));
	return said;
}

/* --- what is shown */

/* Writes the text as it is; on a terminal the server's escapes are made visible. */
static void
put_text(FILE *out, struct span text)
{
	BUF_AUTO shown = { 0 };

	if (isatty(fileno(out)))
		show_lines(&shown, text, "");
	else
		buf_append(&shown, text);
	if (text.len == 0 || text.ptr[text.len - 1] != '\n')
		compose_text(&shown, "\n");
	fwrite(shown.data, 1, shown.len, out);
}

/* Writes the texts of a result, and everything else in it as JSON. */
static void
put_content(FILE *out, const json_t *result)
{
	const json_t *block;

	show_each_in (block, result, "content") {
		char *json = json_dumps(block, JSON_COMPACT | JSON_ENCODE_ANY | JSON_ENSURE_ASCII);

		put_text(out,
		    show_is(block, "type", "text") ? show_string(block, "text") : span_of(json));
		free(json);
	}
}

static void
put_result(const struct call *call, const json_t *result)
{
	const json_t *structured = json_object_get(result, "structuredContent");

	if (call->json ||
	    (structured == NULL && !json_is_array(json_object_get(result, "content"))))
		show_json(result);
	else if (structured != NULL)
		show_json(structured);
	else
		put_content(stdout, result);
}

/*
 * Shows a tool as its call is typed, NAME PARAMETER=TYPE [PARAMETER=TYPE]..., and its description.
 */
static void
put_tool(const json_t *tool)
{
	json_t *parameters = json_object_get(json_object_get(tool, "inputSchema"), "properties"),
	       *schema;
	struct span about = span_until(show_string(tool, "description"), "\r\n");
	BUF_AUTO line = { 0 };
	const char *name;

	compose_text(&line, "%b", show_string(tool, "name"));
	json_object_foreach (parameters, name, schema) {
		struct span type = show_string(schema, "type");

		compose_text(&line, tools_require(tool, name) ? " %s=%b" : " [%s=%b]", name,
		    type.len > 0 ? type : SPAN("JSON"));
	}
	show_line(&line);
	compose_text(&line, "    %b", about);
	if (about.len > 0)
		show_line(&line);
}

static void
put_tools(const struct call *call, const json_t *tools)
{
	const json_t *tool;

	show_each (tool, tools)
		(call->json ? show_json : put_tool)(tool);
}

/* --- the call */

/* With --tool-errors what canceld says of an error stands in a result. */
static bool
is_timed_out(const struct asked *asked)
{
	const json_t *data = json_object_get(json_object_get(asked->answer, "error"), "data");

	if (data == NULL)
		data = json_object_get(json_object_get(asked->result, "_meta"), "canceld/error");
	return show_is(data, "cause", "timeout");
}

/* Tells why there is no result, and returns the status. */
static int
tell_failure(struct call *call, const struct asked *asked)
{
	json_t *error = json_object_get(asked->answer, "error");
	const char *text = asked->error != NULL ? asked->error : "the result is no object";

	visit_begin(&call->visit, call->visit.check, 0);
	if (call->visit.unreadable)
		return ctl_failed(
		    "%s: the server sent a number, a key or half a character that cannot be read: "
		    "-- --clean-text replaces the last",
		    call->visit.check);
	if (visit_interrupted)
		return CTL_FAILED;
	if (asked->answer == NULL)
		return ctl_failed("canceld has ended");
	if (call->json)
		show_json(error != NULL ? asked->answer : json_object_get(asked->answer, "result"));
	fprintf(stderr, "cancelctl: %s: ", call->visit.check);
	if (error != NULL || asked->result == NULL)
		put_text(stderr, span_of(text));
	else
		put_content(stderr, asked->result);
	return is_timed_out(asked) ? STATUS_TIMED_OUT : STATUS_ERROR;
}

/* Opens the session in the era that the server speaks. */
static const struct asked *
open_session(struct call *call, enum dialogue_kind kind)
{
	const struct asked *asked;

	if (visit_start(&call->visit, &call->what, &dialogues[kind]) != 0)
		exit(ctl_failed("cannot start canceld: %s", strerror(errno)));
	asked = visit_open(&call->visit, dialogues[kind].opening, VISIT_FOREVER);
	if (kind == DIALOGUE_MCP_NEWEST || !asked->served || !asked->newer)
		return asked;
	visit_close(&call->visit);
	visit_free(&call->visit);
	return open_session(call, DIALOGUE_MCP_NEWEST);
}

/* Whether the call can be made: with these arguments, which are filled in. */
static bool
is_fit(const struct call *call, const json_t *tools, bool cut, json_t *arguments)
{
	const json_t *tool = tools_find(tools, call->words[0], cut);

	return (tool != NULL || cut) && tools_fill(tool, call->said, arguments) &&
	    tools_suffice(tool, arguments);
}

static int
use_tool(struct call *call, const json_t *arguments)
{
	const char *name = call->words[0];
	const struct asked *asked;

	visit_begin(&call->visit, name, VISIT_FOREVER);
	asked = visit_call(&call->visit, name, arguments);
	visit_wait(&call->visit, asked, VISIT_FOREVER);
	visit_begin(&call->visit, name, 0);
	if (asked->result == NULL || asked->error != NULL)
		return tell_failure(call, asked);
	put_result(call, asked->result);
	return CTL_YES;
}

/*
 * Calls the tool, or shows the list. It asks for the tools first, so that a mistake of the caller's
 * is reported as such.
 */
static int
use_session(struct call *call)
{
	json_t *tools = json_array(), *arguments = json_object();
	const struct asked *asked;
	bool more;

	asked = tools_ask(&call->visit, "tools/list", VISIT_FOREVER, tools);
	more = show_chars(asked->result, "nextCursor")[0] != '\0';
	if (more)
		ctl_tell(CTL_YES, "the server's list of tools does not end, and was cut");
	if (asked->result == NULL && (call->list || !asked->unknown))
		return tell_failure(call, asked);
	if (!call->list)
		return is_fit(call, tools, more || asked->result == NULL, arguments) ?
		    use_tool(call, arguments) :
		    CTL_USAGE;
	put_tools(call, tools);
	return CTL_YES;
}

static int
run(struct call *call)
{
	struct visit *visit = &call->visit;
	const struct asked *asked = open_session(call, DIALOGUE_MCP);
	bool opened = asked->result != NULL;
	int status = opened ? use_session(call) : tell_failure(call, asked),
	    number = visit_interrupted, ended;
	const char *what = visit->check, *how = "given up";

	/* The request that opens the session is not cancelled; the end of input ends that. */
	if (number != 0 && visit->count > 1 && visit->asked[visit->count - 1].answer == NULL) {
		visit_cancel(visit, &visit->asked[visit->count - 1]);
		how = "cancelled";
	}
	visit_begin(visit, "the end of the server", VISIT_FOREVER);
	visit_close(visit);
	ended = WIFEXITED(visit->status) ? WEXITSTATUS(visit->status) : 0;
	visit_free(visit);
	if (number != 0) {
		ctl_no("%.100s: %s; the server has ended", what, how);
		signal(number, SIG_DFL);
		raise(number);
	}
	/* If the server could not be started, canceld's own exit status says why. */
	return !opened && status == STATUS_ERROR && ended >= STATUS_FAILED &&
		ended <= STATUS_NOT_FOUND ?
	    ended :
	    status;
}

int
ctl_call(int argc, char *argv[])
{
	struct call *call = &the_call;
	struct sigaction action = { .sa_handler = on_signal };

	read_line(call, argc, argv);
	read_server(call);
	/* A call has a tool, a list none. */
	if (call->list == (call->words[0] != NULL))
		return call->list ?
		    ctl_usage("'%.100s': --list takes no tool", call->words[0]) :
		    ctl_usage("which tool? cancelctl call --list shows those of the server");
	call->said = read_arguments(call->words + !call->list);
	program_canceld(call->what.canceld);
	/* A write to a server that has ended must not end this process. */
	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	return run(call);
}
