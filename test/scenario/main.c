/* Usage: scenario [-v] [--golden] [--mutants | --fillers] DIRECTORY | FILE.scn... */

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "golden.h"
#include "scenario/mutants.h"
#include "scenario/play.h"
#include "scenario/script.h"
#include "scenario/seeds.h"

enum { EXEMPT_MOST = 40 }; /* scenarios that are not played with fillers */

struct run {
	struct script script;
	struct seeds *seeds; /* NULL: single files, missing coverage is not reported */
	bool trace, golden, mutants, fillers;
	unsigned failed, faults;
	unsigned long why_counts[WHY_COUNT];
};

static const char *const split_names[SPLITS] = {
	[SPLIT_WHOLE] = "whole",
	[SPLIT_MIDDLE] = "in the middle",
	[SPLIT_BYTES] = "each byte alone",
};

static const char *const filler_names[] = {
	[FILLER_FIRST] = "with a filler as the first member",
	[FILLER_LAST] = "with a filler as the last member",
};

/* The words of the shell, which the core never reports: in core/why.h they are the last. */
static bool
is_foreign(enum why why)
{
	return why == WHY_RESTARTING || why == WHY_RESTART_REFUSED ||
	    (why >= WHY_STARTED && why != WHY_OPERATOR_RESTARTED);
}

/* A file beside the one at this path; or in this directory, if it ends with a slash. */
static char *
path_beside(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	char *beside;

	if (asprintf(&beside, "%.*s%s", slash == NULL ? 0 : (int)(slash + 1 - path), path, name) <
	    0)
		abort();
	return beside;
}

static void
read_file(struct run *run, const char *path)
{
	char *words = path_beside(path, "words.inc");

	if (run->script.file_count == 0)
		script_read(&run->script, words);
	free(words);
	script_read(&run->script, path);
}

/* Its *.scn files, by name. */
static void
read_directory(struct run *run, const char *directory)
{
	char *pattern = NULL;
	glob_t files = { 0 };

	if (asprintf(&pattern, "%s/*.scn", directory) < 0)
		abort();
	if (glob(pattern, 0, NULL, &files) == 0) {
		run->seeds = seeds_read(path_beside(pattern, "seeds.txt"));
	} else {
		printf("%s: no *.scn there\n", directory);
		run->faults++;
	}
	for (size_t i = 0; i < files.gl_pathc; i++)
		read_file(run, files.gl_pathv[i]);
	globfree(&files);
	free(pattern);
}

static bool
play_once(struct run *run, const struct scenario *scenario, enum split split, enum filler filler)
{
	struct play_setup setup = { split, filler, run->trace, run->why_counts };
	const char *how = filler == FILLER_NONE ? split_names[split] : filler_names[filler];
	struct verdict verdict;

	if (run->trace)
		printf("-- %s:%u: %s (%s)\n", scenario->file, scenario->number, scenario->title,
		    how);
	play(scenario, &setup, &verdict);
	if (verdict.failed)
		printf("%s:%u: %.*s\n\tin \"%s\", input %s\n", verdict.file, verdict.number,
		    (int)verdict.text.len, verdict.text.data, scenario->title, how);
	golden_end_case(run->golden, "%s: %s (%s)", scenario->file, scenario->title, how);
	buf_free(&verdict.text);
	return !verdict.failed;
}

static void
play_all(struct run *run)
{
	size_t i;
	int split;

	for (i = 0; i < run->script.count; i++) {
		const struct scenario *scenario = &run->script.scenarios[i];

		for (split = 0; split < SPLITS; split++) {
			if (play_once(run, scenario, (enum split)split, FILLER_NONE))
				continue;
			run->failed++;
			break;
		}
		for (size_t k = 0; run->seeds != NULL && k < scenario->seed_count; k++)
			seeds_cover(run->seeds, scenario->seeds[k], scenario->file,
			    scenario->number);
	}
}

static void
check_words(struct run *run)
{
	int why;

	for (why = 0; why < WHY_COUNT; why++) {
		if (is_foreign((enum why)why) == (run->why_counts[why] == 0))
			continue;
		printf("%s: %s\n", why_word((enum why)why),
		    run->why_counts[why] == 0 ? "no scenario makes the core say it" :
						"the core is not thought to say it");
		run->faults++;
	}
}

static void
read_arguments(struct run *run, int argc, char **argv)
{
	size_t len;
	int i;

	for (i = 1; i < argc; i++) {
		len = strlen(argv[i]);
		if (strcmp(argv[i], "-v") == 0)
			run->trace = true;
		else if (strcmp(argv[i], "--golden") == 0)
			run->golden = true;
		else if (strcmp(argv[i], "--mutants") == 0)
			run->mutants = true;
		else if (strcmp(argv[i], "--fillers") == 0)
			run->fillers = true;
		else if (len > 4 && strcmp(argv[i] + len - 4, ".scn") == 0)
			read_file(run, argv[i]);
		else
			read_directory(run, argv[i]);
	}
	run->faults += run->script.faults;
	if (run->script.count == 0) {
		printf(
		    "usage: %s [-v] [--golden] [--mutants | --fillers] DIRECTORY | FILE.scn...\n",
		    argv[0]);
		run->faults++;
	}
}

static void
play_and_report(struct run *run)
{
	play_all(run);
	if (run->seeds != NULL) {
		check_words(run);
		run->faults += seeds_check(run->seeds);
	}
	printf(
	    "%zu scenarios, each with its input split in %d ways: %u failed; %zu sentences of the specifications; "
	    "%u other faults\n",
	    run->script.count, SPLITS, run->failed,
	    run->seeds == NULL ? 0 : seeds_count(run->seeds), run->faults);
}

/* Each message long: what is decided must be the same. */
static void
play_with_fillers(struct run *run)
{
	unsigned exempt = 0;
	size_t i;

	for (i = 0; i < run->script.count; i++) {
		const struct scenario *scenario = &run->script.scenarios[i];

		if (scenario->is_short)
			exempt++;
		else
			run->failed += !play_once(run, scenario, SPLIT_WHOLE, FILLER_FIRST) ||
			    !play_once(run, scenario, SPLIT_WHOLE, FILLER_LAST);
	}
	run->faults += exempt > EXEMPT_MOST;
	printf(
	    "%zu scenarios with a filler of %d bytes in each message, first and last: %u failed; %u about a limit of "
	    "size were not played, of at most %d\n",
	    run->script.count - exempt, FILLER_SIZE, run->failed, exempt, EXEMPT_MOST);
}

int
main(int argc, char **argv)
{
	static struct run run;

	setvbuf(stdout, NULL, _IOLBF, 0);
	script_init(&run.script);
	read_arguments(&run, argc, argv);
	if (run.fillers)
		play_with_fillers(&run);
	else if (run.mutants)
		run.failed += run.faults == 0 && !mutants_run(&run.script);
	else
		play_and_report(&run);
	return run.failed + run.faults > 0;
}
