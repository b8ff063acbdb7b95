/* The commands wrap and unwrap: which files, and what is said of them. */
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/dialect.h"
#include "core/buf.h"
#include "ctl/change.h"
#include "ctl/commands.h"
#include "ctl/ctl.h"
#include "ctl/replace.h"
#include "ctl/show.h"
#include "shell/options.h"
#include "shell/words.h"

enum { TRIES = 3 }; /* while another program writes the file */

/* One call of wrap or unwrap. */
struct task {
	struct change change; /* its client is set for each file */
	bool list, all, dry_run, json;
	const char *where; /* a client or a file; NULL: none is named */
	struct client_files files;
	bool *seen; /* of the names: there is such a server */
	char canceld[PROGRAM_SIZE];
	size_t servers, changed; /* servers listed, files changed */
	int status;
};

/* A failure is worth more than a no. */
static void
worsen(struct task *task, int status)
{
	if (task->status != CTL_FAILED && status != CTL_YES)
		task->status = status;
}

/* A line for people: not with -j. What a terminal would not take literally is escaped. */
static void __attribute__((format(printf, 2, 3))) say(const struct task *task, const char *format, ...)
{
	va_list values;
	char *words;

	if (task->json)
		return;
	va_start(values, format);
	if (vasprintf(&words, format, values) != -1) {
		show_line(span_of(words));
		free(words);
	}
	va_end(values);
}

/* An object of -j, about a server, or the whole file (server: SPAN_NONE); why may be NULL. */
static json_t *
object_of(const struct client_file *file, struct span server, const char *key, const char *word, const char *why)
{
	json_t *object =
	    json_pack("{s:s, s:o}", "client", file->client->id, "file", printable_json(span_of(file->path), false));

	if (server.ptr != NULL)
		json_object_set_new(object, "server", printable_json(server, false));
	json_object_set_new(object, key, json_string(word));
	if (why != NULL)
		json_object_set_new(object, "why", printable_json(span_of(why), false));
	return object;
}

static void
put_object(json_t *object)
{
	show_json(object);
	json_decref(object);
}

static void
list_server(struct task *task, const struct client_file *file, const struct doc *doc, const struct doc_node *node)
{
	static const char *const states[] = {
		[ENTRY_PLAIN] = "not wrapped",
		[ENTRY_WRAPPED] = "wrapped",
		[ENTRY_BY_HAND] = "by hand",
		[ENTRY_REMOTE] = "remote",
		[ENTRY_ODD] = "odd",
	};
	struct entry entry = entry_read(doc, node);
	struct span name = doc_name(doc, node), shown;
	size_t width = term_width(NULL);
	struct buf command, line, row;
	char state[32];
	json_t *object;

	buf_init(&command);
	buf_init(&line);
	buf_init(&row);
	if (entry.why == NULL)
		entry_show(&command, doc, &entry, true);
	shown = entry.why != NULL ? span_of(entry.why) : buf_span(&command);
	if (task->json) {
		object = object_of(file, name, "state", states[entry.state], entry.why);
		if (entry.why == NULL)
			json_object_set_new(object, "command", printable_json(shown, false));
		put_object(object);
	} else {
		snprintf(state, sizeof(state), "  %-12s ", states[entry.state]);
		buf_append(&line, span_of(state));
		printable_append(&line, name, "");
		buf_append(&line, SPAN(": "));
		buf_append(&line, shown);
		table_cut(&row, buf_span(&line), width > 0 ? width : SIZE_MAX);
		show_line(buf_span(&row));
	}
	buf_free(&command);
	buf_free(&line);
	buf_free(&row);
}

static void
list_file(struct task *task, const struct client_file *file)
{
	struct client_servers servers = { 0 };
	const char *fault = NULL;
	struct replace contents;
	struct doc doc = { 0 };

	say(task, "%s (%s): %s", file->client->name, file->client->id, file->path);
	if (replace_read(&contents, file->path, file->project ? "." : NULL) == -1)
		fault = contents.fault;
	else if (client_read(file->client, &doc, buf_span(&contents.text)) == -1)
		fault = doc.fault;
	else
		client_servers(file->client, &doc, &servers);
	if (fault != NULL && task->json)
		put_object(object_of(file, SPAN_NONE, "state", "left", fault));
	else if (fault != NULL)
		say(task, "  left alone: %s", fault);
	for (size_t i = 0; i < servers.count; i++)
		list_server(task, file, &doc, servers.list[i]);
	task->servers += servers.count;
	free(servers.list);
	doc_free(&doc);
	replace_free(&contents);
}

/*
 * canceld's words: "canceld", the options, and a command. Parses them: what options_parse returns. The caller frees the
 * options.
 */
