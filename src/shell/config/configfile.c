#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/buf.h"
#include "shell/options.h"
#include "shell/words.h"

#define IN_HOME "~/.config/canceld/config.json"
#define SERVERS "servers"

enum { SIZE_MOST = 1 << 20 }; /* bytes of the file */

/* Always false: the caller's result. */
__attribute__((format(printf, 2, 3))) static bool
refuse(struct buf *fault, const char *format, ...)
{
	char words[1024];
	va_list values;

	va_start(values, format);
	vsnprintf(words, sizeof(words), format, values);
	va_end(values);
	buf_append(fault, span_of(words));
	return false;
}

/* Whether nobody else could have written what is in the file. It decides what runs with this user's rights. */
static bool
is_trusted(int fd, struct buf *fault)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return refuse(fault, "%s", strerror(errno));
	if (!S_ISREG(status.st_mode))
		return refuse(fault, "it is no regular file");
	if (status.st_uid != geteuid() && status.st_uid != 0)
		return refuse(fault, "it belongs to another user");
	if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return refuse(fault, "others may write to it (mode %04o); chmod go-w",
		    (unsigned)(status.st_mode & 07777));
	return status.st_size <= SIZE_MOST || refuse(fault, "it is longer than 1 MiB");
}

static bool
is_rules(const struct options_row *row)
{
	return row->kind == OPTION_IDLE || row->kind == OPTION_CAP;
}

/* {"METHOD[:NAME]": "DURATION"}; "*" alone is the rule without a METHOD. */
static bool
set_rules(struct options *options, const struct options_row *row, enum policy_source source, json_t *rules,
    struct buf *fault)
{
	const char *target;
	json_t *duration;
	bool fine = true;

	json_object_foreach(rules, target, duration)
	{
		const char *text = json_string_value(duration);
		bool all = strcmp(target, "*") == 0;
		json_t *rule;

		if (text == NULL || strchr(text, '=') != NULL)
			return refuse(fault, "%s.%s: want a duration in quotes, such as \"30s\"", row->name, target);
		rule = json_sprintf("%s%s%s", all ? "" : target, all ? "" : "=", text);
		fine = fine && options_set(options, row, source, json_string_value(rule), fault);
		json_decref(rule);
	}
	return fine;
}

static bool
set_value(struct options *options, const struct options_row *row, enum policy_source source, json_t *value,
    struct buf *fault)
{
	char *number;
	bool fine;

	if (is_rules(row) && json_is_object(value))
		return set_rules(options, row, source, value, fault);
	if (json_is_boolean(value) || json_is_string(value))
		return options_set(options, row, source, json_string_value(value), fault);
	if (!json_is_number(value))
		return refuse(fault, "%s: want a string, a number, true or false%s", row->name,
		    is_rules(row) ? ", or an object of METHOD[:NAME] and DURATION" : "");
	number = json_dumps(value, JSON_ENCODE_ANY);
	fine = options_set(options, row, source, number, fault);
	free(number);
	return fine;
}

static bool
refuse_key(const char *key, bool top, struct buf *fault)
{
	struct nearest nearest = { .typed = span_of(key) };

	for (const struct options_row *row = options_rows; row->help != NULL; row++)
		if (row->name != NULL && options_key(row->name) != NULL)
			nearest_offer(&nearest, row->name);
	if (top)
		nearest_offer(&nearest, SERVERS);
	return refuse(fault, "%s: unknown key%s%s", key, nearest.name != NULL ? "; it could be " : "",
	    nearest.name != NULL ? nearest.name : "");
}

/* Checks the settings of one object in options that nobody uses. name: the section, NULL: the top of the file. */
static bool
check_settings(json_t *object, const char *name, struct options *scratch, struct buf *fault)
{
	const struct options_row *row;
	const char *key;
	json_t *value;
	bool fine = true;

	if (name != NULL)
		refuse(fault, SERVERS ".%s.", name);
	json_object_foreach(object, key, value)
	{
		if (!fine || (name == NULL && strcmp(key, SERVERS) == 0))
			continue;
		row = options_key(key);
		fine = row != NULL ? set_value(scratch, row, POLICY_FILE, value, fault) :
				     refuse_key(key, name == NULL, fault);
	}
	if (fine)
		buf_clear(fault);
	return fine;
}

