#include "ctl/wrap.h"

#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/dialect.h"
#include "core/mem.h"
#include "core/utf8.h"
#include "ctl/change.h"
#include "ctl/ctl.h"
#include "ctl/diff.h"
#include "ctl/found.h"
#include "ctl/hide.h"
#include "ctl/jsonc.h"
#include "ctl/program.h"
#include "ctl/replace.h"
#include "ctl/running.h"
#include "shell/command.h"
#include "shell/configfile.h"
#include "shell/nearest.h"
#include "shell/options.h"
#include "shell/printable.h"

enum { TRIES = 3 }; /* while another program writes the file */

/* One call of wrap or unwrap. */
struct task {
	struct change change; /* its client is set for each file */
	bool list, all, dry_run, json, help;
	const char *where; /* a client or a file; NULL: none is named */
	struct client_files files;
	bool *seen; /* of the names: there is such a server */
	char canceld[PROGRAM_SIZE];
	size_t changed; /* files */
	int status;
};

/* A failure is worth more than a no. */
static void
worsen(struct task *task, int status)
{
	if (task->status != CTL_FAILED && status != CTL_YES)
		task->status = status;
}

static const char *
outcome_word(enum outcome_kind kind)
{
	switch (kind) {
	case OUTCOME_WRAPPED:
		return "wrapped";
	case OUTCOME_REWRAPPED:
		return "wrapped anew";
	case OUTCOME_ALREADY:
		return "already wrapped";
	case OUTCOME_UNWRAPPED:
		return "unwrapped";
	case OUTCOME_NOT_WRAPPED:
		return "not wrapped";
	case OUTCOME_LEFT:
		break;
	}
	return "left alone";
}

/*
 * canceld's deadline of a tool call, with these options, which were checked or are an older canceld's, and with what its
 * configuration file says for all servers. 0: canceld refuses them.
 */
static msec_t
deadline_of(char *const options[])
{
	const struct span method = SPAN("tools/call");
	struct deadlines deadlines = { 0 };
	struct configfile file = { 0 };
	struct options parsed;
	size_t count = 0;
	char **argv;

	while (options[count] != NULL)
		count++;
	argv = mem_resize(NULL, count + 4, sizeof(*argv));
	argv[0] = (char[]){ "canceld" };
	memcpy(argv + 1, options, count * sizeof(*argv));
	argv[count + 1] = (char[]){ "--" };
	argv[count + 2] = (char[]){ "true" };
	argv[count + 3] = NULL;
	if (options_parse(&parsed, (int)count + 3, argv) == OPTIONS_RUN &&
	    configfile_load(&file, &parsed) == OPTIONS_RUN)
		deadlines =
		    policy_deadlines(&parsed.policy, method, SPAN_NONE, dialect_method(&dialect_mcp, method), false);
	configfile_free(&file);
	options_free(&parsed);
	free(argv);
	return deadlines.idle;
}

/* A duration as the option -t takes it. */
static const char *
duration(msec_t time, char text[32])
{
	static const struct {
		msec_t unit;
		const char *name;
	} units[] = { { 3600000, "h" }, { 60000, "m" }, { 1000, "s" }, { 1, "ms" } };
	size_t i = 0;

	while (time % units[i].unit != 0)
		i++;
	snprintf(text, 32, "%" PRId64 "%s", time / units[i].unit, units[i].name);
	return text;
}

/* What a client that gives up first makes of canceld's deadline. */
static void
warn_limit(const struct client *client, const struct outcome *outcome)
{
	char first[32], second[32];
	msec_t deadline;

	if (outcome->options == NULL || outcome->limit == MSEC_NEVER || outcome->kind == OUTCOME_LEFT)
		return;
	deadline = deadline_of(outcome->options);
	if (deadline == MSEC_NEVER)
		snprintf(second, sizeof(second), "none");
	else
		duration(deadline, second);
	if (deadline > 0 && outcome->limit <= deadline)
		found_say("  note: %s: %s itself gives up after %s, before canceld's deadline for tools/call (%s): "
			  "give it more time there, or canceld less with -t",
		    outcome->name, client->name, duration(outcome->limit, first), second);
}

