#include "core/compose.h"
#include "shell/options.h"

#define IN_HOME "~/.config/canceld/config.json"
#define SERVERS "servers"

enum { SIZE_MOST = 1 << 20 }; /* bytes of the file */

struct reading {
	struct options *options;
	json_t *said;              /* for each key: [SOURCE, VALUE], ... */
	char fault[OPTIONS_FAULT]; /* begins with the path of the section */
};

/*
 * Why somebody else could have written what is in the file, which decides what runs with this
 * user's rights; or NULL.
 */
static const char *
find_distrust(int fd)
{
	struct stat status;

	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return "it is no regular file";
	if (status.st_uid != geteuid() && status.st_uid != 0)
		return "it belongs to another user";
	if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return "others may write to it; chmod go-w";
	return status.st_size > SIZE_MOST ? "it is longer than 1 MiB" : NULL;
}

/* jansson passes over a NUL behind a number or a word, and refuses other control bytes. */
static size_t
read_text(void *bytes, size_t size, void *fd)
{
	ssize_t got = read(*(int *)fd, bytes, size);

	for (char *nul; got > 0 && (nul = memchr(bytes, '\0', (size_t)got)) != NULL;)
		*nul = '\1';
	return (size_t)got;
}

/*
 * The whole file; it must be freed. NULL: there is none, and none is needed, or the fault tells
 * why.
 */
static json_t *
parse(struct options *options, char fault[OPTIONS_FAULT])
{
	int fd = open(options->config, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	const char *distrust = fd < 0 ? strerror(errno) : find_distrust(fd);
	json_error_t error;
	json_t *root = NULL;
	struct stat status;
	char *piece;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
		/* What such a link stands for cannot be read, and is needed. */
		if (home_leads_nowhere(options->config, &status))
			distrust = "it, or a folder above it, is a link that leads nowhere";
		else if (!options->file.named && !options->file.counts)
			return NULL;
	}
	if (distrust != NULL) {
		if (!text_is(options->config, "/dev/null"))
			options_fault(fault, "%s", distrust);
	} else if ((root = json_load_callback(read_text, &fd, JSON_REJECT_DUPLICATES, &error)) ==
	    NULL) {
		/* What jansson quotes of the file may be a secret. */
		if ((piece = strstr(error.text, " near '")) != NULL)
			*piece = '\0';
		options_fault(fault, "line %d, column %d: %s", error.line, error.column,
		    error.text);
	} else if (!json_is_object(root))
		options_fault(fault, "want a JSON object");
	close(fd);
	return root;
}

/*
 * As on the command line, a rule with its target; a boolean is no text, nor is what stands in the
 * place of a word.
 */
static json_t *
read_value(const struct options_row *row, const char *target, json_t *value)
{
	const char *text = json_string_value(value);
	bool any = row->traits & OPTION_TEXT;
	bool bare = target == NULL || (text_is(target, "*") && !any);
	bool plain = text != NULL && (target == NULL || (!any && strchr(text, '=') == NULL));
	char *dumped = plain ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	json_t *read = target == NULL && !plain && (json_is_boolean(value) || any) ?
	    json_incref(value) :
	    json_sprintf("%s%s%s", bare ? "" : target, bare ? "" : "=", plain ? text : dumped);

	free(dumped);
	return read;
}

/*
 * Unless something stronger says the same. Sets it the first time; later only what counts at once.
 */
static void
put(const struct reading *it, const struct options_row *row, enum policy_source source,
    json_t *value)
{
	json_t *said = json_object_get(it->said, row->name);

	if (source == POLICY_SOURCES ||
	    (!(row->traits & OPTION_RULE) &&
		(json_array_size(said) > 0 || options_given(it->options, row))))
		return;
	json_array_append_new(said, json_pack("[i,O]", (int)source, value));
	it->options->file.counts = true;
	if (!json_is_false(value) &&
	    (it->options->file.in_force == NULL || (row->traits & OPTION_AT_ONCE)))
		options_set(it->options, row, source, json_string_value(value));
}

/* What was in force in the place of something wrong stays: of the whole key, or of a rule. */
static void
keep(const struct reading *it, const struct options_row *row, enum policy_source source,
    const char *target)
{
	json_t *entry, *value;
	const char *text, *end;
	int from;
	size_t i;

	json_array_foreach (json_object_get(it->options->file.in_force, row->name), i, entry) {
		json_unpack(entry, "[i,o]", &from, &value);
		text = json_string_value(value);
		end = text != NULL ? strrchr(text, '=') : NULL;
		if (from == (int)source &&
		    (target == NULL ||
			span_is(end != NULL ? span_between(text, end) : SPAN("*"), target)))
			put(it, row, source, value);
	}
}