/* Checks every section, whatever the server is: a fault shows when it is made, and not when it is met. */
static bool
check(json_t *root, struct options *scratch, struct buf *fault)
{
	json_t *servers = json_object_get(root, SERVERS), *section;
	const char *name;

	if (!json_is_object(root))
		return refuse(fault, "want a JSON object");
	if (!check_settings(root, NULL, scratch, fault))
		return false;
	if (servers != NULL && !json_is_object(servers))
		return refuse(fault, SERVERS ": want an object of servers");
	json_object_foreach(servers, name, section)
	{
		if (!json_is_object(section))
			return refuse(fault, SERVERS ".%s: want an object of options for the server", name);
		if (!check_settings(section, name, scratch, fault))
			return false;
	}
	return true;
}

/* The whole file, not checked; it must be freed. NULL: fault tells why, or is empty if there is no file and none is needed. */
static json_t *
parse(const struct configfile *file, struct buf *fault)
{
	int fd = open(file->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	json_error_t error;
	json_t *root = NULL;

	if (fd < 0) {
		if (file->named || (errno != ENOENT && errno != ENOTDIR))
			refuse(fault, "%s", strerror(errno));
		return NULL;
	}
	if (is_trusted(fd, fault) && (root = json_loadfd(fd, JSON_REJECT_DUPLICATES, &error)) == NULL)
		refuse(fault, "line %d, column %d: %s", error.line, error.column, error.text);
	close(fd);
	return root;
}

/* Whether the pattern fits the words with a blank between them, with the directory of the first one or without it. */
static bool
fits_command(const char *pattern, char *const command[])
{
	const char *slash = strrchr(command[0], '/');
	size_t bare = slash != NULL ? (size_t)(slash + 1 - command[0]) : 0;
	struct buf line;
	bool fits;

	buf_init(&line);
	for (size_t i = 0; command[i] != NULL; i++) {
		buf_append(&line, i > 0 ? SPAN(" ") : SPAN_NONE);
		buf_append(&line, span_of(command[i]));
	}
	fits = policy_fits(pattern, buf_span(&line)) ||
	    policy_fits(pattern, span_part(buf_span(&line), bare, line.len - bare));
	buf_free(&line);
	return fits;
}

/* The section of the server's very name; else the first one that fits its name or its command; NULL: none. */
static json_t *
choose_section(json_t *root, const char *server, char *const command[])
{
	json_t *servers = json_object_get(root, SERVERS), *section = json_object_get(servers, server);
	const char *pattern;

	if (section != NULL)
		return section;
	json_object_foreach(servers, pattern, section)
	{
		if (policy_fits(pattern, span_of(server)) || fits_command(pattern, command))
			return section;
	}
	return NULL;
}

/* What the file says and the command line does not. Of rules all count: [the file's or null, the section's or null]. */
static json_t *
choose_values(json_t *root, const char *server, const struct options *options)
{
	json_t *section = choose_section(root, server, options->command), *values = json_object();

	for (const struct options_row *row = options_rows; row->help != NULL; row++) {
		json_t *first = json_object_get(root, row->name), *second = json_object_get(section, row->name);

		if (is_rules(row) && (first != NULL || second != NULL))
			json_object_set_new(values, row->name, json_pack("[O?O?]", first, second));
		else if (!is_rules(row) && !options_given(options, row))
			json_object_set(values, row->name, second != NULL ? second : first);
	}
	return values;
}

/* What the file says for this server, the caller's; empty if there is no file. NULL: the file is refused; fault tells. */
static json_t *
read_file(struct configfile *file, const struct options *options)
{
	struct options scratch;
	json_t *root, *values = NULL;

	buf_clear(&file->fault);
	options_init(&scratch);
	root = file->path[0] == '\0' ? NULL : parse(file, &file->fault);
	if (root != NULL ? check(root, &scratch, &file->fault) : file->fault.len == 0)
		values = choose_values(root, file->server, options);
	json_decref(root);
	options_free(&scratch);
	return values;
}

/* Sets what is in force for the option, which was checked before. false is the same as no key. */
static void
apply(const struct configfile *file, struct options *options, const struct options_row *row)
{
	json_t *value = json_object_get(file->in_force, row->name);
	struct buf fault;

	buf_init(&fault);
	for (size_t i = 0; i < json_array_size(value); i++)
		if (!json_is_null(json_array_get(value, i)))
			set_value(options, row, i == 0 ? POLICY_FILE : POLICY_SECTION, json_array_get(value, i),
			    &fault);
	if (value != NULL && !is_rules(row) && !json_is_false(value))
		set_value(options, row, POLICY_FILE, value, &fault);
	assert(fault.len == 0);
	buf_free(&fault);
}

/* Checks what the options and the file say together, and carries out what one says about another. */
static int
settle(struct options *options)
{
	options->log.file = options->log_path[0] != '\0' ? options->log_path : NULL;
	if (options->log.payload && options->log.file == NULL)
		return options_refuse(options,
		    "--log-payload writes the text of messages, secrets too: name a file for it with --log");
	if (!options->session.dry_run)
		return OPTIONS_RUN;
	options->log.dry_run = true;
	options->session.ask_progress = options->session.legacy = false;
	options->session.kill_stuck = 0;
	options->restarts = 0;
	return OPTIONS_RUN;
}

int
configfile_load(struct configfile *file, struct options *options)
{
	*file = (struct configfile){ .named = options->config[0] != '\0' };
	buf_init(&file->fault);
	if (!home_expand(file->named ? options->config : IN_HOME, file->path, sizeof(file->path)))
		file->path[0] = '\0';
	snprintf(file->server, sizeof(file->server), "%s", options->name);
	file->in_force = read_file(file, options);
	if (file->in_force == NULL && file->named)
		return options_refuse(options, "--config '%s': %.*s", file->path, (int)file->fault.len,
		    file->fault.data);
	if (file->in_force == NULL)
		file->in_force = json_object();
	for (const struct options_row *row = options_rows; row->help != NULL; row++)
		apply(file, options, row);
	return settle(options);
}

void
configfile_free(struct configfile *file)
{
	json_decref(file->in_force);
	buf_free(&file->fault);
}

void
configfile_report(const struct configfile *file, struct log *log)
{
	if (file->fault.len > 0)
		log_event(log, WHY_CONFIG_REFUSED,
		    LOG_FIELDS(log_string("file", file->path), log_text("reason", buf_span(&file->fault))));
}

/* Puts a value that counts at once in force; NULL: none. */
static void
take(struct configfile *file, struct options *options, struct log *log, const struct options_row *row, json_t *value)
{
	json_object_del(file->in_force, row->name);
	if (value != NULL)
		json_object_set(file->in_force, row->name, value);
	if (row->kind != OPTION_LEVEL)
		return;
	options->log.level = LEVEL_PERSON;
	apply(file, options, row);
	log->config.level = options->log.level;
}

/* Applies all rules of the file anew. */
static void
take_rules(struct configfile *file, struct options *options)
{
	policy_replace(&options->policy, NULL, POLICY_OPTION);
	for (const struct options_row *row = options_rows; row->help != NULL; row++)
		if (is_rules(row))
			apply(file, options, row);
}

static struct span
join(json_t *keys, struct buf *text)
{
	json_t *key;
	size_t i;

	json_array_foreach(keys, i, key)
	{
		buf_append(text, i > 0 ? SPAN(", ") : SPAN_NONE);
		buf_append(text, span_of(json_string_value(key)));
	}
	return buf_span(text);
}

/* What counts at the next start stays out of force, so that the next reload tells of it again. */
json_t *
configfile_reload(struct configfile *file, struct options *options, struct log *log)
{
	json_t *next = read_file(file, options), *changed, *later;
	struct buf texts[2] = { 0 };

	if (next == NULL) {
		configfile_report(file, log);
		return NULL;
	}
	changed = json_array();
	later = json_array();
	for (const struct options_row *row = options_rows; row->help != NULL; row++) {
		json_t *before = json_object_get(file->in_force, row->name), *after = json_object_get(next, row->name);
		bool at_once = is_rules(row) || row->kind == OPTION_LEVEL;

		if (before == after || json_equal(before, after))
			continue;
		json_array_append_new(at_once ? changed : later, json_string(row->name));
		if (at_once)
			take(file, options, log, row, after);
	}
	take_rules(file, options);
	json_decref(next);
	log_event(log, WHY_CONFIG_RELOADED,
	    LOG_FIELDS(log_string("file", file->path), log_text("changed", join(changed, &texts[0])),
		log_text("at_next_start", join(later, &texts[1]))));
	buf_free(&texts[0]);
	buf_free(&texts[1]);
	return json_pack("{s:o,s:o}", "changed", changed, "at_next_start", later);
}