static void
put_outcome(const struct task *task, const struct client_file *file, const struct outcome *outcome)
{
	const bool change = task->dry_run &&
	    (outcome->kind == OUTCOME_WRAPPED || outcome->kind == OUTCOME_REWRAPPED ||
		outcome->kind == OUTCOME_UNWRAPPED);
	json_t *object;

	if (!task->json) {
		found_say("  %s: %s%s%s%s", outcome->name, change ? "would be " : "", outcome_word(outcome->kind),
		    outcome->why != NULL ? ": " : "", outcome->why != NULL ? outcome->why : "");
		if (outcome->kind == OUTCOME_LEFT && outcome->named)
			found_say("    line %zu of the file", outcome->line);
		warn_limit(file->client, outcome);
		return;
	}
	object = json_pack("{s:s, s:o, s:s, s:s, s:b}", "client", file->client->id, "file",
	    printable_json(span_of(file->path), false), "server", outcome->name, "result", outcome_word(outcome->kind),
	    "dry_run", task->dry_run);
	if (outcome->why != NULL)
		json_object_set_new(object, "why", json_string(outcome->why));
	if (outcome->limit != MSEC_NEVER)
		json_object_set_new(object, "client_timeout_ms", json_integer(outcome->limit));
	json_dumpf(object, stdout, JSON_COMPACT);
	fputs("\n", stdout);
	json_decref(object);
}

/* What a person writes instead, where a file is not edited. */
static void
put_lines(const struct task *task, const struct client *client)
{
	struct buf options;

	buf_init(&options);
	for (size_t i = 0; i < task->change.option_count; i++) {
		jsonc_quote(&options, span_of(task->change.options[i]));
		buf_append(&options, SPAN(", "));
	}
	found_say("  put this there by hand, with the server's own COMMAND and ARGUMENTS:");
	switch (client->syntax) {
	case CLIENT_YAML:
		found_say("    cmd: %s", task->canceld);
		break;
	case CLIENT_TOML:
		found_say("    command = \"%s\"", task->canceld);
		break;
	case CLIENT_JSONC:
		found_say("    \"command\": \"%s\",", task->canceld);
		break;
	}
	found_say("    %s [%.*s\"--\", COMMAND, ARGUMENTS...]",
	    client->syntax == CLIENT_YAML     ? "args:" :
		client->syntax == CLIENT_TOML ? "args =" :
						"\"args\":",
	    (int)options.len, buf_span(&options).ptr);
	buf_free(&options);
}

/* A file that is left alone. */
static void
leave_file(struct task *task, const struct client_file *file, const char *why)
{
	json_t *object;

	/* What is never edited is no failure to wrap all, and needs no unwrap. */
	if (file->client->syntax != CLIENT_YAML || !(task->all || task->change.unwrap))
		worsen(task, CTL_NO);
	if (!task->json) {
		found_say("  left alone: %s", why);
		return;
	}
	object = json_pack("{s:s, s:o, s:s, s:o}", "client", file->client->id, "file",
	    printable_json(span_of(file->path), false), "result", "left alone", "why",
	    printable_json(span_of(why), false));
	json_dumpf(object, stdout, JSON_COMPACT);
	fputs("\n", stdout);
	json_decref(object);
}

static bool
is_change(const struct outcome *outcome)
{
	return outcome->kind == OUTCOME_WRAPPED || outcome->kind == OUTCOME_REWRAPPED ||
	    outcome->kind == OUTCOME_UNWRAPPED;
}

/* The command of the client's own that does to one server what was not done. */
static void
put_command(const struct doc *doc, const struct doc_node *server)
{
	const struct entry entry = entry_read(doc, server);
	const struct doc_node *variables = doc_member(doc, server, SPAN("env"));
	bool everywhere = server->parent->parent == doc->root;
	struct buf words, name;

	buf_init(&words);
	buf_init(&name);
	command_append_quoted(&name, doc_name(doc, server));
	for (const struct doc_node *node = variables != NULL ? variables->first : NULL; node != NULL;
	     node = node->next) {
		buf_append(&words, SPAN("-e "));
		command_append_quoted(&words, doc_name(doc, node));
		buf_append(&words, SPAN("=... "));
	}
	buf_append(&words, SPAN("-- "));
	found_append_words(&words, doc, &entry, entry_first_word(&entry, false), NULL);
	found_say("    claude mcp remove -s %s %.*s && claude mcp add -s %s %.*s %.*s", everywhere ? "user" : "local",
	    (int)name.len, name.data, everywhere ? "user" : "local", (int)name.len, name.data, (int)words.len,
	    words.data);
	if (!everywhere)
		found_say("      (in %.*s)", (int)server->parent->parent->name_len,
		    doc_name(doc, server->parent->parent).ptr);
	buf_free(&words);
	buf_free(&name);
}

