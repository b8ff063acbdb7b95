#include "shell/configfile.h"

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

/* One option, set from a value that is no object of rules. */
static bool
set_plain(struct options *options, const char *key, enum policy_source source, const json_t *value, struct buf *fault)
{
	bool fine, rules = options_key(key) == KEY_RULES;
	char *text;

	if (json_is_boolean(value))
		return options_set(options, key, source, NULL, fault);
	if (json_is_string(value))
		return options_set(options, key, source, json_string_value(value), fault);
	if (!json_is_number(value))
		return refuse(fault, "%s: want a string, a number, true or false%s", key,
		    rules ? ", or an object of METHOD[:NAME] and DURATION" : "");
	text = json_dumps(value, JSON_ENCODE_ANY);
	fine = options_set(options, key, source, text, fault);
	free(text);
	return fine;
}

/* {"METHOD[:NAME]": "DURATION"}; "*" alone is the rule without a METHOD. */
static bool
set_rule(struct options *options, const char *key, enum policy_source source, const char *target, const json_t *value,
    struct buf *fault)
{
	const char *duration = json_string_value(value);
	bool all = strcmp(target, "*") == 0, fine;
	struct buf rule;

	if (duration == NULL || strchr(duration, '=') != NULL)
		return refuse(fault, "%s.%s: want a duration in quotes, such as \"30s\"", key, target);
	buf_init(&rule);
	buf_append(&rule, span_of(all ? "" : target));
	buf_append(&rule, span_of(all ? "" : "="));
	buf_append(&rule, span_of(duration));
	buf_append(&rule, SPAN("\0"));
	fine = options_set(options, key, source, rule.data, fault);
	buf_free(&rule);
	return fine;
}

static bool
set_value(struct options *options, const char *key, enum policy_source source, json_t *value, struct buf *fault)
{
	const char *target;
	json_t *duration;

	if (!json_is_object(value) || options_key(key) != KEY_RULES)
		return set_plain(options, key, source, value, fault);
	json_object_foreach(value, target, duration)
	{
		if (!set_rule(options, key, source, target, duration, fault))
			return false;
	}
	return true;
}

static bool
refuse_key(const char *key, bool top, struct buf *fault)
{
	const struct options_row *row;
	struct nearest nearest;

	nearest_init(&nearest, span_of(key));
	for (row = options_rows; row->help != NULL; row++)
		if (row->key != KEY_UNKNOWN && row->name != NULL)
			nearest_offer(&nearest, row->name);
	if (top)
		nearest_offer(&nearest, SERVERS);
	return refuse(fault, "%s: unknown key%s%s", key, nearest.name != NULL ? "; it could be " : "",
	    nearest.name != NULL ? nearest.name : "");
}

/* Checks the settings of one object, the top of the file or a section, in options that nobody uses. */
static bool
check_settings(json_t *object, bool top, struct options *scratch, struct buf *fault)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value)
	{
		if (top && strcmp(key, SERVERS) == 0)
			continue;
		if (options_key(key) == KEY_UNKNOWN)
			return refuse_key(key, top, fault);
		if (!set_value(scratch, key, POLICY_FILE, value, fault))
			return false;
	}
	return true;
}

/* Checks every section, whatever the server is: a fault shows when it is made, and not when it is met. */
static bool
check_sections(json_t *servers, struct options *scratch, struct buf *fault)
{
	struct buf inside;
	const char *name;
	json_t *section;

	if (servers != NULL && !json_is_object(servers))
		return refuse(fault, SERVERS ": want an object of servers");
	json_object_foreach(servers, name, section)
	{
		if (!json_is_object(section))
			return refuse(fault, SERVERS ".%s: want an object of options for the server", name);
		buf_init(&inside);
		if (!check_settings(section, false, scratch, &inside))
			refuse(fault, SERVERS ".%s.%.*s", name, (int)inside.len, inside.data);
		buf_free(&inside);
		if (fault->len > 0)
			return false;
	}
	return true;
}

