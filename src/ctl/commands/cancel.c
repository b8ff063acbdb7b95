#include "ctl/commands.h"

#include "ctl/ctl.h"
#include "ctl/show.h"
#include "ctl/targets.h"
#include "shell/words.h"

static const char usage[] =
    "usage: cancelctl cancel [-j] [-r TEXT] [-f client|server]\n"
    "                        " TARGETS_USAGE " ID\n"
    "       cancelctl cancel [-j] [-r TEXT] [-f client|server] [-o DURATION]\n"
    "                        [-m METHOD[:NAME]] -a|" TARGETS_USAGE "\n\n"
    "Cancels one request, or all that are old enough or have the method (-o or -m\n"
    "must be given).\n\n"
    "  -r, --reason TEXT             told to the requester\n"
    "  -f, --from client|server      only that side's requests\n"
    "  -o, --older DURATION          those at least so old\n"
    "  -m, --method METHOD[:NAME]    those with the method, and the tool; * stands\n"
    "                                for any characters. Requests without a deadline\n"
    "                                by nature are cancelled only if this names them.\n"
    "  -a, --all                     of every canceld of this user\n"
    "  -j, --json                    each request as a JSON object\n";

struct wish {
	bool json;
	bool more;        /* a canceld stopped at its bound, and others fit too */
	size_t cancelled; /* requests so far */
};

/* Shows each request as a line or as an object. */
static void
report(const struct wish *wish, const struct target *target, const json_t *requests)
{
	json_t *request;

	show_each (request, requests) {
		json_auto_t *row = target_with(target, request);
		struct buf line = { 0 };

		json_object_set_new(row, "cancelled", json_boolean(!show_has(row, "why")));
		if (wish->json) {
			show_json(row);
		} else {
			view_outcome(&line, row);
			show_line(&line);
		}
	}
}

/*
 * Handles the answer of one canceld. If it has more requests that fit, a later call shows those
 * that were refused.
 */
static int
on_result(void *user, struct target *target, json_t *result)
{
	const json_t *cancelled = json_object_get(result, "cancelled");
	bool more = json_is_true(json_object_get(result, "more"));
	struct wish *wish = user;

	if (result == NULL)
		return target_tell(target);
	wish->more |= more && json_array_size(cancelled) > 0;
	wish->cancelled += json_array_size(cancelled);
	report(wish, target, cancelled);
	if (!more)
		report(wish, target, json_object_get(result, "refused"));
	return CTL_YES;
}

/* NULL: there is none. */
static json_t *
string_of(const char *text)
{
	return text == NULL ? NULL : printable_json(span_of(text));
}

int
ctl_cancel(int argc, char *argv[])
{
	const char *reason = NULL, *from = NULL, *older = NULL, *method = NULL, *name;
	struct wish wish = { 0 };
	msec_t age = -1;
	bool all = false, many;
	json_t *params;
	int status;

	ctl_line(argc, argv,
	    CTL_OPTIONS({ "=reason", 'r', &reason }, { "=from", 'f', &from },
		{ "=older", 'o', &older }, { "=method", 'm', &method }, { "all", 'a', &all },
		{ "json", 'j', &wish.json }),
	    argc, usage);
	if (older != NULL && (text_is(older, "none") || !units_read_duration(older, &age)))
		return ctl_usage(
		    "--older: '%.60s' is no duration: want a number and its unit, such as 60s",
		    older);
	many = older != NULL || method != NULL;
	if ((all && !many) || argc - optind != !all + !many)
		return ctl_usage(
		    "which requests? give either an ID that cancelctl ls PID shows, or --older or --method; see cancelctl cancel --help");
	name = method == NULL ? NULL : strchr(method, ':');
	params = json_pack("{s:o*, s:o*, s:o*, s:o*, s:o*, s:o*}", "id",
	    string_of(many ? NULL : argv[optind + 1]), "from", string_of(from), "reason",
	    string_of(reason), "older_ms",
	    older != NULL ? json_integer(age == MSEC_NEVER ? 0 : age) : NULL, "name",
	    string_of(name == NULL ? NULL : name + 1), "method",
	    method == NULL ? NULL : printable_json(span_until(span_of(method), ":")));
	do {
		wish.more = false;
		status = targets_ask(all ? NULL : argv[optind], "cancel", params, on_result, &wish);
	} while (wish.more);
	if (status != CTL_YES || wish.cancelled > 0)
		return status;
	return many ? ctl_no("nothing was cancelled") : CTL_NO;
}
