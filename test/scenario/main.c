/* Usage: scenario [-v] [--mutants] DIRECTORY | FILE.scn... */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "scenario/mutants.h"
#include "scenario/play.h"
#include "scenario/script.h"
#include "scenario/seeds.h"

#define KNOWN "known" /* the directory of the scenarios that are known to fail, below the others */

struct run {
	struct script script;
	struct script known; /* scenarios that are known to fail */
	struct seeds *seeds; /* NULL: single files, missing coverage is not reported */
	bool trace, mutants;
	unsigned failed, faults;
	unsigned long why_counts[WHY_COUNT];
};

static const char *const split_names[SPLITS] = {
	[SPLIT_WHOLE] = "whole",
	[SPLIT_MIDDLE] = "in the middle",
	[SPLIT_BYTES] = "each byte alone",
};

/* The words of the shell, which the core never reports. */
static const enum why foreign[] = {
	WHY_RESTARTING,
	WHY_RESTART_REFUSED,
	WHY_STARTED,
	WHY_INPUT_ENDED,
	WHY_INPUT_ENDED_EARLY,
	WHY_SIGNALLED,
	WHY_ENDING,
	WHY_SERVER_EXITED,
	WHY_SERVER_ENDED,
	WHY_GUARDIAN_LOST,
	WHY_SWEPT,
	WHY_LOG_EXPOSED,
	WHY_CONFIG_REFUSED,
	WHY_CONFIG_RELOADED,
	WHY_CONTROL_REFUSED,
	WHY_OPERATOR_SET,
	WHY_LINES_LOST,
	WHY_FAILED,
	WHY_STATISTICS,
	WHY_SUMMARY,
};

