#ifndef CTL_VIEWS_H
#define CTL_VIEWS_H

/* What people see of a canceld and of its requests; see shell/control.h for the objects. */

#include <jansson.h>

#include "core/buf.h"
#include "ctl/table.h"

enum { VIEW_INSTANCE_WIDTH = 10, VIEW_REQUEST_WIDTH = 9 };

extern const struct column view_instance_columns[VIEW_INSTANCE_WIDTH];
extern const struct column view_request_columns[VIEW_REQUEST_WIDTH];

/* Add one row. about: the answer to `list`, or NULL: there was none; request: one of its requests. */
void view_instance(struct table *table, long pid, const json_t *about);
void view_request(struct table *table, const json_t *request);

/* Prints it, cut to the terminal. */
void view_table(const struct table *table);

/* "tools/call slow": the method, and the name if there is one. */
void view_method(struct buf *text, const json_t *request);

/* How many requests of the answer were left out because there are too many. */
json_int_t view_more(const json_t *about);

#endif
