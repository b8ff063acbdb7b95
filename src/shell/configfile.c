#include "shell/configfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"
#include "shell/home.h"
#include "shell/nearest.h"
#include "shell/printable.h"

#define IN_HOME "~/.config/canceld/config.json"
#define SERVERS "servers"

enum {
	SIZE_MOST = 1 << 20, /* bytes of the file */
	TRAIL_MOST = 4,      /* servers, a section, timeout, a target */
	PIECE = 64 << 10,
};

/* The keys that lead from the top of the file to the value at hand. */
struct trail {
	const char *keys[TRAIL_MOST];
	size_t count;
};

static void
say(struct buf *fault, const char *text)
{
	printable_append(fault, span_of(text), "");
}

/* Whether nobody else could have written what is in the file. It decides what runs with this user's rights. */
static bool
is_trusted(int fd, struct buf *fault)
{
	struct stat status;
	char words[64];

	if (fstat(fd, &status) < 0) {
		say(fault, strerror(errno));
	} else if (!S_ISREG(status.st_mode)) {
		say(fault, "it is no regular file");
	} else if (status.st_uid != geteuid() && status.st_uid != 0) {
		say(fault, "it belongs to another user");
	} else if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
		snprintf(words, sizeof(words), "others may write to it (mode %04o); chmod go-w",
		    (unsigned)(status.st_mode & 07777));
		say(fault, words);
	} else {
		return true;
	}
	return false;
}

static bool
read_bytes(int fd, struct buf *text, struct buf *fault)
{
	ssize_t done;

	do {
		done = read(fd, buf_space(text, PIECE), PIECE);
		if (done > 0)
			buf_added(text, (size_t)done);
	} while (text->len <= SIZE_MOST && (done > 0 || (done < 0 && errno == EINTR)));
	if (done < 0)
		say(fault, strerror(errno));
	else if (text->len > SIZE_MOST)
		say(fault, "it is longer than 1 MiB");
	return fault->len == 0;
}