static bool
is_foreign(enum why why)
{
	size_t i;

	for (i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
		if (foreign[i] == why)
			return true;
	return false;
}

static int
is_scenario_file(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 4 && strcmp(entry->d_name + len - 4, ".scn") == 0;
}

static char *
path_of(const char *directory, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", directory, name) < 0)
		abort();
	return path;
}

static void
read_in(struct script *script, const char *directory, const char *name)
{
	char *path = path_of(directory, name);

	script_read(script, path);
	free(path);
}

/* The *.scn files of a directory, by name; returns how many there are. */
static int
read_scenarios(struct script *script, const char *directory)
{
	struct dirent **entries;
	int i, count = scandir(directory, &entries, is_scenario_file, alphasort);

	for (i = 0; i < count; i++) {
		read_in(script, directory, entries[i]->d_name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return count;
}

static void
read_known(struct run *run, const char *directory)
{
	char *known = path_of(directory, KNOWN);

	read_in(&run->known, directory, "words.inc");
	(void)read_scenarios(&run->known, known);
	free(known);
}

static void
read_directory(struct run *run, const char *directory)
{
	char *path = path_of(directory, "seeds.txt");

	read_in(&run->script, directory, "words.inc");
	if (read_scenarios(&run->script, directory) <= 0) {
		printf("%s: no *.scn there\n", directory);
		run->faults++;
	} else {
		read_known(run, directory);
		run->seeds = seeds_read(path);
	}
	free(path);
}

/* words.inc is beside the scenarios, and above those that are known to fail. */
static void
read_words(struct run *run, const char *file)
{
	char *directory = strdup(file), *slash = strrchr(directory, '/');

	if (slash == NULL) {
		read_in(&run->script, ".", "words.inc");
	} else {
		*slash = '\0';
		slash = strrchr(directory, '/');
		if (slash != NULL && strcmp(slash + 1, KNOWN) == 0)
			*slash = '\0';
		read_in(&run->script, directory, "words.inc");
	}
	free(directory);
}

static void
read_file(struct run *run, const char *path)
{
	if (run->script.file_count == 0)
		read_words(run, path);
	script_read(&run->script, path);
}

static bool
play_split(struct run *run, const struct scenario *scenario, enum split split)
{
	struct play_setup setup = { &subject_core, split, run->trace, run->why_counts };
	struct verdict verdict;

	if (run->trace)
		printf("-- %s:%u: %s (%s)\n", scenario->file, scenario->number, scenario->title, split_names[split]);
	play(scenario, &setup, &verdict);
	if (verdict.failed)
		printf("%s:%u: %.*s\n\tin \"%s\", input %s\n", verdict.file, verdict.number, (int)verdict.text.len,
		    verdict.text.data, scenario->title, split_names[split]);
	buf_free(&verdict.text);
	return !verdict.failed;
}

static void
play_relay(struct run *run, const struct scenario *scenario)
{
	struct play_setup setup = { &subject_relay, SPLIT_WHOLE, false, NULL };
	struct verdict verdict;
	size_t i;

	if (run->seeds == NULL || scenario->seed_count == 0)
		return;
	play(scenario, &setup, &verdict);
	for (i = 0; i < scenario->seed_count; i++)
		seeds_cover(run->seeds, scenario->seeds[i], !verdict.failed, scenario->file, scenario->number);
	buf_free(&verdict.text);
}

static void
play_all(struct run *run)
{
	size_t i;
	int split;

	for (i = 0; i < run->script.count; i++) {
		const struct scenario *scenario = &run->script.scenarios[i];

		for (split = 0; split < SPLITS; split++) {
			if (play_split(run, scenario, (enum split)split))
				continue;
			run->failed++;
			break;
		}
		play_relay(run, scenario);
	}
}

static bool
passes(const struct scenario *scenario)
{
	bool failed = false;
	int split;

	for (split = 0; split < SPLITS && !failed; split++) {
		struct play_setup setup = { &subject_core, (enum split)split, false, NULL };
		struct verdict verdict;

		play(scenario, &setup, &verdict);
		failed = verdict.failed;
		buf_free(&verdict.text);
	}
	return !failed;
}

/* A scenario that no longer fails moves to the file of the same name that is played as the rule. */
static void
play_known(struct run *run)
{
	size_t i;

	for (i = 0; i < run->known.count; i++) {
		const struct scenario *scenario = &run->known.scenarios[i];
		const char *name = strrchr(scenario->file, '/');
		size_t above = (size_t)(name - scenario->file) - strlen(KNOWN);

		if (!passes(scenario))
			continue;
		printf("%s:%u: %s: now passes: move it to %.*s%s\n", scenario->file, scenario->number, scenario->title,
		    (int)above, scenario->file, name + 1);
		run->faults++;
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
		else if (strcmp(argv[i], "--mutants") == 0)
			run->mutants = true;
		else if (len > 4 && strcmp(argv[i] + len - 4, ".scn") == 0)
			read_file(run, argv[i]);
		else
			read_directory(run, argv[i]);
	}
	run->faults += run->script.faults + run->known.faults;
	if (run->script.count == 0) {
		printf("usage: %s [-v] [--mutants] DIRECTORY | FILE.scn...\n", argv[0]);
		run->faults++;
	}
}

static void
play_and_report(struct run *run)
{
	play_all(run);
	play_known(run);
	if (run->seeds != NULL) {
		check_words(run);
		run->faults += seeds_check(run->seeds);
	}
	printf("%zu scenarios, each with its input split in %d ways: %u failed; %zu more are known to fail; "
	       "%zu sentences of the specifications; %u other faults\n",
	    run->script.count, SPLITS, run->failed, run->known.count, run->seeds == NULL ? 0 : seeds_count(run->seeds),
	    run->faults);
}

int
main(int argc, char **argv)
{
	struct run run = { .failed = 0 };

	setvbuf(stdout, NULL, _IOLBF, 0);
	script_init(&run.script);
	script_init(&run.known);
	read_arguments(&run, argc, argv);
	if (run.mutants)
		run.failed += run.faults == 0 && !mutants_run(&run.script);
	else
		play_and_report(&run);
	script_free(&run.script);
	script_free(&run.known);
	if (run.seeds != NULL)
		seeds_free(run.seeds);
	return run.failed + run.faults > 0;
}
