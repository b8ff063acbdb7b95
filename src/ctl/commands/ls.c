#include "ctl/commands.h"

#include <unistd.h>

#include "ctl/ctl.h"
#include "ctl/show.h"
#include "ctl/targets.h"

static const char usage[] = "usage: cancelctl ls [-j] [" TARGETS_USAGE "]\n\n"
			    "Lists every canceld of this user, or the requests of one.\n\n"
			    "  -j, --json   one JSON object a line\n";

static int
list_instances(struct targets *targets, json_t *rows)
{
	targets_find(targets, TARGETS_LOOK);
	for (size_t i = 0; i < targets->count; i++) {
		const struct target *target = &targets->list[i];
		json_t *row = target_with(target, target->about);

		json_object_set_new(row, "answering", json_boolean(target->about != NULL));
		json_array_append_new(rows, row);
	}
	return targets->count > 0 ? CTL_YES : ctl_no("no canceld of this user is running");
}

static int
list_requests(struct targets *targets, const char *which, json_t *rows)
{
	int status = targets_choose(targets, which, TARGETS_LOOK);
	json_t *about = status == CTL_YES ? targets->list->about : NULL, *request, *fault;
	size_t i;

	json_array_foreach(json_object_get(about, "requests"), i, request)
	    json_array_append_new(rows, target_with(targets->list, request));
	json_array_foreach(json_object_get(about, "config"), i, fault)
	    target_say(targets->list, CTL_NO, json_string_value(fault));
	if (show_number(about, "more") > 0)
		ctl_no("%lld more requests are not shown", (long long)show_number(about, "more"));
	return status;
}

int
ctl_ls(int argc, char *argv[])
{
	struct targets targets = { .method = "list" };
	json_t *rows = json_array(), *row;
	const char *which;
	bool json = false;
	int status;
	size_t i;

	ctl_line(argc, argv, (struct ctl_option[]){ { "json", 'j', &json, NULL }, { 0 } }, 1, usage);
	which = argv[optind];
	targets.params = json_pack("{s:b}", "requests", which != NULL);
	status = which == NULL ? list_instances(&targets, rows) : list_requests(&targets, which, rows);
	if (status == CTL_YES && !json)
		table_show(which == NULL ? view_instances : view_requests, rows);
	json_array_foreach(json ? rows : NULL, i, row) show_json(row);
	json_decref(rows);
	targets_free(&targets);
	return status;
}