/* false: fault tells why, or is empty if there is no file and none is needed. */
static bool
read_text(const struct configfile *file, struct buf *text, struct buf *fault)
{
	int fd = open(file->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	bool fine;

	if (fd < 0) {
		if (file->named || (errno != ENOENT && errno != ENOTDIR))
			say(fault, strerror(errno));
		return false;
	}
	fine = is_trusted(fd, fault) && read_bytes(fd, text, fault);
	close(fd);
	return fine;
}

/* The length of the JSON string that text begins with, with its quotes. */
static size_t
string_length(struct span text)
{
	size_t len = 1;

	while (text.ptr[len] != '"')
		len += text.ptr[len] == '\\' ? 2 : 1;
	return len + 1;
}

/* Whether the JSON string in quotes says the key. */
static bool
says(struct span quoted, const char *key)
{
	json_t *string = json_loadb(quoted.ptr, quoted.len, JSON_DECODE_ANY, NULL);
	bool same = string != NULL && strcmp(json_string_value(string), key) == 0;

	json_decref(string);
	return same;
}

/* Whether a string that ends here is a key, and not a value. */
static bool
is_key(struct span text, size_t end)
{
	while (end < text.len && strchr(" \t\r\n", text.ptr[end]) != NULL)
		end++;
	return end < text.len && text.ptr[end] == ':';
}

/* Where the last key of the trail stands in a text that jansson has accepted, and that has each key once. */
static size_t
find_key(struct span text, const struct trail *trail)
{
	size_t depth = 0, found = 0, at = 0, len;

	for (; at < text.len; at += len) {
		char byte = text.ptr[at];

		len = byte == '"' ? string_length(span_part(text, at, text.len - at)) : 1;
		if (byte == '{' || byte == '[')
			depth++;
		else if (byte == '}' || byte == ']')
			depth--;
		else if (byte == '"' && depth == found + 1 && is_key(text, at + len) &&
		    says(span_part(text, at, len), trail->keys[found]) && ++found == trail->count)
			return at;
	}
	return 0;
}

/* Puts the place of the trail's key before what is wrong. Lines and columns count from 1, columns in characters. */
static void
say_place(struct buf *fault, struct span text, const struct trail *trail)
{
	size_t key = find_key(text, trail), at, line = 1, column = 1;
	char words[64];

	for (at = 0; at < key; at++) {
		column += ((unsigned char)text.ptr[at] & 0xc0) != 0x80;
		if (text.ptr[at] == '\n') {
			line++;
			column = 1;
		}
	}
	snprintf(words, sizeof(words), "line %zu, column %zu: ", line, column);
	say(fault, words);
}

/* One option. applied: false: it is only checked, in options that nobody uses. */
static bool
set_plain(struct options *options, const char *key, enum policy_source source, const json_t *value, bool applied,
    struct buf *fault)
{
	char *text;
	bool fine;

	if (json_is_false(value) && applied)
		return true;
	if (json_is_boolean(value))
		return options_set(options, key, source, NULL, fault);
	if (json_is_string(value))
		return options_set(options, key, source, json_string_value(value), fault);
	if (!json_is_number(value)) {
		buf_append(fault, span_of(key));
		buf_append(fault, SPAN(": want a string, a number, true or false"));
		if (options_key(key) == KEY_RULES)
			buf_append(fault, SPAN(", or an object of METHOD[:NAME] and DURATION"));
		return false;
	}
	text = json_dumps(value, JSON_ENCODE_ANY);
	fine = options_set(options, key, source, text, fault);
	free(text);
	return fine;
}

/* {"METHOD[:NAME]": "DURATION"}; "*" alone is the rule without a METHOD. */
static bool
set_rules(struct options *options, const char *key, enum policy_source source, json_t *rules, struct trail *trail,
    struct buf *fault)
{
	const char *target;
	json_t *value;

	json_object_foreach(rules, target, value)
	{
		const char *duration = json_string_value(value);
		struct buf rule;
		bool fine;

		trail->keys[trail->count++] = target;
		if (duration == NULL || strchr(duration, '=') != NULL) {
			say(fault, key);
			say(fault, ": want a duration in quotes, such as \"30s\"");
			return false;
		}
		buf_init(&rule);
		if (strcmp(target, "*") != 0) {
			buf_append(&rule, span_of(target));
			buf_append(&rule, SPAN("="));
		}
		buf_append(&rule, span_of(duration));
		buf_append(&rule, SPAN("\0"));
		fine = options_set(options, key, source, rule.data, fault);
		buf_free(&rule);
		if (!fine)
			return false;
		trail->count--;
	}
	return true;
}

static bool
set_value(struct options *options, const char *key, enum policy_source source, json_t *value, bool applied,
    struct trail *trail, struct buf *fault)
{
	if (json_is_object(value) && options_key(key) == KEY_RULES)
		return set_rules(options, key, source, value, trail, fault);
	return set_plain(options, key, source, value, applied, fault);
}

static void
refuse_key(const char *key, bool top, struct buf *fault)
{
	const struct option *option;
	struct nearest nearest;

	nearest_init(&nearest, span_of(key));
	for (option = options_table(); option->name != NULL; option++)
		if (options_key(option->name) != KEY_UNKNOWN)
			nearest_offer(&nearest, option->name);
	if (top)
		nearest_offer(&nearest, SERVERS);
	say(fault, "unknown key '");
	say(fault, key);
	say(fault, nearest.name != NULL ? "': it could be " : "'");
	say(fault, nearest.name != NULL ? nearest.name : "");
}

/* Checks the settings of one object: the top of the file, or a section. */
static bool
check_settings(json_t *object, bool top, struct options *scratch, struct trail *trail, struct buf *fault)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value)
	{
		if (top && strcmp(key, SERVERS) == 0)
			continue;
		trail->keys[trail->count++] = key;
		if (options_key(key) == KEY_UNKNOWN) {
			refuse_key(key, top, fault);
			return false;
		}
		if (!set_value(scratch, key, POLICY_FILE, value, false, trail, fault))
			return false;
		trail->count--;
	}
	return true;
}

/* Checks every section, whatever the server is: a fault shows when it is made, and not when it is met. */
static bool
check_sections(json_t *servers, struct options *scratch, struct trail *trail, struct buf *fault)
{
	const char *name;
	json_t *section;

	trail->keys[trail->count++] = SERVERS;
	if (!json_is_object(servers)) {
		say(fault, SERVERS ": want an object of servers");
		return false;
	}
	json_object_foreach(servers, name, section)
	{
		trail->keys[trail->count++] = name;
		if (!json_is_object(section)) {
			say(fault, "want an object of options for the server");
			return false;
		}
		if (!check_settings(section, false, scratch, trail, fault))
			return false;
		trail->count--;
	}
	return true;
}

static bool
check(json_t *root, struct span text, struct buf *fault)
{
	struct options *scratch = mem_new(sizeof(*scratch));
	json_t *servers = json_object_get(root, SERVERS);
	struct trail trail = { .count = 0 };
	struct buf words;
	bool fine;

	buf_init(&words);
	options_init(scratch);
	fine = check_settings(root, true, scratch, &trail, &words) &&
	    (servers == NULL || check_sections(servers, scratch, &trail, &words));
	options_free(scratch);
	free(scratch);
	if (!fine)
		say_place(fault, text, &trail);
	printable_append(fault, buf_span(&words), "");
	buf_free(&words);
	return fine;
}

static json_t *
parse(struct span text, struct buf *fault)
{
	json_error_t error;
	json_t *root = json_loadb(text.ptr, text.len, JSON_REJECT_DUPLICATES, &error);
	char words[sizeof(error.text) + 64];

	if (root == NULL) {
		snprintf(words, sizeof(words), "line %d, column %d: %s", error.line, error.column, error.text);
		say(fault, words);
	} else if (!json_is_object(root)) {
		say(fault, "line 1, column 1: want a JSON object");
	} else if (check(root, text, fault)) {
		return root;
	}
	json_decref(root);
	return NULL;
}

