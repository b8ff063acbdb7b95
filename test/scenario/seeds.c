#include "scenario/seeds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"

#define CANNOT "cannot apply: "

struct sentence {
	char *name;
	bool quoted, excused;
	unsigned number, scenarios;
};

struct seeds {
	const char *path;
	struct sentence *sentences;
	size_t count;
	unsigned faults;
};

static void
complain(struct seeds *seeds, unsigned number, const char *text)
{
	printf("%s:%u: %s\n", seeds->path, number, text);
	seeds->faults++;
}

static struct sentence *
find(const struct seeds *seeds, const char *name)
{
	for (size_t i = 0; i < seeds->count; i++)
		if (strcmp(seeds->sentences[i].name, name) == 0)
			return &seeds->sentences[i];
	return NULL;
}

static void
add_sentence(struct seeds *seeds, const char *name, unsigned number)
{
	struct sentence *sentence;

	if (find(seeds, name) != NULL)
		complain(seeds, number, "this number stands twice");
	seeds->sentences =
	    mem_resize(seeds->sentences, seeds->count + 1, sizeof(*seeds->sentences));
	sentence = &seeds->sentences[seeds->count++];
	*sentence = (struct sentence){ .name = strdup(name), .number = number };
}

static void
add_fact(struct seeds *seeds, const char *text, unsigned number)
{
	struct sentence *sentence = seeds->count == 0 ? NULL : &seeds->sentences[seeds->count - 1];

	if (sentence == NULL)
		complain(seeds, number, "a sentence without a number");
	else if (strncmp(text, CANNOT, strlen(CANNOT)) == 0)
		sentence->excused = true;
	else if (sentence->quoted)
		complain(seeds, number, "want one quotation, then `" CANNOT "...`");
	else
		sentence->quoted = true;
}

struct seeds *
seeds_read(const char *path)
{
	struct seeds *seeds = mem_new(sizeof(*seeds));
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;
	unsigned number = 0;

	seeds->path = path;
	if (file == NULL) {
		complain(seeds, 0, "cannot be read");
		return seeds;
	}
	while (getline(&line, &size, file) > 0) {
		number++;
		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '\t')
			add_fact(seeds, line + 1, number);
		else if (line[0] != '\0' && line[0] != '#')
			add_sentence(seeds, line, number);
	}
	free(line);
	fclose(file);
	return seeds;
}

void
seeds_cover(struct seeds *seeds, const char *name, const char *file, unsigned number)
{
	struct sentence *sentence = find(seeds, name);

	if (sentence != NULL) {
		sentence->scenarios++;
		return;
	}
	printf("%s:%u: %s: no such sentence in seeds.txt\n", file, number, name);
	seeds->faults++;
}

unsigned
seeds_check(const struct seeds *seeds)
{
	unsigned faults = seeds->faults;
	size_t i;

	for (i = 0; i < seeds->count; i++) {
		const struct sentence *sentence = &seeds->sentences[i];
		const char *fault = NULL;

		if (!sentence->quoted)
			fault = "has no text";
		else if (!sentence->excused && sentence->scenarios == 0)
			fault = "has neither a scenario nor a reason why it cannot apply";
		else if (sentence->excused && sentence->scenarios > 0)
			fault = "has a scenario and a reason why it cannot apply";
		if (fault == NULL)
			continue;
		printf("%s:%u: %s %s\n", seeds->path, sentence->number, sentence->name, fault);
		faults++;
	}
	return faults;
}

size_t
seeds_count(const struct seeds *seeds)
{
	return seeds->count;
}