static int
parse_options(struct options *parsed, char *const options[])
{
	int count = 0, result;
	char **argv;

	while (options[count] != NULL)
		count++;
	argv = mem_resize(NULL, (size_t)count + 4, sizeof(*argv));
	argv[0] = (char[]){ "canceld" };
	memcpy(argv + 1, options, (size_t)count * sizeof(*argv));
	argv[++count] = (char[]){ "--" };
	argv[++count] = (char[]){ "true" };
	argv[++count] = NULL;
	result = options_parse(parsed, count, argv);
	if (result == OPTIONS_RUN && (strcmp(parsed->command[0], "true") != 0 || parsed->command[1] != NULL))
		result = ctl_usage("'%.200s' is no option of canceld; the server's command is in the client's file",
		    parsed->command[0]);
	free(argv);
	return result;
}

/* With these options, which were checked or are an older canceld's, and with what its configuration says for all servers. */
static msec_t
deadline_of(char *const options[])
{
	const struct span method = SPAN("tools/call");
	struct deadlines deadlines = { 0 };
	struct options parsed;

	if (parse_options(&parsed, options) == OPTIONS_RUN && configfile_load(&parsed) == OPTIONS_RUN)
		deadlines = policy_deadlines(&parsed.policy, method, SPAN_NONE,
		    dialect_method(&dialect_mcp, method)->traits, false);
	options_free(&parsed);
	return deadlines.idle;
}

/* What a client that gives up first makes of canceld's deadline. */
static void
warn_limit(const struct task *task, const struct client *client, const struct outcome *outcome)
{
	msec_t limit = outcome->limit, deadline = outcome->deadline;
	char times[2][SHOW_TIME_SIZE];

	if (outcome->kind != OUTCOME_LEFT && limit != MSEC_NEVER && deadline > 0 && limit <= deadline)
		say(task,
		    "  note: %s: %s itself gives up after %s, before canceld's deadline for tools/call (%s): "
		    "give it more time there, or canceld less with -t",
		    outcome->name, client->name, show_time(limit, times[0]).ptr,
		    deadline == MSEC_NEVER ? "none" : show_time(deadline, times[1]).ptr);
}

static void
put_outcome(struct task *task, const struct client_file *file, const struct outcome *outcome)
{
	static const char *const words[] = {
		[OUTCOME_WRAPPED] = "wrapped",
		[OUTCOME_REWRAPPED] = "wrapped anew",
		[OUTCOME_UNWRAPPED] = "unwrapped",
		[OUTCOME_ALREADY] = "already wrapped",
		[OUTCOME_NOT_WRAPPED] = "not wrapped",
		[OUTCOME_LEFT] = "left alone",
	};
	struct span before = buf_span(&outcome->before), after = buf_span(&outcome->after);
	json_t *object;
	char line[64];

	/* What unwrap leaves would fail to start once canceld is gone. */
	if (outcome->kind == OUTCOME_LEFT && (task->change.name_count > 0 || task->change.unwrap))
		worsen(task, CTL_NO);
	if (task->json) {
		object = object_of(file, span_of(outcome->name), "result", words[outcome->kind], outcome->why);
		json_object_set_new(object, "dry_run", json_boolean(task->dry_run));
		if (outcome->limit != MSEC_NEVER)
			json_object_set_new(object, "client_timeout_ms", json_integer(outcome->limit));
		if (before.len > 0) {
			json_object_set_new(object, "before", printable_json(before, false));
			json_object_set_new(object, "after", printable_json(after, false));
		}
		put_object(object);
		return;
	}
	snprintf(line, sizeof(line), " (line %zu of the file)", outcome->line);
	say(task, "  %s: %s%s%s%s%s", outcome->name, task->dry_run && before.len > 0 ? "would be " : "",
	    words[outcome->kind], outcome->why != NULL ? ": " : "", outcome->why != NULL ? outcome->why : "",
	    outcome->kind == OUTCOME_LEFT ? line : "");
	if (task->dry_run && before.len > 0) {
		say(task, "    - %.*s", (int)before.len, before.ptr);
		say(task, "    + %.*s", (int)after.len, after.ptr);
	}
	warn_limit(task, file->client, outcome);
}

static void
put_outcomes(struct task *task, const struct client_file *file, const struct outcomes *outcomes)
{
	for (size_t i = 0; i < outcomes->count; i++)
		put_outcome(task, file, &outcomes->list[i]);
	if (outcomes->count == 0 && task->change.name_count == 0)
		say(task, "  no servers");
}

/* A file that is left alone. */
static void
leave_file(struct task *task, const struct client_file *file, const char *why)
{
	/* What is never edited is no failure to wrap all, and needs no unwrap. */
	if (file->client->syntax != CLIENT_YAML || !(task->all || task->change.unwrap))
		worsen(task, CTL_NO);
	if (task->json)
		put_object(object_of(file, SPAN_NONE, "result", "left alone", why));
	say(task, "  left alone: %s", why);
}

