#include "ctl/commands.h"

#include <unistd.h>
#include <stdio.h>
#include <string.h>

#include "core/compose.h"
#include "ctl/ctl.h"
#include "ctl/show.h"
#include "ctl/targets.h"
#include "shell/words.h"

enum { CHOICES_SHOWN = 16 };

static const char usage[] =
    "usage: cancelctl cancel [-j] [-r TEXT] [-f client|server] [-t number|string] " TARGETS_USAGE " ID\n"
    "       cancelctl cancel [-j] [-r TEXT] [-o DURATION] [-m METHOD[:NAME]] -a|" TARGETS_USAGE "\n\n"
    "Cancels one request, or all that are old enough or have the method (-o or -m must be given).\n\n"
    "  -r, --reason TEXT             told to the requester\n"
    "  -f, --from client|server      which side's request is meant\n"
    "  -t, --type number|string      whether ID is a number or a string\n"
    "  -o, --older DURATION          those at least so old\n"
    "  -m, --method METHOD[:NAME]    those with the method, and the tool; * stands for any characters. Requests that\n"
    "                                have no deadline by nature are cancelled only if this names them.\n"
    "  -a, --all                     of every canceld of this user\n"
    "  -j, --json                    each request as a JSON object\n";

struct wish {
	const char *reason, *from, *type, *older, *method; /* NULL: not given */
	bool all, json;
	msec_t age;
	size_t cancelled; /* requests so far */
};

static bool
is_one_of(const char *word, const char *first, const char *second)
{
	return word == NULL || strcmp(word, first) == 0 || strcmp(word, second) == 0;
}

/* -1: go on; else the exit status. words: how many are not options. */
static int
check(struct wish *wish, int words)
{
	bool many = wish->older != NULL || wish->method != NULL;

	if (!is_one_of(wish->from, "client", "server"))
		return ctl_usage("--from: '%.60s' is neither client nor server", wish->from);
	if (!is_one_of(wish->type, "number", "string"))
		return ctl_usage("--type: '%.60s' is neither number nor string", wish->type);
	if (wish->older != NULL && (!units_read_duration(span_of(wish->older), &wish->age) || wish->age == MSEC_NEVER))
		return ctl_usage("--older: '%.60s' is no duration such as 60s", wish->older);
	if (wish->method != NULL && (wish->method[0] == '\0' || wish->method[0] == ':'))
		return ctl_usage("--method: '%.60s' names no method", wish->method);
	if (many && (wish->from != NULL || wish->type != NULL))
		return ctl_usage("--from and --type belong to an ID");
	if (words == 1 - wish->all && !many)
		return ctl_usage("which requests? give an ID, --older or --method");
	if (words != (wish->all ? 0 : 1) + !many || (wish->all && !many))
		return ctl_usage("wrong number of arguments; see cancelctl cancel --help");
	return -1;
}

/* One request, as a line or as an object; why: NULL if it was cancelled. */
static void
report(struct wish *wish, const struct target *target, json_t *request, const char *why)
{
	char age[SHOW_TIME_SIZE];
	struct buf line;

	wish->cancelled += why == NULL;
	if (wish->json) {
		json_object_set_new(request, "cancelled", json_boolean(why == NULL));
		target_show(target, request);
		return;
	}
	buf_init(&line);
	compose(&line, why == NULL ? "cancelled %b " : "not cancelled: %b ", show_string(request, "id"));
	show_method(&line, request);
	if (json_is_number(json_object_get(request, "age_ms")))
		compose(&line, ", %b old,", show_time(show_number(request, "age_ms"), age));
	compose(&line, " of %b[%d]", target_name(target), (int64_t)target->pid);
	compose(&line, why == NULL ? "" : ": %s", why);
	show_line(buf_span(&line));
	buf_free(&line);
}

/* *more: canceld stopped at its bound, and others fit too; those that are refused are then told by a later call. */
static int
ask(struct wish *wish, struct target *target, json_t *params, bool *more)
{
	int status = CTL_YES;
	json_t *entry, *result;
	size_t i;

	if (wish->reason != NULL)
		json_object_set_new(params, "reason", printable_json(span_of(wish->reason), false));
	result = target_call(target, "cancel", params, &status);
	*more = json_is_true(json_object_get(result, "more"));
	json_array_foreach(json_object_get(result, "cancelled"), i, entry) report(wish, target, entry, NULL);
	for (i = 0; !*more && i < json_array_size(json_object_get(result, "refused")); i++) {
		entry = json_array_get(json_object_get(result, "refused"), i);
		report(wish, target, entry, show_string(entry, "why").ptr);
	}
	json_decref(result);
	return status;
}

