/*
 * replay-NAME [--golden] FILE...: feeds files, such as those of a corpus, to a fuzz target, for
 * compilers that have no fuzzer.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "golden.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void
fail(const char *what)
{
	perror(what);
	exit(1);
}

/* The copy is exactly as long as the file, so that memory checkers see a read beyond its end. */
static void
replay_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	struct stat status;
	uint8_t *bytes;
	size_t len;

	if (file == NULL || fstat(fileno(file), &status) != 0)
		fail(path);
	len = (size_t)status.st_size;
	bytes = malloc(len > 0 ? len : 1);
	if (bytes == NULL || fread(bytes, 1, len, file) != len)
		fail(path);
	fclose(file);
	LLVMFuzzerTestOneInput(bytes, len);
	free(bytes);
}

int
main(int argc, char **argv)
{
	bool golden = argc > 1 && strcmp(argv[1], "--golden") == 0;
	int first = golden ? 2 : 1;

	for (int i = first; i < argc; i++) {
		replay_file(argv[i]);
		golden_end_case(golden, "%s", argv[i]);
	}
	printf("%d inputs\n", argc - first);
	return argc > first ? 0 : 1;
}
