#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/compose.h"
#include "shell/options.h"
#include "shell/words.h"

#define IN_HOME "~/.config/canceld/config.json"
#define SERVERS "servers"

enum { SIZE_MOST = 1 << 20 }; /* bytes of the file */

/* Whether nobody else could have written what is in the file. It decides what runs with this user's rights. */
static bool
is_trusted(int fd, struct options *scratch)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return options_fault(scratch, "%s", strerror(errno));
	if (!S_ISREG(status.st_mode))
		return options_fault(scratch, "it is no regular file");
	if (status.st_uid != geteuid() && status.st_uid != 0)
		return options_fault(scratch, "it belongs to another user");
	if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return options_fault(scratch, "others may write to it (mode %04o); chmod go-w",
		    (unsigned)(status.st_mode & 07777));
	return status.st_size <= SIZE_MOST || options_fault(scratch, "it is longer than 1 MiB");
}

/* {"METHOD[:NAME]": "DURATION"}; "*" alone is the rule without a METHOD. */
static bool
set_rules(struct options *options, const struct options_row *row, enum policy_source source, json_t *rules)
{
	const char *target;
	json_t *duration;

	json_object_foreach(rules, target, duration)
	{
		const char *text = json_string_value(duration);
		json_t *rule;
		bool fine;

		if (text == NULL || strchr(text, '=') != NULL)
			return options_fault(options, "%s.%s: want a duration in quotes, such as \"30s\"", row->name,
			    target);
		rule = strcmp(target, "*") == 0 ? json_string(text) : json_sprintf("%s=%s", target, text);
		fine = options_set(options, row, source, json_string_value(rule));
		json_decref(rule);
		if (!fine)
			return false;
	}
	return true;
}

static bool
set_value(struct options *options, const struct options_row *row, enum policy_source source, json_t *value)
{
	char *number;
	bool fine;

	if (row->kind == OPTION_RULE && json_is_object(value))
		return set_rules(options, row, source, value);
	if (!json_is_boolean(value) && !json_is_string(value) && !json_is_number(value))
		return options_fault(options, "%s: want a string, a number, true or false%s", row->name,
		    row->kind == OPTION_RULE ? ", or an object of METHOD[:NAME] and DURATION" : "");
	number = json_is_number(value) ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
	fine = options_set(options, row, source, number != NULL ? number : json_string_value(value));
	free(number);
	return fine;
}

static bool
refuse_key(struct options *scratch, const char *key, bool top)
{
	struct nearest nearest = { .typed = span_of(key) };

	for (const struct options_row *row = options_rows; row->help != NULL; row++)
		if (row->name != NULL && options_key(row->name) != NULL)
			nearest_offer(&nearest, row->name);
	if (top)
		nearest_offer(&nearest, SERVERS);
	return options_fault(scratch, "%s: unknown key%s%s", key, nearest.name != NULL ? "; it could be " : "",
	    nearest.name != NULL ? nearest.name : "");
}

/* Checks the file, or the section of that name, in options that nobody uses. */
static bool
check(struct options *scratch, json_t *object, const char *section)
{
	const char *key;
	json_t *value;

	if (section != NULL)
		options_fault(scratch, SERVERS ".%s%s", section, json_is_object(object) ? "." : ": ");
	if (!json_is_object(object))
		return options_fault(scratch, "want %s",
		    section != NULL ? "an object of options for the server" : "a JSON object");
	json_object_foreach(object, key, value)
	{
		const struct options_row *row = options_key(key);

		if (section == NULL && strcmp(key, SERVERS) == 0)
			continue;
		if (row == NULL)
			return refuse_key(scratch, key, section == NULL);
		if (!set_value(scratch, row, POLICY_FILE, value))
			return false;
	}
	scratch->fault[0] = '\0';
	return true;
}

/* Every section, whatever the server is: a fault shows when it is made, and not when it is met. */
static bool
check_all(struct options *scratch, json_t *root)
{
	json_t *servers = json_object_get(root, SERVERS), *section;
	bool fine = check(scratch, root, NULL);
	const char *name;

	if (fine && servers != NULL && !json_is_object(servers))
		return options_fault(scratch, SERVERS ": want an object of servers");
	json_object_foreach(servers, name, section)
	{
		fine = fine && (policy_allows(span_of(name)) || options_fault(scratch, SERVERS ": " POLICY_PATTERN)) &&
		    check(scratch, section, name);
	}
	return fine;
}

