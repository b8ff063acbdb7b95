#include "ctl/commands.h"

#include "ctl/ctl.h"
#include "ctl/show.h"
#include "ctl/targets.h"

static const char usage[] =
    "usage: cancelctl ls [-j] [-a|" TARGETS_USAGE "]\n\n"
    "Lists every canceld of this user, or the requests of one, or of all.\n\n"
    "  -a, --all    the requests of all\n"
    "  -j, --json   one JSON object a line\n";

static json_t *
list_requests(struct targets *targets, const char *which, int *status)
{
	json_t *rows = json_array(), *request, *fault;
	long long more = 0, taken = 0;

	*status = targets_choose(targets, which, TARGETS_LOOK);
	each_listed (target, targets) {
		show_each_in (request, target->about, "requests")
			json_array_append_new(rows, target_with(target, request));
		show_each_in (fault, target->about, "config") {
			json_auto_t *told = json_sprintf("configuration file %s: %s",
			    show_chars(target->about, "file"), json_string_value(fault));

			target_say(target, CTL_NO, json_string_value(told));
		}
		show_each_in (fault, target->about, "doubted")
			target_say(target, CTL_NO, json_string_value(fault));
		more += show_number(target->about, "more");
		taken += show_number(target->about, "places_taken");
	}
	if (more > 0)
		ctl_no("%lld more requests are not shown", more);
	if (taken > 0)
		ctl_no("%lld given up, and still counted by --parallel", taken);
	if (*status == CTL_YES && json_array_size(rows) == 0)
		ctl_tell(CTL_YES, "no request is open");
	return rows;
}

int
ctl_ls(int argc, char *argv[])
{
	struct targets targets = { .method = "list" };
	json_t *rows, *row;
	bool json = false, all = false, instances;
	const char *which;
	int status;

	ctl_line(argc, argv, CTL_OPTIONS({ "json", 'j', &json }, { "all", 'a', &all }), 1, usage);
	which = argv[optind];
	if (all && which != NULL)
		return ctl_usage("--all: the requests of all, or those of '%.100s'?", which);
	instances = which == NULL && !all;
	targets.params = json_pack("{s:b}", "requests", !instances);
	if (instances) {
		targets_find(&targets, TARGETS_LOOK);
		status = targets.count > 0 ? CTL_YES : targets_tell_none(&targets, NULL);
		rows = targets_rows(&targets);
	} else {
		rows = list_requests(&targets, which, &status);
	}
	if (!json && json_array_size(rows) > 0)
		table_show(instances ? view_instances :
			all          ? view_all_requests :
				       view_requests,
		    rows);
	show_each (row, json ? rows : NULL)
		show_json(row);
	return status;
}