/* What a person writes instead, in a file that cannot be read. */
static void
put_words(const struct task *task)
{
	struct buf words;

	buf_init(&words);
	for (char *const *option = task->change.options; *option != NULL; option++) {
		doc_quote(&words, span_of(*option));
		buf_append(&words, SPAN(", "));
	}
	say(task, "  put this there by hand, with the server's own COMMAND and ARGUMENTS:");
	say(task, "    command \"%s\", args [%.*s\"--\", COMMAND, ARGUMENTS...]", task->canceld, (int)words.len,
	    buf_span(&words).ptr);
	buf_free(&words);
}

/* real: its path without symbolic links. */
static bool
is_in_use(const struct client_file *file, const char *real)
{
	const char *pattern = file->client->in_use_file;

	return pattern != NULL && (fnmatch(pattern, file->path, 0) == 0 || fnmatch(pattern, real, 0) == 0) &&
	    client_running(file->client->in_use, client_home());
}

/* Writes the new text, or only says so. 1: the file was changed meanwhile. */
static int
change_file(struct task *task, const struct client_file *file, struct replace *contents,
    const struct outcomes *outcomes, struct span after)
{
	char state[PROGRAM_SIZE];
	int result = 0;

	snprintf(state, sizeof(state), "%s/.local/state/canceld/backups", client_home());
	if (replace_check(contents) == -1) {
		leave_file(task, file, contents->fault);
	} else if (task->dry_run) {
		put_outcomes(task, file, outcomes);
	} else if (is_in_use(file, contents->path)) {
		leave_file(task, file, "the client is running, and would write over it: end it first");
	} else if ((result = replace_write(contents, after, state)) == -1) {
		leave_file(task, file, contents->fault);
		worsen(task, CTL_FAILED);
	} else if (result == 0) {
		task->changed++;
		put_outcomes(task, file, outcomes);
		say(task, "  backup: %s", contents->backup);
		if (file->project && !task->change.unwrap)
			say(task, "  note: whoever else uses this file of the project needs canceld at the same path");
	}
	return result;
}

/* One try. 1: another program has changed the file meanwhile, and nothing was done or said. */
static int
try_file(struct task *task, const struct client_file *file)
{
	struct replace contents;
	struct outcomes outcomes = { 0 };
	struct buf after;
	int result = 0;

	buf_init(&after);
	task->change.client = file->client;
	if (replace_read(&contents, file->path, file->project ? "." : NULL) == -1) {
		leave_file(task, file, contents.fault);
	} else if (change_text(&task->change, buf_span(&contents.text), &after, &outcomes) == -1) {
		leave_file(task, file, outcomes.fault);
		if (!task->change.unwrap)
			put_words(task);
	} else if (span_equal(buf_span(&contents.text), buf_span(&after))) {
		put_outcomes(task, file, &outcomes);
	} else {
		result = change_file(task, file, &contents, &outcomes, buf_span(&after));
	}
	for (size_t i = 0; i < outcomes.count; i++)
		for (size_t k = 0; k < task->change.name_count; k++)
			task->seen[k] = task->seen[k] || strcmp(task->change.names[k], outcomes.list[i].name) == 0;
	outcomes_free(&outcomes);
	buf_free(&after);
	replace_free(&contents);
	return result;
}

static void
do_file(struct task *task, const struct client_file *file)
{
	int result = 1;

	say(task, "%s: %s", file->client->name, file->path);
	for (int i = 0; i < TRIES && result == 1; i++)
		result = try_file(task, file);
	if (result == 1) {
		leave_file(task, file, "another program keeps changing it");
		worsen(task, CTL_FAILED);
	}
}

/* Looks up what is named. CTL_YES, or the status to exit with. */
static int
find_files(struct task *task)
{
	const struct client *client;
	struct nearest nearest = { .typed = SPAN_NONE };

	client = task->where != NULL ? client_named(task->where) : NULL;
	if (task->where == NULL || client != NULL) {
		clients_find(&task->files, client);
		if (task->files.count > 0)
			return CTL_YES;
		if (client == NULL)
			return ctl_no("no configuration of a client is here; see cancelctl wrap --help");
		return ctl_no("%s has no file here; see cancelctl wrap --list", client->name);
	}
	if (strchr(task->where, '/') != NULL || access(task->where, F_OK) == 0) {
		clients_add_named(&task->files, task->where);
		return CTL_YES;
	}
	nearest.typed = span_of(task->where);
	for (client = clients; client->id != NULL; client++)
		nearest_offer(&nearest, client->id);
	return ctl_no("'%.200s' is no client and no file%s%s; see cancelctl wrap --list", task->where,
	    nearest.name != NULL ? ": it could be " : "", nearest.name != NULL ? nearest.name : "");
}