static bool
take(struct reading *it, const struct options_row *row, enum policy_source source,
    const char *target, json_t *value)
{
	json_auto_t *read = read_value(row, target, value);
	bool fine = options_check(it->fault, row, json_string_value(read));

	if (fine)
		put(it, row, source, read);
	else
		keep(it, row, source, target);
	return fine;
}

static bool
refuse_key(struct reading *it, const char *key, bool top)
{
	struct nearest nearest = { .typed = span_of(key) };

	each_option (row)
		if (row->name != NULL && options_key(row->name) != NULL)
			nearest_offer(&nearest, row->name);
	if (top)
		nearest_offer(&nearest, SERVERS);
	return options_fault(it->fault, "%s: unknown key%s", key, nearest.told);
}

/*
 * Keeps what is wrong. path: the length of that of the section, with which the next fault begins
 * too.
 */
static void
end_key(struct reading *it, size_t path, bool fine)
{
	json_t *faults = it->options->file.faults;

	if (!fine && json_array_size(faults) < CONFIGFILE_FAULTS)
		json_array_append_new(faults, printable_json(span_of(it->fault)));
	it->fault[path] = '\0';
}

/*
 * Of a section, whose path stands in the fault, or of the top. source: POLICY_SOURCES: that is for
 * other servers. An unknown key may be any of those that are missing: what they said stays, as it
 * does if there is something else in the place of the object.
 */
static void
read_keys(struct reading *it, json_t *object, enum policy_source source)
{
	size_t path = strlen(it->fault);
	const char *key, *target;
	json_t *value, *duration;
	bool known = object == NULL || json_is_object(object);

	json_object_foreach (object, key, value) {
		const struct options_row *row = options_key(key);

		if (path == 0 && text_is(key, SERVERS))
			continue;
		known &= row != NULL;
		if (row == NULL)
			end_key(it, path, refuse_key(it, key, path == 0));
		else if (!(row->traits & OPTION_RULE) || !json_is_object(value))
			end_key(it, path, take(it, row, source, NULL, value));
		else
			json_object_foreach (value, target, duration)
				end_key(it, path, take(it, row, source, target, duration));
	}
	each_option (row)
		if (!known && json_object_get(object, row->name) == NULL)
			keep(it, row, source, NULL);
	it->fault[0] = '\0';
}

/*
 * Whether the pattern fits the words with a blank between them, with the directory of the first one
 * or without it.
 */
static bool
fits_command(const char *pattern, char *const command[])
{
	size_t folder = span_through(span_of(command[0]), '/');
	BUF_AUTO line = { 0 };

	for (size_t i = 0; command[i] != NULL; i++)
		compose_text(&line, i > 0 ? " %s" : "%s", command[i]);
	return policy_fits(pattern, buf_span(&line)) ||
	    policy_fits(pattern, span_from(buf_span(&line), folder));
}

/*
 * All of them, as a fault shows when it is made. That of the server's very name counts, or else the
 * first one that fits. If none does any more, what it said stays, unless the file is empty.
 */
static void
read_sections(struct reading *it, json_t *root)
{
	struct configfile *file = &it->options->file;
	const char *chosen, *pattern;
	json_t *servers = json_object_get(root, SERVERS), *section,
	       *unfit = json_object_get(it->said, SERVERS);
	json_auto_t *former = file->section;

	chosen = json_object_get(servers, file->server) != NULL ? file->server : NULL;
	file->section = NULL;
	if (servers != NULL && !json_is_object(servers))
		end_key(it, 0, options_fault(it->fault, SERVERS ": want an object of servers"));
	json_object_foreach (servers, pattern, section) {
		bool allowed = policy_allows(span_of(pattern)), counts;

		if (!allowed ||
		    (!policy_fits(pattern, span_of(file->server)) &&
			!fits_command(pattern, it->options->command)))
			json_array_append_new(unfit, json_string(pattern));
		else if (chosen == NULL)
			chosen = pattern;
		counts = span_is(span_of(pattern), chosen);
		options_fault(it->fault, SERVERS ".%s", pattern);
		if (!allowed || !json_is_object(section))
			end_key(it, 0,
			    options_fault(it->fault, ": %s",
				allowed ? "want an object of options for the server" :
					  POLICY_PATTERN));
		options_fault(it->fault, ".");
		if (counts && (!json_is_object(section) || json_object_size(section) > 0))
			file->section = json_string(pattern);
		read_keys(it, section, counts ? POLICY_SECTION : POLICY_SOURCES);
	}
	json_object_set_new(it->said, "section", json_string(chosen));
	if (former != NULL && chosen == NULL && json_object_size(root) > 0) {
		file->section = json_incref(former);
		pattern = json_string_value(former);
		end_key(it, 0,
		    options_fault(it->fault,
			SERVERS ".%s is gone: what it said stays; \"%s\": {} there would end that",
			pattern, pattern));
		read_keys(it, json_null(), POLICY_SECTION);
	}
}

/*
 * Sets what the file says, and returns that, under SERVERS which sections do not fit. NULL: it is
 * refused. Its faults tell.
 */
