/* Feeds every file of a corpus to a fuzz target, for compilers that have no fuzzer. */

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

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

static size_t
replay_directory(const char *name)
{
	DIR *directory = opendir(name);
	const struct dirent *entry;
	char path[4096];
	size_t count = 0;
	int len;

	if (directory == NULL)
		fail(name);
	while ((entry = readdir(directory)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		len = snprintf(path, sizeof path, "%s/%s", name, entry->d_name);
		if (len < 0 || (size_t)len >= sizeof path)
			fail(name);
		replay_file(path);
		count++;
	}
	closedir(directory);
	return count;
}

int
main(int argc, char **argv)
{
	size_t count;

	if (argc != 2) {
		fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
		return 2;
	}
	count = replay_directory(argv[1]);
	printf("%s: %zu inputs\n", argv[1], count);
	return count > 0 ? 0 : 1;
}