/* Whether ID, as typed, may mean the request: the JSON text of its id, or what a string says. */
static bool
is_meant(const struct wish *wish, const json_t *request, const char *id)
{
	struct span text = show_string(request, "id");
	json_t *value = json_loadb(text.ptr, text.len, JSON_DECODE_ANY, NULL);
	bool string = text.ptr[0] == '"'; /* also one that jansson does not read: lone surrogates */
	bool fits = span_equal(text, span_of(id)) ||
	    (json_is_string(value) &&
		span_equal(span_of(id), (struct span){ json_string_value(value), json_string_length(value) }));

	json_decref(value);
	return fits && (wish->type == NULL || (strcmp(wish->type, "string") == 0) == string) &&
	    (wish->from == NULL || span_equal(show_string(request, "from"), span_of(wish->from)));
}

static int
refuse_ambiguous(const struct wish *wish, const json_t *requests, const char *id)
{
	int shown = 0;

	ctl_usage("'%.100s' is ambiguous; --from and --type choose one of:", id);
	for (size_t i = 0; i < json_array_size(requests) && shown < CHOICES_SHOWN; i++) {
		const json_t *request = json_array_get(requests, i);
		struct buf words;

		if (!is_meant(wish, request, id))
			continue;
		buf_init(&words);
		show_method(&words, request);
		buf_append(&words, (struct span){ "", 1 });
		ctl_usage("  %.100s, --from %.10s --type %s: %.200s", show_string(request, "id").ptr,
		    show_string(request, "from").ptr, show_string(request, "id").ptr[0] == '"' ? "string" : "number",
		    buf_span(&words).ptr);
		buf_free(&words);
		shown++;
	}
	return CTL_USAGE;
}

static int
cancel_one(struct wish *wish, struct target *target, const char *id)
{
	const json_t *requests = json_object_get(target->about, "requests"), *found = NULL;
	size_t fitting = 0;
	bool more;
	int status;

	for (size_t i = 0; i < json_array_size(requests); i++)
		if (is_meant(wish, json_array_get(requests, i), id)) {
			found = json_array_get(requests, i);
			fitting++;
		}
	if (fitting > 1)
		return refuse_ambiguous(wish, requests, id);
	if (fitting == 0)
		return ctl_no("%.100s: not found, or already completed", id);
	status = ask(wish, target,
	    json_pack("{s:O, s:O}", "id", json_object_get(found, "id"), "from", json_object_get(found, "from")), &more);
	return status == CTL_YES && wish->cancelled == 0 ? CTL_NO : status;
}

static json_t *
params_for_many(const struct wish *wish)
{
	json_t *params = json_object();
	const char *colon = wish->method == NULL ? NULL : strchr(wish->method, ':');

	if (wish->older != NULL)
		json_object_set_new(params, "older_ms", json_integer(wish->age));
	if (colon != NULL && colon[1] != '\0')
		json_object_set_new(params, "name", printable_json(span_of(colon + 1), false));
	if (wish->method != NULL) {
		size_t len = colon == NULL ? strlen(wish->method) : (size_t)(colon - wish->method);

		json_object_set_new(params, "method", printable_json((struct span){ wish->method, len }, false));
	}
	return params;
}

static int
cancel_many(struct wish *wish, const struct targets *targets)
{
	int worst = CTL_YES, status;

	for (size_t i = 0; i < targets->count; i++) {
		size_t former;
		bool more;

		do {
			former = wish->cancelled;
			status = ask(wish, targets->list[i], params_for_many(wish), &more);
		} while (more && wish->cancelled > former);
		worst = status > worst ? status : worst;
	}
	if (worst == CTL_YES && wish->cancelled == 0)
		return ctl_no("nothing was cancelled");
	return worst;
}

int
ctl_cancel(int argc, char *argv[])
{
	struct wish wish = { 0 };
	struct targets targets;
	int status = ctl_options(argc, argv,
	    (struct ctl_option[]){ { "reason", 'r', NULL, &wish.reason }, { "from", 'f', NULL, &wish.from },
		{ "type", 't', NULL, &wish.type }, { "older", 'o', NULL, &wish.older },
		{ "method", 'm', NULL, &wish.method }, { "all", 'a', &wish.all, NULL },
		{ "json", 'j', &wish.json, NULL }, { 0 } },
	    false, usage);

	if (status < 0)
		status = check(&wish, argc - optind);
	if (status >= 0)
		return status;
	status = targets_choose(&targets, wish.all ? NULL : argv[optind], wish.older == NULL && wish.method == NULL,
	    CALL_LIMIT);
	if (status == CTL_YES)
		status = wish.older != NULL || wish.method != NULL ?
		    cancel_many(&wish, &targets) :
		    cancel_one(&wish, targets.list[0], argv[optind + 1]);
	targets_free(&targets);
	return status;
}
