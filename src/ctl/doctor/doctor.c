#include "core/compose.h"
#include "ctl/commands.h"
#include "ctl/configured.h"
#include "ctl/ctl.h"
#include "doctor.h"
#include "ctl/show.h"
#include "shell/words.h"

static const char help[] =
    "usage: cancelctl doctor [options] [--] COMMAND [argument...]\n"
    "       cancelctl doctor [options] CLIENT:SERVER    as wrap --list shows it\n"
    "\n"
    "Starts a server through canceld, talks to it as a client does, and tells which\n"
    "promises of its protocol it keeps. It calls only what --call names, to be\n"
    "answered, to be cancelled, and twice at once.\n"
    "\n"
    "  --call NAME          the tool to call (MCP), or the method (ACP, LSP); one\n"
    "                       that takes a second or more shows most\n"
    "  --arguments JSON     its arguments, or the method's params: an object ({})\n"
    "  -D, --dialect NAME   mcp, acp or lsp (mcp; lsp for a language\n"
    "                       server of a client)\n"
    "  --timeout DURATION   the longest wait for one answer (10s)\n"
    "  --start DURATION     the same for the first answer of a session (1m)\n"
    "  -j, --json           one JSON object\n"
    "  -v, --verbose        show the server's stderr\n"
    "  -h, --help           this text\n"
    "\n"
    "Exit status: 0 each promise that was tested is kept; 1 one is broken; 2 wrong\n"
    "usage, as a tool that the server does not have; 125 the server or canceld could\n"
    "not be started, or the report could not be written.\n";

/* The mistakes of the command line end the program at once. */
static msec_t
read_time(const char *option, const char *value)
{
	msec_t time;

	if (!units_read_duration(value, &time) || time == MSEC_NEVER)
		exit(ctl_usage("%s '%.100s': it must be a time such as 10s", option, value));
	return time;
}

static enum dialogue_kind
read_dialect(const char *name)
{
	enum dialogue_kind kind = DIALOGUE_MCP;

	while (kind < DIALOGUES && !text_is(dialogues[kind].name, name))
		kind++;
	if (kind == DIALOGUES)
		exit(ctl_usage("--dialect '%.100s': it must be mcp, acp or lsp", name));
	return kind;
}

static json_t *
read_arguments(const char *call, const char *arguments)
{
	json_t *parsed = tools_read("--arguments", arguments);

	if (call != NULL && call[0] == '\0')
		exit(ctl_usage("--call: which tool or method?"));
	if (call == NULL && json_object_size(parsed) > 0)
		exit(ctl_usage("--arguments needs --call"));
	return parsed;
}

static int
examine(const struct examination *what, bool json)
{
	struct buf command = { 0 }, typed = { 0 }, text = { 0 }, lines = { 0 };
	struct verdicts report;
	int status;

	command_append(&command, what->command);
	verdicts_init(&report, buf_span(&command), what->kind);
	checkup_run(what, &report);
	if (report.status != CTL_YES)
		return report.status;
	status = verdicts_count(&report, VERDICT_NO) > 0 ? CTL_NO : CTL_YES;
	if (json) {
		show_json(verdicts_json(&report));
		return status;
	}
	verdicts_write(&report, term_colours(), &text);
	table_wrap(&lines, buf_span(&text), term_width, VIEW_HEAD);
	/*
	 * A line to be pasted, so it is not wrapped. "..." stands for the command if a word of it
	 * is hidden, or if a shell would change one.
	 */
	for (char *const *word = what->command; *word != NULL; word++)
		compose_text(&typed, typed.len > 0 ? " %s" : "%s",
		    strpbrk(*word, " \t\n|&;<>()$`\\\"'*?[]#~!{}") == NULL ? *word : "");
	if (report.options.len > 0)
		compose_text(&lines, "canceld%b -- %b\n", buf_span(&report.options),
		    span_equal(buf_span(&typed), buf_span(&command)) ? buf_span(&typed) :
								       SPAN("..."));
	show_buf(&lines);
	return status;
}

/*
 * Whether the arguments are one CLIENT:SERVER and no command: a single word that names no program.
 */
static bool
is_configured(int argc, char *argv[])
{
	const char *word = argv[optind];

	if (text_is(argv[optind - 1], "--") || strchr(word, ':') == NULL || access(word, F_OK) == 0)
		return false;
	if (argc > optind + 1)
		exit(ctl_usage(
		    "the options of doctor stand before %.100s; a command with a colon stands behind --",
		    word));
	return true;
}

int
ctl_doctor(int argc, char *argv[])
{
	const char *arguments = "{}", *dialect = NULL, *timeout = "10s", *start = "1m";
	struct configured server = { 0 };
	struct examination what = { 0 };
	bool json = false;
	struct ctl_option options[] = { { "=call", 0, &what.call }, { "=arguments", 0, &arguments },
		{ "=dialect", 'D', &dialect }, { "=timeout", 0, &timeout }, { "=start", 0, &start },
		{ "json", 'j', &json }, { "verbose", 'v', &what.loud }, { 0 } };

	ctl_line(argc, argv, options, CTL_STOPS, help);
	/* A write to a server that has ended must not end this process. */
	signal(SIGPIPE, SIG_IGN);
	what.timeout = read_time("--timeout", timeout);
	what.start = read_time("--start", start);
	what.arguments = read_arguments(what.call, arguments);
	program_canceld(what.canceld);
	what.command = argv + optind;
	if (what.command[0] == NULL)
		exit(ctl_usage("doctor: which command? see cancelctl doctor --help"));
	if (what.command[0][0] == '-')
		exit(ctl_usage(
		    "'%.100s' is no command; doctor takes none of canceld's options, and tells which help",
		    what.command[0]));
	if (is_configured(argc, argv)) {
		configured_read(&server, argv[optind], false);
		what.command = server.command;
	}
	what.kind = read_dialect(dialect != NULL ? dialect : server.language ? "lsp" : "mcp");
	return examine(&what, json);
}