/* The whole file, not checked; it must be freed. NULL: there is none, and none is needed, or the fault tells why. */
static json_t *
parse(const struct options *options, struct options *scratch)
{
	int fd = open(options->config, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	json_error_t error;
	json_t *root = NULL;

	if (fd < 0) {
		if (options->file.named || (errno != ENOENT && errno != ENOTDIR))
			options_fault(scratch, "%s", strerror(errno));
		return NULL;
	}
	if (is_trusted(fd, scratch) && (root = json_loadfd(fd, JSON_REJECT_DUPLICATES, &error)) == NULL)
		options_fault(scratch, "line %d, column %d: %s", error.line, error.column, error.text);
	close(fd);
	return root;
}

/* Whether the pattern fits the words with a blank between them, with the directory of the first one or without it. */
static bool
fits_command(const char *pattern, char *const command[])
{
	const char *slash = strrchr(command[0], '/');
	size_t bare = slash != NULL ? (size_t)(slash + 1 - command[0]) : 0;
	struct buf line = { 0 };
	bool fits;

	for (size_t i = 0; command[i] != NULL; i++)
		compose(&line, i > 0 ? " %s" : "%s", command[i]);
	fits = policy_fits(pattern, buf_span(&line)) || policy_fits(pattern, span_from(buf_span(&line), bare));
	buf_free(&line);
	return fits;
}

/* The section of the server's very name; else the first one that fits its name or its command; NULL: none. */
static json_t *
choose_section(json_t *root, const struct options *options)
{
	const char *server = options->file.server;
	json_t *servers = json_object_get(root, SERVERS), *section = json_object_get(servers, server);
	const char *pattern;

	if (section != NULL)
		return section;
	json_object_foreach(servers, pattern, section)
	{
		if (policy_fits(pattern, span_of(server)) || fits_command(pattern, options->command))
			return section;
	}
	return NULL;
}

/* By key, an array: what the file says and the command line does not, or null; of rules, which all count, the section's too. */
static json_t *
choose_values(json_t *root, const struct options *options)
{
	json_t *section = choose_section(root, options), *values = json_object();

	for (const struct options_row *row = options_rows; row->help != NULL; row++) {
		json_t *first = json_object_get(root, row->name), *second = json_object_get(section, row->name), *value;

		if (row->kind == OPTION_RULE)
			value = json_pack("[O?O?]", first, second);
		else if (options_given(options, row))
			value = json_array();
		else
			value = json_pack("[O?]", second != NULL ? second : first);
		json_object_set_new(values, row->name, value);
	}
	return values;
}

/* What the file says for this server, the caller's; empty if there is no file. NULL: the file is refused; its fault tells. */
static json_t *
read_file(struct options *options)
{
	struct options scratch;
	json_t *root, *values = NULL;

	options_init(&scratch);
	root = parse(options, &scratch);
	if (root == NULL ? scratch.fault[0] == '\0' : check_all(&scratch, root))
		values = choose_values(root, options);
	memcpy(options->file.fault, scratch.fault, sizeof(scratch.fault));
	json_decref(root);
	options_free(&scratch);
	return values;
}

/* Sets what is in force for the option, which was checked before. false is the same as no key. */
static void
apply(struct options *options, const struct options_row *row)
{
	json_t *value;
	size_t i;

	json_array_foreach(json_object_get(options->file.in_force, row->name), i, value)
	{
		if (!json_is_null(value) && !json_is_false(value))
			set_value(options, row, i == 0 ? POLICY_FILE : POLICY_SECTION, value);
	}
	assert(options->fault[0] == '\0');
}

/* Checks what the options and the file say together, and carries out what one says about another. */
static int
settle(struct options *options)
{
	options->log.file = options->log_path[0] != '\0' ? options->log_path : NULL;
	if (options->log.payload && options->log.file == NULL)
		return options_refuse(options,
		    "--log-payload writes the text of messages, secrets too: name a file for it with --log");
	if (options->session.dry_run) {
		options->log.dry_run = true;
		options->session.ask_progress = options->session.legacy = false;
		options->session.kill_stuck = 0;
		options->restarts = 0;
	}
	return OPTIONS_RUN;
}

int
configfile_load(struct options *options)
{
	struct configfile *file = &options->file;

	file->named = options->config[0] != '\0';
	if (!file->named && !home_expand(IN_HOME, options->config, sizeof(options->config)))
		options->config[0] = '\0';
	snprintf(file->server, sizeof(file->server), "%s", options->name);
	file->in_force = read_file(options);
	if (file->in_force == NULL && file->named)
		return options_refuse(options, "--config '%s': %s", options->config, file->fault);
	if (file->in_force == NULL)
		file->in_force = choose_values(NULL, options);
	for (const struct options_row *row = options_rows; row->help != NULL; row++)
		apply(options, row);
	return settle(options);
}

void
configfile_report(const struct options *options, struct log *log)
{
	const char *fault = options->file.fault;

	if (fault[0] != '\0')
		log_event(log, WHY_CONFIG_REFUSED,
		    LOG_FIELDS(log_string("file", options->config), log_string("reason", fault)));
}

/* What counts at the next start stays out of force, so that the next reload tells of it again. */
json_t *
configfile_reload(struct options *options, struct log *log)
{
	struct configfile *file = &options->file;
	json_t *next = read_file(options), *keys[2];
	struct buf names[2] = { 0 };

	if (next == NULL) {
		configfile_report(options, log);
		return NULL;
	}
	keys[0] = json_array();
	keys[1] = json_array();
	policy_replace(&options->policy, NULL, POLICY_OPTION);
	for (const struct options_row *row = options_rows; row->help != NULL; row++) {
		json_t *after = json_object_get(next, row->name);
		bool changed = !json_equal(json_object_get(file->in_force, row->name), after) && after != NULL;
		bool at_once = row->kind == OPTION_RULE || row->kind == OPTION_LEVEL;

		if (changed) {
			json_array_append_new(keys[at_once], json_string(row->name));
			compose(&names[at_once], names[at_once].len > 0 ? ", %s" : "%s", row->name);
		}
		if (!at_once)
			continue;
		if (changed && row->kind == OPTION_LEVEL)
			options->log.level = LEVEL_PERSON;
		json_object_set(file->in_force, row->name, after);
		apply(options, row);
		if (changed && row->kind == OPTION_LEVEL)
			log->config.level = options->log.level;
	}
	json_decref(next);
	log_event(log, WHY_CONFIG_RELOADED,
	    LOG_FIELDS(log_string("file", options->config), log_text("changed", buf_span(&names[true])),
		log_text("at_next_start", buf_span(&names[false]))));
	buf_free(&names[0]);
	buf_free(&names[1]);
	return json_pack("{s:o,s:o}", "changed", keys[true], "at_next_start", keys[false]);
}