/* The words of the command with a blank between them; bare: the first one without its directory. */
static void
join(char *const command[], bool bare, struct buf *line)
{
	const char *slash = strrchr(command[0], '/');
	size_t i;

	for (i = 0; command[i] != NULL; i++) {
		buf_append(line, i > 0 ? SPAN(" ") : SPAN_NONE);
		buf_append(line, span_of(i == 0 && bare && slash != NULL ? slash + 1 : command[i]));
	}
}

static bool
fits_command(const char *pattern, char *const command[])
{
	bool fits = false;
	struct buf line;
	int bare;

	buf_init(&line);
	for (bare = 0; bare < 2 && !fits; bare++) {
		buf_clear(&line);
		join(command, bare == 1, &line);
		fits = policy_fits(pattern, buf_span(&line));
	}
	buf_free(&line);
	return fits;
}

/* The section of the server's very name; else the first one that fits its name or its command; NULL: none. */
static json_t *
choose_section(json_t *root, const char *server, char *const command[])
{
	json_t *servers = json_object_get(root, SERVERS);
	json_t *section = json_object_get(servers, server);
	const char *pattern;

	if (section != NULL)
		return section;
	json_object_foreach(servers, pattern,
	    section) if (policy_fits(pattern, span_of(server)) || fits_command(pattern, command)) return section;
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
		if (strcmp(key, SERVERS) == 0 || (options_key(key) != KEY_RULES && options_given(options, key)))
			continue;
		if (options_key(key) != KEY_RULES) {
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
	struct buf text;
	json_t *root, *merged = NULL;

	buf_init(&text);
	buf_clear(&file->fault);
	if (file->path[0] == '\0' || !read_text(file, &text, &file->fault)) {
		merged = file->fault.len == 0 ? json_object() : NULL;
	} else if ((root = parse(buf_span(&text), &file->fault)) != NULL) {
		merged = json_object();
		merge(root, POLICY_FILE, options, merged);
		merge(choose_section(root, file->server, options->command), POLICY_SECTION, options, merged);
		json_decref(root);
	}
	buf_free(&text);
	return merged;
}

/* Sets the key's value, which was checked before. */
static void
apply(struct options *options, const char *key, json_t *value)
{
	struct trail trail = { .count = 0 };
	struct buf fault;
	size_t i;

	buf_init(&fault);
	if (options_key(key) != KEY_RULES)
		set_value(options, key, POLICY_FILE, value, true, &trail, &fault);
	for (i = 0; i < json_array_size(value); i++)
		if (!json_is_null(json_array_get(value, i)))
			set_value(options, key, i == 0 ? POLICY_FILE : POLICY_SECTION, json_array_get(value, i), true,
			    &trail, &fault);
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
		    buf_span(&file->fault).ptr);
	if (file->in_force == NULL)
		file->in_force = json_object();
	json_object_foreach(file->in_force, key, value) apply(options, key, value);
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

/* Adds the keys of one object whose values differ in the other, or only those that the other lacks, to the result. */
static void
compare(json_t *one, json_t *other, bool lacking, json_t *result)
{
	const char *key;
	json_t *value;

	json_object_foreach(one, key, value)
	{
		const char *list = options_key(key) == KEY_START ? "at_next_start" : "changed";
		json_t *otherwise = json_object_get(other, key);

		if (otherwise == NULL || (!lacking && !json_equal(value, otherwise)))
			json_array_append_new(json_object_get(result, list), json_string(key));
	}
}

static void
take_level(struct configfile *file, struct options *options, struct log *log)
{
	json_t *level = json_object_get(file->in_force, "log-level"), *usual = json_string("person");

	apply(options, "log-level", level != NULL ? level : usual);
	json_decref(usual);
	log_set_level(log, options->log.level);
}

static void
take_rules(struct configfile *file, struct options *options)
{
	const char *key;
	json_t *value;

	policy_forget(&options->policy, POLICY_FILE);
	policy_forget(&options->policy, POLICY_SECTION);
	json_object_foreach(file->in_force, key, value) if (options_key(key) == KEY_RULES) apply(options, key, value);
}

/* Puts the changed values in force. The others stay, so that the next reload tells of them again. */
static void
take(struct configfile *file, struct options *options, struct log *log, json_t *next, json_t *changed)
{
	json_t *key;
	size_t i;

	json_array_foreach(changed, i, key)
	{
		const char *name = json_string_value(key);
		json_t *value = json_object_get(next, name);

		if (value != NULL)
			json_object_set(file->in_force, name, value);
		else
			json_object_del(file->in_force, name);
		if (options_key(name) == KEY_LEVEL)
			take_level(file, options, log);
	}
	take_rules(file, options);
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
	result = json_pack("{s:[],s:[]}", "changed", "at_next_start");
	compare(next, file->in_force, false, result);
	compare(file->in_force, next, true, result);
	take(file, options, log, next, json_object_get(result, "changed"));
	json_decref(next);
	report_reload(file, log, result);
	return result;
}
