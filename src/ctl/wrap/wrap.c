/* The commands wrap and unwrap: which files, and what is said of them. */
#include <fnmatch.h>
#include <stdarg.h>

#include "core/compose.h"
#include "core/dialect.h"
#include "ctl/commands.h"
#include "ctl/configured.h"
#include "ctl/ctl.h"
#include "ctl/show.h"
#include "shell/options.h"
#include "shell/words.h"
#include "change.h"
#include "replace.h"

/* One call of wrap or unwrap. */
struct task {
	struct change change; /* its client is set for each file */
	bool list, all, dry_run, json;
	bool plain;        /* a server that may be wrapped is listed */
	const char *where; /* a client or a file; NULL: none is named */
	struct client_files files;
	struct client_file *file; /* the one at hand */
	char canceld[PROGRAM_SIZE];
	size_t servers, changed; /* servers listed, files changed */
	int status;
};

/* Keeps the worse status: a failure is not replaced by a no. */
static void
worsen(struct task *task, int status)
{
	if (task->status != CTL_FAILED)
		task->status = status;
}

/*
 * Writes a line for people, of at most so many cells, unless -j is given. Escapes what a terminal
 * would not show literally.
 */
static void __attribute__((format(printf, 3, 4)))
say_within(const struct task *task, size_t cells, const char *format, ...)
{
	BUF_AUTO shown = { 0 }, line = { 0 };
	va_list values;
	char *words;

	if (task->json)
		return;
	va_start(values, format);
	if (vasprintf(&words, format, values) != -1) {
		printable_append(&shown, span_of(words), "");
		table_cut(&line, buf_span(&shown), cells, 0);
		show_line(&line);
		free(words);
	}
	va_end(values);
}

#define say(task, ...) say_within(task, SIZE_MAX, __VA_ARGS__)

/* NULL where there is no text. */
static json_t *
json_of(struct span text)
{
	return text.len > 0 ? printable_json(text) : NULL;
}

/*
 * With -j, writes an object about a server (NULL: about the whole file), with the members of
 * `more`, whose reference it takes. why and more may be NULL.
 */
static void
put_object(const struct task *task, const struct doc_node *server, const char *key,
    const char *word, const char *why, json_t *more)
{
	json_auto_t *object = json_pack("{s:s, s:o, s:o*, s:o*, s:s, s:o*}", "client",
	    task->file->client->id, "file", json_of(span_of(task->file->path)), "group",
	    server != NULL ? json_of(client_group(server)) : NULL, "server",
	    server != NULL ? printable_json(server->key.name) : NULL, key, word, "why",
	    json_of(span_of(why)));

	json_object_update(object, more);
	if (task->json)
		show_json(object);
	json_decref(more);
}

/* The path of the canceld before a server, if nothing is there any more; else NULL. */
static const char *
gone_canceld(const struct entry *entry)
{
	const char *path = entry->state == ENTRY_WRAPPED || entry->state == ENTRY_BY_HAND ?
	    entry->first->text.ptr :
	    "";

	return path[0] == '/' && access(path, X_OK) == -1 ? path : NULL;
}

static void
list_server(struct task *task, const struct doc_node *server)
{
	static const char *const states[] = {
		[ENTRY_PLAIN] = "not wrapped",
		[ENTRY_WRAPPED] = "wrapped",
		[ENTRY_BY_HAND] = "by hand",
		[ENTRY_REMOTE] = "remote",
		[ENTRY_ODD] = "odd",
	};
	struct entry entry = entry_read(server);
	const char *gone = gone_canceld(&entry), *state = states[entry.state];
	bool wrapped = entry.state == ENTRY_WRAPPED;
	/* A canceld that was put there by hand may stand behind a launcher. */
	const char *what = wrapped ? "its canceld is gone" : "its program is gone";
	char *title = client_title(server),
	     *command = entry.why == NULL ? entry_text(&entry, entry.program) : NULL;
	BUF_AUTO options = { 0 };

	task->plain |= entry.state == ENTRY_PLAIN;
	if (wrapped)
		entry_append_options(&entry, entry.marker->next, entry.dashes, &options);
	put_object(task, server, "state", state, gone != NULL ? what : entry.why,
	    json_pack("{s:s*, s:o*}", "command", command, "options", json_of(buf_span(&options))));
	say_within(task, term_width, options.len > 0 ? "  %-12s %s: %s (%.*s)" : "  %-12s %s: %s",
	    state, title, command != NULL ? command : entry.why, (int)options.len, options.data);
	if (gone != NULL)
		say(task, "    note: %s%s: %s", what, wrapped ? ", wrap it again" : "", gone);
	free(title);
	free(command);
}

