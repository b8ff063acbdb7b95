#ifndef SHELL_CONFIGFILE_H
#define SHELL_CONFIGFILE_H

/*
 * The configuration file, canceld.conf(5): a JSON object with the long names of options as its keys, and sections for
 * servers. It says what the command line does not say; the section for the server comes before the rest of the file.
 */

#include <jansson.h>
#include <stdbool.h>

#include "shell/log.h"
#include "shell/options.h"

struct configfile {
	char path[4096];        /* "": none, as there is no home */
	bool named;             /* by --config */
	char server[NAME_SIZE]; /* its name, for the choice of the section */
	json_t *in_force;       /* owned: what the session runs with; or NULL */
	struct buf fault;       /* why the file was refused at last, for a person; or empty */
};

/*
 * Reads the file that --config names, or the one in the home if it is there, after options_parse. Returns OPTIONS_RUN,
 * or STATUS_FAILED after options_refuse if the file of --config is refused. A refused file changes no option. Call
 * configfile_free in any case.
 */
int configfile_load(struct configfile *file, struct options *options) __attribute__((warn_unused_result));
void configfile_free(struct configfile *file);

/* Logs CONFIG_REFUSED if configfile_load has refused the file in the home. */
void configfile_report(const struct configfile *file, struct log *log);

/*
 * Reads the file again and logs CONFIG_RELOADED: new rules count for requests that arrive from now on, a new level of
 * the log counts at once. Returns {"changed":[..],"at_next_start":[..]}, the keys whose values differ from those in
 * force; the caller owns it. A file that is refused changes nothing, is logged as CONFIG_REFUSED, and the result is
 * NULL; file->fault tells why.
 */
json_t *configfile_reload(struct configfile *file, struct options *options, struct log *log);

#endif