static bool
check(json_t *root, struct buf *fault)
{
	struct options *scratch;
	bool fine;

	if (!json_is_object(root))
		return refuse(fault, "want a JSON object");
	scratch = mem_new(sizeof(*scratch));
	options_init(scratch);
	fine = check_settings(root, true, scratch, fault) &&
	    check_sections(json_object_get(root, SERVERS), scratch, fault);
	options_free(scratch);
	free(scratch);
	return fine;
}

/* The whole file, checked; it must be freed. NULL: fault tells why, or is empty if there is no file and none is needed. */
static json_t *
parse(const struct configfile *file, struct buf *fault)
{
	int fd = open(file->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	FILE *stream = fd < 0 ? NULL : fdopen(fd, "r");
	json_error_t error;
	json_t *root;

	if (stream == NULL) {
		if (file->named || (errno != ENOENT && errno != ENOTDIR))
			refuse(fault, "%s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	if (!is_trusted(fd, fault)) {
		fclose(stream);
		return NULL;
	}
	root = json_loadf(stream, JSON_REJECT_DUPLICATES, &error);
	fclose(stream);
	if (root == NULL)
		refuse(fault, "line %d, column %d: %s", error.line, error.column, error.text);
	if (root != NULL && check(root, fault))
		return root;
	json_decref(root);
	return NULL;
}

/* The words of the command with a blank between them; bare: the first one without its directory. */
static void
join(char *const command[], bool bare, struct buf *line)
{
	const char *slash = strrchr(command[0], '/');

	buf_append(line, span_of(bare && slash != NULL ? slash + 1 : command[0]));
	for (size_t i = 1; command[i] != NULL; i++) {
		buf_append(line, SPAN(" "));
		buf_append(line, span_of(command[i]));
	}
}

static bool
fits_command(const char *pattern, char *const command[])
{
	struct buf whole, bare;
	bool fits;

	buf_init(&whole);
	buf_init(&bare);
	join(command, false, &whole);
	join(command, true, &bare);
	fits = policy_fits(pattern, buf_span(&whole)) || policy_fits(pattern, buf_span(&bare));
	buf_free(&whole);
	buf_free(&bare);
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

/* Adds what the object says and the command line does not. Of a rule both sources are kept: [the file's, the section's]. */
static void
merge(json_t *object, enum policy_source source, const struct options *options, json_t *merged)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value)
	{
		if (strcmp(key, SERVERS) == 0)
			continue;
		if (options_key(key) != KEY_RULES) {
			if (!options_given(options, key))
				json_object_set(merged, key, value);
			continue;
		}
		if (json_object_get(merged, key) == NULL)
			json_object_set_new(merged, key, json_pack("[nn]"));
		json_array_set(json_object_get(merged, key), source == POLICY_FILE ? 0 : 1, value);
	}
}

/* What the file says for this server, the caller's; empty if there is no file. NULL: the file is refused; fault tells. */
static json_t *
read_file(struct configfile *file, const struct options *options)
{
	json_t *root, *merged;

	buf_clear(&file->fault);
	root = file->path[0] == '\0' ? NULL : parse(file, &file->fault);
	if (file->fault.len > 0)
		return NULL;
	merged = json_object();
	merge(root, POLICY_FILE, options, merged);
	merge(choose_section(root, file->server, options->command), POLICY_SECTION, options, merged);
	json_decref(root);
	return merged;
}

/* Sets the key's value, which was checked before. false is the same as no key. */
static void
apply(struct options *options, const char *key, json_t *value)
{
	bool rules = options_key(key) == KEY_RULES;
	json_t *file = rules ? json_array_get(value, 0) : value, *section = rules ? json_array_get(value, 1) : NULL;
	struct buf fault;

	buf_init(&fault);
	if (!json_is_null(file) && !json_is_false(file))
		set_value(options, key, POLICY_FILE, file, &fault);
	if (rules && !json_is_null(section))
		set_value(options, key, POLICY_SECTION, section, &fault);
	assert(fault.len == 0);
	buf_free(&fault);
}

int
configfile_load(struct configfile *file, struct options *options)
{
	const char *key;
	json_t *value;

	*file = (struct configfile){ .named = options->config[0] != '\0' };
	buf_init(&file->fault);
	if (file->named)
		snprintf(file->path, sizeof(file->path), "%s", options->config);
	else if (!home_expand(IN_HOME, file->path, sizeof(file->path)))
		file->path[0] = '\0';
	snprintf(file->server, sizeof(file->server), "%s", options->name);
	file->in_force = read_file(file, options);
	if (file->in_force == NULL && file->named)
		return options_refuse(options, "--config '%s': %.*s", file->path, (int)file->fault.len,
		    file->fault.data);
	if (file->in_force == NULL)
		file->in_force = json_object();
	json_object_foreach(file->in_force, key, value)
	{
		apply(options, key, value);
	}
	return OPTIONS_RUN;
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

static void
note_change(json_t *result, const char *key)
{
	const char *list = options_key(key) == KEY_START ? "at_next_start" : "changed";

	json_array_append_new(json_object_get(result, list), json_string(key));
}

/* {"changed":[..],"at_next_start":[..]}: the keys whose values are others, or that are in one of the objects only. */
static json_t *
compare(json_t *before, json_t *after)
{
	json_t *result = json_pack("{s:[],s:[]}", "changed", "at_next_start"), *value;
	const char *key;

	json_object_foreach(after, key, value)
	{
		if (!json_equal(value, json_object_get(before, key)))
			note_change(result, key);
	}
	json_object_foreach(before, key, value)
	{
		if (json_object_get(after, key) == NULL)
			note_change(result, key);
	}
	return result;
}

static void
take_level(struct configfile *file, struct options *options, struct log *log)
{
	json_t *level = json_object_get(file->in_force, "log-level"), *usual = json_string("person");

	apply(options, "log-level", level != NULL ? level : usual);
	json_decref(usual);
	log_set_level(log, options->log.level);
}

/* Puts the changed values in force. The others stay, so that the next reload tells of them again. */
static void
take(struct configfile *file, struct options *options, struct log *log, json_t *next, json_t *changed)
{
	json_t *name, *value;
	const char *key;
	size_t i;

	json_array_foreach(changed, i, name)
	{
		key = json_string_value(name);
		if ((value = json_object_get(next, key)) != NULL)
			json_object_set(file->in_force, key, value);
		else
			json_object_del(file->in_force, key);
		if (options_key(key) == KEY_LEVEL)
			take_level(file, options, log);
	}
	policy_forget(&options->policy, POLICY_OPTION);
	json_object_foreach(file->in_force, key, value)
	{
		if (options_key(key) == KEY_RULES)
			apply(options, key, value);
	}
}

static void
append_list(struct buf *text, json_t *keys)
{
	json_t *key;
	size_t i;

	json_array_foreach(keys, i, key)
	{
		buf_append(text, i > 0 ? SPAN(", ") : SPAN_NONE);
		buf_append(text, span_of(json_string_value(key)));
	}
}

static void
report_reload(const struct configfile *file, struct log *log, json_t *result)
{
	struct buf changed, later;

	buf_init(&changed);
	buf_init(&later);
	append_list(&changed, json_object_get(result, "changed"));
	append_list(&later, json_object_get(result, "at_next_start"));
	log_event(log, WHY_CONFIG_RELOADED,
	    LOG_FIELDS(log_string("file", file->path), log_text("changed", buf_span(&changed)),
		log_text("at_next_start", buf_span(&later))));
	buf_free(&changed);
	buf_free(&later);
}

json_t *
configfile_reload(struct configfile *file, struct options *options, struct log *log)
{
	json_t *next = read_file(file, options), *result;

	if (next == NULL) {
		configfile_report(file, log);
		return NULL;
	}
	result = compare(file->in_force, next);
	take(file, options, log, next, json_object_get(result, "changed"));
	json_decref(next);
	report_reload(file, log, result);
	return result;
}
