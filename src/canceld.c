#include "shell/life.h"

/* Known once a header of the C library was read. */
#ifdef __GLIBC__
#include <malloc.h>
#endif

enum { MAPPED = 256 << 10 }; /* a larger allocation goes back to the system when it is freed */

/* Makes only calls that a signal handler may make. */
static void
tell(const char *line)
{
	struct pollfd ready = { .fd = STDERR_FILENO, .events = POLLOUT };

	/* A pipe that polls writable takes a short line without blocking. */
	if (poll(&ready, 1, 0) > 0)
		(void)!write(STDERR_FILENO, line, strlen(line));
}

/* For a failure after which canceld cannot go on. The guardian ends the server. */
static _Noreturn void
end(const char *line)
{
	tell(line);
	_exit(STATUS_FAILED);
}

static void
on_exhausted(void)
{
	end("canceld: out of memory\n");
}

static void
on_loop_failure(const char *doing)
{
	char line[256];

	print_into(line, "canceld: %s: %s\n", doing, strerror(errno));
	end(line);
}

static void *
resize(void *old, long size)
{
	if (size > 0)
		return mem_resize(old, 1, (size_t)size);
	free(old);
	return NULL;
}

/*
 * Out of memory: libev would call abort() itself, and jansson return NULL in the middle of its
 * work. Both are given canceld's allocator, which ends canceld with a message.
 */
static void
prepare_memory(void)
{
#ifdef __GLIBC__
	/*
	 * By default glibc raises this threshold with each large allocation that is freed, and
	 * keeps memory below it.
	 */
	mallopt(M_MMAP_THRESHOLD, MAPPED);
#endif
	mem_exhausted = on_exhausted;
	ev_set_syserr_cb(on_loop_failure);
	ev_set_allocator(resize);
	json_set_alloc_funcs(mem_new, free);
}

/*
 * Opens the log. If the log cannot be opened, and only the configuration file in the home names it,
 * that is a fault of this file, and the session goes on.
 */
static int
open_log(struct log *log, struct options *options)
{
	struct configfile *file = &options->file;
	const char *fault = log_open(log, &options->log), *name = options->log.file;
	bool of_file = name != NULL && !options_given(options, options_key("log"));

	if (fault != NULL && of_file && !file->named) {
		json_array_append_new(file->faults, json_sprintf("log: %s", fault));
		options->log.file = NULL;
		fault = log_open(log, &options->log);
	}
	if (fault == NULL)
		return OPTIONS_RUN;
	if (of_file)
		return options_refuse(options, "--config '%.300s': log '%.300s': %s",
		    options->config, name, fault);
	return options_refuse(options, "--log '%.500s': %s", name != NULL ? name : "stderr", fault);
}

/*
 * Whether to execute the command directly. A client runs the command that it is configured with in
 * a terminal, so that a person can log in (ACP "Authentication Methods").
 */
static bool
stands_aside(const struct options *options)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) &&
	    !options_given(options, options_key("dialect"));
}

/* Executes the command in canceld's own place. Returns the status to exit with if it cannot. */
static int
stand_aside(const struct options *options)
{
	BUF_AUTO reason = { 0 };
	int error;

	fputs(
	    "canceld: a terminal speaks no JSON-RPC: the command runs in its place; -D keeps canceld between\n",
	    stderr);
	signals_restore();
	execvp(options->command[0], options->command);
	error = errno;
	command_explain(&reason, options->command[0], error);
	fprintf(stderr, "canceld: cannot start the command: %.*s\n", (int)reason.len, reason.data);
	return error == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
}

static void
close_log(struct log *log)
{
	int error = log_close(log);
	char line[256];

	if (error == 0)
		return;
	print_into(line, "canceld: --log: %.128s: %s\n", log->config.file, strerror(error));
	tell(line);
}

int
main(int argc, char *argv[])
{
	struct options options;
	struct log log;
	bool opened;
	int status;

	if (descriptor_sanitize() < 0) {
		perror("canceld: /dev/null");
		return STATUS_FAILED;
	}
	signals_save();
	prepare_memory();
	status = options_parse(&options, argc, argv);
	if (status == OPTIONS_RUN && stands_aside(&options))
		status = stand_aside(&options);
	if (status == OPTIONS_RUN && (status = configfile_load(&options)) == OPTIONS_RUN) {
		if (!options.no_isolation)
			starter_open(options.command);
		status = open_log(&log, &options);
	}
	opened = status == OPTIONS_RUN;
	/*
	 * A client seldom shows its user canceld's stderr: the fault is told in the answer to the
	 * client's first request.
	 */
	if (options.fault[0] != '\0' && !isatty(STDIN_FILENO))
		opened = log_open(&log, &options.log) == NULL;
	if (opened) {
		configfile_report(&options, &log);
		status = loop_run(&options, &log);
		starter_close();
		close_log(&log);
	}
	options_free(&options);
	return status;
}
