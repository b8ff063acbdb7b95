#include "ctl/commands.h"

#include "ctl/ctl.h"
#include "ctl/show.h"
#include "ctl/targets.h"

static const char usage[] = "usage: cancelctl ls [-j] [" TARGETS_USAGE "]\n\n"
			    "Lists every canceld of this user, or the requests of one.\n\n"
			    "  -j, --json   one JSON object a line\n";

static void
list_instances(const struct targets *targets, bool json)
{
	struct table table;

	table_init(&table, view_instance_columns, VIEW_INSTANCE_WIDTH);
	for (size_t i = 0; i < targets->count; i++) {
		const struct target *target = targets->list[i];
		json_t *object = json ? json_pack("{s:I}", "pid", (json_int_t)target->pid) : NULL;

		view_instance(&table, target->pid, target->about);
		if (!json)
			continue;
		json_object_update(object, target->about);
		json_object_set_new(object, "answering", json_boolean(target->about != NULL));
		show_json(object);
		json_decref(object);
	}
	if (!json)
		table_show(&table);
	table_free(&table);
}

static int
list_requests(const struct target *target, bool json)
{
	const json_t *requests = json_object_get(target->about, "requests");
	struct table table;

	if (json) {
		for (size_t i = 0; i < json_array_size(requests); i++)
			target_show(target, json_array_get(requests, i));
	} else {
		table_init(&table, view_request_columns, VIEW_REQUEST_WIDTH);
		for (size_t i = 0; i < json_array_size(requests); i++)
			view_request(&table, json_array_get(requests, i));
		table_show(&table);
		table_free(&table);
	}
	if (show_number(target->about, "more") > 0)
		ctl_no("%lld more requests are not shown", (long long)show_number(target->about, "more"));
	return CTL_YES;
}

int
ctl_ls(int argc, char *argv[])
{
	const char *which = NULL;
	struct targets targets;
	bool json = false;
	int status = ctl_words(argc, argv, usage, &json, &which);

	if (status >= 0)
		return status;
	if (which == NULL) {
		targets_find(&targets, false, TARGETS_LOOK);
		status = targets.count > 0 ? CTL_YES : ctl_no("no canceld of this user is running");
		if (status == CTL_YES)
			list_instances(&targets, json);
	} else {
		status = targets_choose(&targets, which, true, TARGETS_LOOK);
		if (status == CTL_YES)
			status = list_requests(targets.list[0], json);
	}
	targets_free(&targets);
	return status;
}
