#ifndef SHELL_VIEWS_H
#define SHELL_VIEWS_H

/* What a person sees of this canceld, as JSON. The caller owns each object. */

#include <jansson.h>
#include <stdbool.h>

#include "core/operator.h"
#include "shell/life.h"

struct views { /* all borrowed */
	const struct options *options;
	struct session *session;
	const struct life *life;
	const struct client *client;
	int64_t started;   /* seconds since 1970 */
	msec_t started_at; /* monotonic */
	msec_t now;
};

enum {
	VIEWS_BYTES = 128 << 10, /* of the requests in one list, about */
	VIEWS_NAME = 256,        /* bytes shown of a method or name */
};

/* The result of `list` (control.h). requests: with the outstanding requests, as far as they fit. */
json_t *views_list(const struct views *views, bool requests);

/* The result of `stats`. */
json_t *views_stats(const struct views *views);

/* The members that name a request: id, from, method, name, age_ms. */
json_t *views_name(const struct request_view *view);

#endif