static json_t *
read_file(struct options *options)
{
	struct reading it = { .options = options };
	size_t before = options->policy.count;
	json_auto_t *root = parse(options, it.fault);

	json_decref(options->file.faults);
	options->file.faults = json_array();
	if (it.fault[0] != '\0') {
		end_key(&it, 0, false);
	} else {
		it.said = json_object();
		each_option (row)
			json_object_set_new(it.said, row->name, json_array());
		json_object_set_new(it.said, SERVERS, json_array());
		options->file.counts = false;
		if (!options_given(options, options_key("log-level")))
			options->log.level = LEVEL_NOTICE;
		read_sections(&it, root);
		read_keys(&it, root, POLICY_FILE);
		policy_forget(&options->policy, before, POLICY_DEADLINES, POLICY_OPTION);
	}
	return it.said;
}

/*
 * Checks what the options and the file say together, and carries out what one says about another.
 */
static int
settle(struct options *options)
{
	struct session_config *session = &options->session;
	const struct dialect *dialect = session->dialect;

	options->log.file = options->log_path[0] != '\0' ? options->log_path : NULL;
	options->log.tail = !options->no_control;
	if (options->log.payload && options->log.file == NULL)
		return options_refuse(options,
		    "--log-payload writes the text of messages, secrets too: name a file for it with --log");
	if (session->dry_run) {
		options->log.dry_run = true;
		session->ask_progress = session->clean_text = session->legacy = false;
		session->kill_stuck = session->kill_ignoring = session->heartbeat = 0;
		policy_forget(&options->policy, options->policy.count,
		    1 << POLICY_PARALLEL | 1 << POLICY_ANSWER, POLICY_SOURCES);
		options->restarts = 0;
	}
	if (dialect == NULL || (dialect->flags & DIALECT_PARALLEL))
		return OPTIONS_RUN;
	/* What the file says is left unused: RULE_UNUSED tells of a section. */
	each_rule (rule, &options->policy)
		if (rule->kind == POLICY_PARALLEL && rule->source == POLICY_OPTION)
			return options_refuse(options,
			    "--parallel is for MCP and ACP: in -D %s a request must not be sent behind later notifications",
			    dialect->name);
	return OPTIONS_RUN;
}

int
configfile_load(struct options *options)
{
	struct configfile *file = &options->file;

	file->named = options->config[0] != '\0';
	if (!file->named && !home_expand(IN_HOME, options->config, sizeof(options->config)))
		options->config[0] = '\0';
	print_into(file->server, "%s", options->name);
	file->in_force = read_file(options);
	if (file->named && json_array_size(file->faults) > 0)
		return options_refuse(options, "--config '%.500s': %s", options->config,
		    json_string_value(json_array_get(file->faults, 0)));
	if (file->in_force == NULL)
		file->in_force = json_object();
	return settle(options);
}

void
configfile_report(struct options *options, struct log *log)
{
	json_t *fault;
	size_t i;

	json_array_foreach (options->file.faults, i, fault)
		log_event(log, WHY_CONFIG_REFUSED, log_string("file", options->config),
		    log_string("reason", json_string_value(fault)));
	report_rules(log, WHY_RULE_DOUBTED, &options->policy, options->session.dialect);
}

/* What counts at the next start stays out of force, so that the next reload tells of it again. */
json_t *
configfile_reload(struct options *options, struct log *log)
{
	json_auto_t *next = read_file(options);
	json_t *told;
	struct buf names[2] = { 0 };

	configfile_report(options, log);
	if (next == NULL)
		return NULL;
	told = json_pack("{s:[],s:[],s:O,s:O,s:O*,s:o}", "changed", "at_next_start", "refused",
	    options->file.faults, "unfit", json_object_get(next, SERVERS), "section",
	    json_object_get(next, "section"), "file", printable_json(span_of(options->config)));
	each_option (row) {
		json_t *before = json_object_get(options->file.in_force, row->name),
		       *after = json_object_get(next, row->name);
		bool at_once = row->traits & OPTION_AT_ONCE;

		if (json_array_size(before) + json_array_size(after) == 0 ||
		    json_equal(before, after))
			continue;
		json_array_append_new(json_object_get(told, at_once ? "changed" : "at_next_start"),
		    json_string(row->name));
		compose_text(&names[at_once], names[at_once].len > 0 ? ", %s" : "%s", row->name);
		if (at_once)
			json_object_set(options->file.in_force, row->name, after);
		if (row->at == offsetof(struct options, log.level))
			log->config.level = options->log.level;
	}
	log_event(log, WHY_CONFIG_RELOADED, log_string("file", options->config),
	    log_text("changed", buf_span(&names[true])),
	    log_text("at_next_start", buf_span(&names[false])));
	buf_free(&names[0]);
	buf_free(&names[1]);
	return told;
}