static void
list_file(struct task *task)
{
	struct client_file *file = task->file;

	say(task, "%s (%s): %s", file->client->name, file->client->id, file->path);
	configured_load(file, file->project ? "." : NULL);
	if (file->fault[0] != '\0') {
		put_object(task, NULL, "state", "left", file->fault, NULL);
		say(task, "  left alone: %s", file->fault);
	}
	each_listed (server, &file->servers)
		list_server(task, *server);
	task->servers += file->servers.count;
}

/*
 * The deadline of a tool call under these options and what the configuration file says for all
 * servers. 0: canceld refuses the options, and has said why.
 */
static msec_t
deadline_of(char *const options[])
{
	const struct span method = SPAN("tools/call");
	struct deadline deadline = { 0 };
	struct options parsed;
	size_t count;

	if (!program_options(&parsed, options, &count))
		return 0;
	if (options[count] != NULL)
		ctl_usage(
		    "'%.200s' is no option of canceld; the server's command is in the client's file",
		    options[count + (text_is(options[count], "--") && options[count + 1] != NULL)]);
	else if (configfile_load(&parsed) == OPTIONS_RUN)
		deadline = policy_deadline(&parsed.policy, POLICY_IDLE, method, SPAN_NONE,
		    dialect_method(&dialect_mcp, method)->traits, false);
	options_free(&parsed);
	return deadline.after;
}

/* The whole command of a server, which the caller owns. */
static char *
command_of(const struct outcome *outcome, const struct client_servers *servers)
{
	struct entry entry = entry_read(servers->list[outcome->server]);

	return entry_text(&entry, entry.first);
}

/* Warns if the client itself gives up no later than canceld's deadline. */
static void
warn_limit(const struct task *task, const char *title, msec_t limit, msec_t deadline)
{
	if (limit != MSEC_NEVER && limit <= deadline)
		say(task,
		    "  note: %s: %s itself gives up after %s, no later than canceld's deadline for tools/call (%s): "
		    "give it more time there, or canceld less with -t",
		    title, task->file->client->name, show_time(limit).ptr,
		    deadline == MSEC_NEVER ? "none" : show_time(deadline).ptr);
}

static void
put_outcome(struct task *task, const struct outcomes *outcomes, const struct outcome *outcome)
{
	const struct doc *doc = &outcomes->before.doc;
	const struct doc_node *server = outcomes->before.list[outcome->server];
	msec_t limit = client_timeout(task->file->client, doc, server);
	bool left = outcome->result == outcome_left;
	char *title = client_title(server), line[64] = "";
	char *before = outcome->changed ? command_of(outcome, &outcomes->before) : NULL;
	char *after = outcome->changed ? command_of(outcome, &outcomes->after) : NULL;

	if (left)
		print_into(line, " (line %zu of the file)", doc_line(doc, server->key.start));
	/* A server that unwrap leaves alone could not be started once canceld is uninstalled. */
	if (left && (task->change.names[0] != NULL || task->change.unwrap))
		worsen(task, CTL_NO);
	put_object(task, server, "result", outcome->result, outcome->why,
	    json_pack("{s:b, s:o*, s:s*, s:s*}", "dry_run", task->dry_run, "client_timeout_ms",
		limit != MSEC_NEVER ? json_integer(limit) : NULL, "before", before, "after",
		after));
	say(task, "  %s: %s%s%s%s%s", title, task->dry_run && outcome->changed ? "would be " : "",
	    outcome->result, outcome->why != NULL ? ": " : "", span_of(outcome->why).ptr, line);
	if (task->dry_run && outcome->changed) {
		say(task, "    - %s", before);
		say(task, "    + %s", after);
	}
	if (!left)
		warn_limit(task, title, limit, outcome->deadline);
	free(title);
	free(before);
	free(after);
}