#define USAGE_OF_BOTH \
	"  -a, --all      in the files of all clients found here\n" \
	"  -n, --dry-run  show the commands before and after, and change nothing\n" \
	"  -j, --json     one object a line\n\n" \
	"Clients:\n"

static const char usage_of_wrap[] = "usage: cancelctl wrap [--list] [-j]\n"
				    "       cancelctl wrap [-nj] CLIENT|FILE|-a [SERVER...] [-- OPTION...]\n\n"
				    "Puts canceld, with these options of its own, before the commands of the servers\n"
				    "in a client's configuration; cancelctl unwrap takes it out again.\n\n"
				    "  --list         the clients found here, and their servers\n" USAGE_OF_BOTH;

static const char usage_of_unwrap[] =
    "usage: cancelctl unwrap [-nj] CLIENT|FILE|-a [SERVER...]\n\n"
    "Takes out what cancelctl wrap has put before the servers' commands.\n\n" USAGE_OF_BOTH;

/* The words before --; those behind it are change->options already. -1: go on; else the exit status. */
static int
read_words(struct task *task, int argc, char *argv[])
{
	const struct ctl_option options[] = { { "list", 0, &task->list, NULL }, { "all", 'a', &task->all, NULL },
		{ "dry-run", 'n', &task->dry_run, NULL }, { "json", 'j', &task->json, NULL }, { 0 } };
	int status = ctl_options(argc, argv, options, false, task->change.unwrap ? usage_of_unwrap : usage_of_wrap);

	/* Then it has shown the usage. */
	for (const struct client *client = clients; status == CTL_YES && client->id != NULL; client++)
		printf("  %-15s %s\n", client->id, client->name);
	if (status >= 0)
		return status;
	if (!task->all && optind < argc)
		task->where = argv[optind++];
	task->change.names = argv + optind;
	task->change.name_count = (size_t)(argc - optind);
	return -1;
}

/* Without a client, a file or --all nothing is changed. */
static int
list(struct task *task)
{
	for (size_t i = 0; i < task->files.count; i++)
		list_file(task, &task->files.list[i]);
	if (!task->list)
		say(task, "To put canceld before them: cancelctl wrap CLIENT, or cancelctl wrap --all");
	return task->servers > 0 ? CTL_YES : CTL_NO;
}

static int
run(struct task *task)
{
	bool chosen = task->all || task->where != NULL, unwrap = task->change.unwrap;
	struct options parsed;
	int status;

	if (unwrap && task->list)
		return ctl_usage("the list is that of cancelctl wrap --list");
	if (unwrap && task->change.given)
		return ctl_usage("unwrap takes no options of canceld");
	if (unwrap && !chosen)
		return ctl_usage("which client? cancelctl unwrap CLIENT, FILE or --all; see cancelctl wrap --list");
	status = parse_options(&parsed, task->change.options);
	if (status == OPTIONS_RUN)
		status = configfile_load(&parsed);
	options_free(&parsed);
	if (status != OPTIONS_RUN)
		return CTL_USAGE;
	status = find_files(task);
	if (status != CTL_YES)
		return status;
	if (task->list || !chosen)
		return list(task);
	if (!unwrap && !program_canceld(task->canceld))
		return ctl_failed("canceld is neither beside cancelctl nor in PATH");
	task->change.canceld = task->canceld;
	task->seen = mem_new(task->change.name_count + 1);
	for (size_t i = 0; i < task->files.count; i++)
		do_file(task, &task->files.list[i]);
	for (size_t i = 0; i < task->change.name_count; i++)
		if (!task->seen[i])
			worsen(task,
			    ctl_no("no server '%.200s' there; see cancelctl wrap --list", task->change.names[i]));
	if (task->changed > 0)
		say(task, "Start the client again, so that it reads its file.");
	free(task->seen);
	return task->status;
}

/* argv is cut at the first --. */
int
ctl_wrap(int argc, char *argv[])
{
	struct task task = { .change = { .unwrap = strcmp(argv[0], "unwrap") == 0,
				 .options = (char *[]){ NULL },
				 .deadline = deadline_of } };
	int words = 1, status;

	while (words < argc && strcmp(argv[words], "--") != 0)
		words++;
	if (words < argc) {
		task.change.given = true;
		task.change.options = argv + words + 1;
		argv[words] = NULL;
	}
	status = read_words(&task, words, argv);
	if (status < 0)
		status = run(&task);
	client_files_free(&task.files);
	return status;
}