/* after: the text that the file should have had. */
static void
leave_in_use(struct task *task, const struct client_file *file, const struct outcomes *outcomes, struct span after)
{
	struct client_servers servers = { 0 };
	const struct outcome *outcome = outcomes->list;
	struct doc doc;

	leave_file(task, file,
	    "the client is running, and would write over it: end it first, or let it do this itself:");
	if (!task->json && change_read(file->client, &doc, after) == 0) {
		client_servers(file->client, &doc, &servers);
		for (size_t i = 0; i < servers.count && outcome < outcomes->list + outcomes->count; i++) {
			struct buf shown;

			buf_init(&shown);
			printable_append(&shown, doc_name(&doc, servers.list[i]), "");
			if (span_equal(buf_span(&shown), span_of(outcome->name)) && is_change(outcome++))
				put_command(&doc, servers.list[i]);
			buf_free(&shown);
		}
		free(servers.list);
		doc_free(&doc);
	}
}

static bool
has_name(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return strcmp(slash != NULL ? slash + 1 : path, name) == 0;
}

/* real: its path without symbolic links. */
static bool
is_in_use(const struct client_file *file, const char *real)
{
	const char *name = file->client->in_use_file;

	return name != NULL && (has_name(file->path, name) || has_name(real, name)) &&
	    running(file->client->in_use, client_home());
}

/* A text of the file without its secrets. */
static void
hide(const struct client_file *file, struct span text, struct buf *out)
{
	struct doc doc;

	if (change_read(file->client, &doc, text) == 0)
		hide_append(out, &doc);
	doc_free(&doc);
}

/* Bytes that a terminal would obey are escaped for it only: patch(1) wants them as they are. */
static void
put_diff(const struct client_file *file, struct span before, struct span after)
{
	struct buf diff, shown, texts[2];
	struct span rest;

	buf_init(&diff);
	buf_init(&shown);
	buf_init(&texts[0]);
	buf_init(&texts[1]);
	hide(file, before, &texts[0]);
	hide(file, after, &texts[1]);
	diff_append(&diff, file->path, buf_span(&texts[0]), buf_span(&texts[1]));
	for (rest = buf_span(&diff); rest.len > 0 && isatty(STDOUT_FILENO);) {
		size_t len = 0;

		while (len < rest.len && rest.ptr[len] != '\n' && rest.ptr[len] != '\t')
			len++;
		printable_append(&shown, span_part(rest, 0, len), "");
		len += len < rest.len;
		buf_append(&shown, span_part(rest, len - 1, len > 0 && rest.ptr[len - 1] < ' '));
		rest = span_part(rest, len, rest.len - len);
	}
	fwrite(shown.len > 0 ? shown.data : buf_span(&diff).ptr, 1, shown.len > 0 ? shown.len : diff.len, stdout);
	buf_free(&texts[0]);
	buf_free(&texts[1]);
	buf_free(&shown);
	buf_free(&diff);
}

static void
put_outcomes(struct task *task, const struct client_file *file, const struct outcomes *outcomes)
{
	for (size_t i = 0; i < outcomes->count; i++) {
		put_outcome(task, file, &outcomes->list[i]);
		/* What unwrap leaves would fail to start once canceld is gone. */
		if (outcomes->list[i].kind == OUTCOME_LEFT && (outcomes->list[i].named || task->change.unwrap))
			worsen(task, CTL_NO);
	}
	if (outcomes->count == 0 && !task->json && task->change.name_count == 0)
		found_say("  no servers");
}

/* Writes the new text. 1: the file was changed meanwhile. */
static int
write_file(struct task *task, const struct client_file *file, struct replace *contents, struct span after)
{
	const char *home = client_home();
	size_t size = strlen(home) + sizeof("/.local/state/canceld/backups");
	char *state = mem_new(size);
	int result;

	snprintf(state, size, "%s/.local/state/canceld/backups", home);
	result = replace_write(contents, after, state);
	free(state);
	if (result == -1) {
		leave_file(task, file, contents->fault);
		worsen(task, CTL_FAILED);
	} else if (result == 0) {
		task->changed++;
	}
	return result;
}