static void
put_outcomes(struct task *task, const struct outcomes *outcomes)
{
	each_listed (outcome, outcomes)
		put_outcome(task, outcomes, outcome);
	if (outcomes->count == 0 && task->change.names[0] == NULL)
		say(task,
		    task->change.languages         ? "  no language servers" :
			outcomes->before.count > 0 ? "  no servers, but %zu for --lsp" :
						     "  no servers",
		    outcomes->before.count);
}

static void
leave_file(struct task *task, const char *why)
{
	/* With --all, a file of a kind that is never edited is no failure. */
	if (task->file->client->grammar != DOC_YAML || !task->all)
		worsen(task, CTL_NO);
	put_object(task, NULL, "result", outcome_left, why, NULL);
	say(task, "  left alone: %s", why);
}

/* Shows the words that a person has to write into a file that cancelctl cannot edit. */
static void
put_words(const struct task *task)
{
	const char *servers = task->file->client->servers;
	BUF_AUTO words = { 0 };

	compose_text(&words,
	    task->change.languages || (servers != NULL && servers[0] == '\0') ?
		"\"-D\", \"lsp\", " :
		"");
	for (char *const *option = task->change.options; *option != NULL; option++) {
		doc_quote(&words, span_of(*option));
		compose_text(&words, ", ");
	}
	say(task, "  put this there by hand, with the server's own COMMAND and ARGUMENTS:");
	say(task, "    command \"%s\", args [%.*s\"--\", COMMAND, ARGUMENTS...]", task->canceld,
	    (int)words.len, buf_span(&words).ptr);
}

/* real: its path without symbolic links. */
static bool
is_in_use(const struct client_file *file, const char *real)
{
	const char *pattern = file->client->in_use_file;

	return pattern != NULL &&
	    (fnmatch(pattern, file->path, 0) == 0 || fnmatch(pattern, real, 0) == 0) &&
	    client_running(file->client->in_use, client_home());
}

/* Writes the new text, or only says so. */
static void
change_file(struct task *task, struct replace *contents, const struct outcomes *outcomes,
    struct span after)
{
	char state[PROGRAM_SIZE];

	print_into(state, "%s/.local/state/canceld/backups", client_home());
	if (replace_check(contents) == -1) {
		leave_file(task, contents->fault);
	} else if (task->dry_run) {
		put_outcomes(task, outcomes);
	} else if (is_in_use(task->file, contents->path)) {
		leave_file(task, "the client is running, and would write over it: end it first");
	} else if (replace_write(contents, after, state) == -1) {
		leave_file(task, contents->fault);
		worsen(task, CTL_FAILED);
	} else {
		task->changed++;
		put_outcomes(task, outcomes);
		say(task, "  backup: %s", contents->backup);
		if (task->file->project && !task->change.unwrap)
			say(task,
			    "  note: whoever else uses this file of the project needs canceld at the same path");
	}
}

static void
do_file(struct task *task)
{
	const struct client_file *file = task->file;
	struct outcomes outcomes = { 0 };
	struct replace contents;
	BUF_AUTO after = { 0 };

	task->change.client = file->client;
	say(task, "%s: %s", file->client->name, file->path);
	if (replace_read(&contents, file->path, file->project ? "." : NULL) == -1) {
		leave_file(task, contents.fault);
	} else if (change_text(&task->change, buf_span(&contents.text), &after, &outcomes) == -1) {
		leave_file(task, outcomes.fault);
		if (!task->change.unwrap)
			put_words(task);
	} else if (span_equal(buf_span(&contents.text), buf_span(&after))) {
		put_outcomes(task, &outcomes);
	} else {
		change_file(task, &contents, &outcomes, buf_span(&after));
	}
	outcomes_free(&outcomes);
	replace_free(&contents);
}

#define USAGE_OF_BOTH \
	"  -a, --all      in the files of all clients found here\n" \
	"  --lsp          the language servers, instead of all other servers\n" \
	"  -n, --dry-run  show the commands before and after, and change nothing\n" \
	"  -j, --json     one object a line\n\n" \
	"Clients:\n"