/* Shows the change, or makes it. 1: the file was changed meanwhile. */
static int
change_file(struct task *task, const struct client_file *file, struct replace *contents,
    const struct outcomes *outcomes, struct span after)
{
	int result = 0;

	if (replace_check(contents) == -1) {
		leave_file(task, file, contents->fault);
	} else if (task->dry_run) {
		if (!task->json)
			put_diff(file, buf_span(&contents->text), after);
		put_outcomes(task, file, outcomes);
	} else if (is_in_use(file, contents->path)) {
		leave_in_use(task, file, outcomes, after);
	} else if ((result = write_file(task, file, contents, after)) == 0) {
		put_outcomes(task, file, outcomes);
		if (!task->json)
			found_say("  backup: %s", contents->backup);
		if (!task->json && file->project && !task->change.unwrap)
			found_say("  note: whoever else uses this file of the project needs canceld at the same path");
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
		if (!task->json && !task->change.unwrap)
			put_lines(task, file->client);
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

	if (!task->json)
		found_say("%s: %s", file->client->name, file->path);
	for (int i = 0; i < TRIES && result == 1; i++)
		result = try_file(task, file);
	if (result == 1) {
		leave_file(task, file, "another program keeps changing it");
		worsen(task, CTL_FAILED);
	}
}

/* A file that is named; of the project here it is also without its client's name. */
static void
add_file(struct task *task, const char *path)
{
	struct client_files found = { 0 };
	bool project = false;

	clients_find(&found, NULL);
	for (size_t i = 0; i < found.count; i++)
		project |= found.list[i].project &&
		    (strcmp(found.list[i].path, path) == 0 || strcmp(found.list[i].path + strlen("./"), path) == 0);
	client_files_free(&found);
	clients_add(&task->files, client_of_file(path), path, project);
}

/* Looks up what is named. CTL_YES, or the status to exit with. */
static int
find_files(struct task *task)
{
	const struct client *client;
	struct nearest nearest;

	if (task->where == NULL) {
		clients_find(&task->files, NULL);
		return CTL_YES;
	}
	client = client_named(task->where);
	if (client != NULL) {
		clients_find(&task->files, client);
		return task->files.count > 0 ? CTL_YES :
					       ctl_no("%s has no file here; see cancelctl wrap --list", client->name);
	}
	if (strchr(task->where, '/') != NULL || access(task->where, F_OK) == 0) {
		add_file(task, task->where);
		return CTL_YES;
	}
	nearest_init(&nearest, span_of(task->where));
	for (client = clients; client->id != NULL; client++)
		nearest_offer(&nearest, client->id);
	return ctl_usage("'%.200s' is no client and no file%s%s; see cancelctl wrap --list", task->where,
	    nearest.name != NULL ? ": it could be " : "", nearest.name != NULL ? nearest.name : "");
}

/* What stands behind --, for canceld. */
static int
check_options(const struct task *task)
{
	const struct change *change = &task->change;
	struct options parsed;
	char **argv = mem_new((change->option_count + 4) * sizeof(*argv));
	int status = CTL_YES, result;

	for (size_t i = 0; i < change->option_count && status == CTL_YES; i++) {
		struct span word = span_of(change->options[i]);
		size_t at = 0, len;

		while (at < word.len && (len = utf8_length(word, at)) > 0)
			at += len;
		if (at < word.len)
			status = ctl_usage("option %zu of canceld is not UTF-8", i + 1);
		if (strcmp(word.ptr, "--") == 0)
			status = ctl_usage(
			    "only options of canceld follow --; the server's command is in the client's file");
		argv[i + 1] = change->options[i];
	}
	argv[0] = (char[]){ "canceld" };
	argv[change->option_count + 1] = (char[]){ "--" };
	argv[change->option_count + 2] = (char[]){ "true" };
	if (status == CTL_YES) {
		result = options_parse(&parsed, (int)change->option_count + 3, argv);
		if (result != OPTIONS_RUN)
			status = CTL_USAGE;
		else if (strcmp(parsed.command[0], "true") != 0 || parsed.command[1] != NULL)
			status =
			    ctl_usage("'%.200s' is no option of canceld; the server's command is in the client's file",
				parsed.command[0]);
		options_free(&parsed);
	}
	free(argv);
	return status;
}

static const struct option names[] = {
	{ "list", no_argument, NULL, 'l' },
	{ "all", no_argument, NULL, 'a' },
	{ "dry-run", no_argument, NULL, 'n' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* The words before --; those behind it are change->options already. */
static int
read_words(struct task *task, int argc, char *argv[])
{
	int option;

	optind = 0;
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":ajnh", names, NULL)) != -1) {
		task->list |= option == 'l';
		task->all |= option == 'a';
		task->dry_run |= option == 'n';
		task->json |= option == 'j';
		task->help |= option == 'h';
		if (option == '?' || option == ':')
			return ctl_option(argv, option);
	}
	if (task->list && task->change.unwrap)
		return ctl_usage("the list is that of cancelctl wrap --list");
	if (!task->all && optind < argc)
		task->where = argv[optind++];
	task->change.names = argv + optind;
	task->change.name_count = (size_t)(argc - optind);
	return CTL_YES;
}