static const char usage_of_wrap[] =
    "usage: cancelctl wrap [--list] [-j]\n"
    "       cancelctl wrap [-nj] [--lsp] CLIENT|FILE|-a [SERVER...] [-- OPTION...]\n\n"
    "Puts canceld, with these options of its own, before the commands of the servers\n"
    "in a client's configuration; cancelctl unwrap takes it out again.\n"
    "SERVER is NAME or GROUP:NAME, as the list shows it; a language server's group\n"
    "is lsp, NAME means it only with --lsp, and it gets -D lsp.\n\n"
    "  --list         the clients found here, and their servers\n" USAGE_OF_BOTH;

static const char usage_of_unwrap[] =
    "usage: cancelctl unwrap [-nj] [--lsp] CLIENT|FILE|-a [SERVER...]\n\n"
    "Takes out what cancelctl wrap has put before the servers' commands.\n\n" USAGE_OF_BOTH;

/*
 * The words before --; those behind it are change->options already. -1: go on; else the exit
 * status.
 */
static int
read_words(struct task *task, int argc, char *argv[])
{
	const struct ctl_option options[] = { { "list", 0, &task->list },
		{ "all", 'a', &task->all }, { "lsp", 0, &task->change.languages },
		{ "dry-run", 'n', &task->dry_run }, { "json", 'j', &task->json }, { 0 } };
	int status = ctl_options(argc, argv, options, false,
	    task->change.unwrap ? usage_of_unwrap : usage_of_wrap);

	/* The unknown option may have been meant for canceld. */
	if (status == CTL_USAGE && !task->change.unwrap)
		ctl_usage(
		    "canceld's own options stand behind --, as in: cancelctl wrap --all -- -t 30s");
	/* CTL_YES: ctl_options has shown the usage, and the list of clients belongs to that. */
	for (const struct client *client = clients; status == CTL_YES && client->id != NULL;
	     client++)
		printf("  %-15s %s\n", client->id, client->name);
	if (status >= 0)
		return status;
	if (!task->all && optind < argc)
		task->where = argv[optind++];
	task->change.names = argv + optind;
	return -1;
}

static int
run(struct task *task)
{
	bool chosen = task->all || task->where != NULL, unwrap = task->change.unwrap,
	     list = task->list || !chosen;
	char *const *names = task->change.names;
	int status;

	if (unwrap && task->list)
		return ctl_usage("the list is that of cancelctl wrap --list");
	if (unwrap && task->change.given)
		return ctl_usage("unwrap takes no options of canceld");
	if (list && (unwrap || task->change.given))
		return ctl_usage(
		    "which client? cancelctl %s CLIENT, FILE or --all; see cancelctl wrap --list",
		    unwrap ? "unwrap" : "wrap");
	if (deadline_of(task->change.options) == 0)
		return CTL_USAGE;
	status = clients_look_up(&task->files, task->where);
	if (status == CTL_YES && !list && !unwrap) {
		program_canceld(task->canceld);
		status = program_lasting(task->canceld);
	}
	if (status != CTL_YES)
		return status;
	task->change.canceld = task->canceld;
	each_listed (file, &task->files) {
		task->file = file;
		(list ? list_file : do_file)(task);
	}
	if (task->plain && !task->list)
		say(task,
		    "To put canceld before them: cancelctl wrap CLIENT, or cancelctl wrap --all");
	if (list)
		return task->servers > 0 ? CTL_YES : CTL_NO;
	for (size_t i = 0; names[i] != NULL; i++)
		if (!task->change.seen[i])
			worsen(task, configured_unknown(&task->files, names[i]));
	if (task->changed > 0)
		say(task, "Start the client again, so that it reads its file.");
	return task->status;
}

/* argv is cut at the first --. */
int
ctl_wrap(int argc, char *argv[])
{
	char **behind;
	struct task task = { .change = { .unwrap = text_is(argv[0], "unwrap"),
				 .deadline = deadline_of,
				 .seen = mem_new((size_t)argc) } };
	int words = ctl_cut(argc, argv, &behind), status;

	task.change.given = words < argc;
	task.change.options = behind;
	status = read_words(&task, words, argv);
	return status < 0 ? run(&task) : status;
}