static int
help(bool unwrap)
{
	if (unwrap) {
		puts("usage: cancelctl unwrap [-nj] CLIENT|FILE|-a [SERVER...]\n\n"
		     "Takes out what cancelctl wrap has put before the servers' commands.\n");
	} else {
		puts("usage: cancelctl wrap [--list] [-j]\n"
		     "       cancelctl wrap [-nj] CLIENT|FILE|-a [SERVER...] [-- OPTION...]\n\n"
		     "Puts canceld, with these options of its own, before the commands of the servers\n"
		     "in a client's configuration; cancelctl unwrap takes it out again.\n\n"
		     "  --list         the clients found here, and their servers");
	}
	puts("  -a, --all      in the files of all clients found here\n"
	     "  -n, --dry-run  show the change as a diff, and change nothing\n"
	     "  -j, --json     one object a line\n\n"
	     "Clients:");
	for (const struct client *client = clients; client->id != NULL; client++)
		printf("  %-15s %s\n", client->id, client->name);
	return CTL_YES;
}

static void
report_missing(struct task *task)
{
	for (size_t i = 0; i < task->change.name_count; i++)
		if (!task->seen[i])
			worsen(task,
			    ctl_no("no server '%.200s' there; see cancelctl wrap --list", task->change.names[i]));
}

/* Without a client, a file or --all nothing is changed. */
static int
list(struct task *task)
{
	size_t count = found_list(&task->files, task->json);

	if (!task->list && !task->json)
		puts("\nTo put canceld before them: cancelctl wrap CLIENT, or cancelctl wrap --all");
	return count > 0 ? CTL_YES : CTL_NO;
}

static int
run(struct task *task)
{
	bool chosen = task->all || task->where != NULL;
	int status = task->change.given ? check_options(task) : CTL_YES;

	if (status == CTL_YES && !chosen && task->change.unwrap)
		status = ctl_usage("which client? cancelctl unwrap CLIENT, FILE or --all; see cancelctl wrap --list");
	if (status == CTL_YES)
		status = find_files(task);
	if (status != CTL_YES)
		return status;
	if (task->files.count == 0)
		return ctl_no("no configuration of a client is here; see cancelctl wrap --help");
	if (task->list || !chosen)
		return list(task);
	if (!task->change.unwrap && !program_canceld(task->canceld))
		return ctl_failed("canceld is neither beside cancelctl nor in PATH");
	task->change.canceld = task->canceld;
	task->seen = mem_new(task->change.name_count + 1);
	for (size_t i = 0; i < task->files.count; i++)
		do_file(task, &task->files.list[i]);
	report_missing(task);
	if (task->changed > 0 && !task->json)
		puts("Start the client again, so that it reads its file.");
	free(task->seen);
	return task->status;
}

/* argv is cut at the first --. */
static int
start(bool unwrap, int argc, char *argv[])
{
	struct task *task = mem_new(sizeof(*task));
	int words = 1, status;

	while (words < argc && strcmp(argv[words], "--") != 0)
		words++;
	task->change.unwrap = unwrap;
	if (words < argc) {
		task->change.given = true;
		task->change.options = argv + words + 1;
		task->change.option_count = (size_t)(argc - words - 1);
		argv[words] = NULL;
	}
	status = read_words(task, words, argv);
	if (status == CTL_YES && unwrap && task->change.given)
		status = ctl_usage("unwrap takes no options of canceld");
	if (status == CTL_YES)
		status = task->help ? help(unwrap) : run(task);
	client_files_free(&task->files);
	free(task);
	return status;
}

int
ctl_wrap(int argc, char *argv[])
{
	return start(false, argc, argv);
}

int
ctl_unwrap(int argc, char *argv[])
{
	return start(true, argc, argv);
}
