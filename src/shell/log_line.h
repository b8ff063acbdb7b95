#ifndef SHELL_LOG_LINE_H
#define SHELL_LOG_LINE_H

/* How one line of the log is spelled. Each appends to line, without a newline. */

#include "core/buf.h"
#include "core/why.h"
#include "shell/log.h"

/* `canceld[PID]: WHY`, after the time if dated. */
void line_head(struct buf *line, enum why why, bool dated);

/* ` key=value` for each field. */
void line_fields(struct buf *line, const struct log_field *fields, size_t count);

/* The fields as one JSON object, what the head says before them if why is not NULL. */
void line_object(struct buf *line, const enum why *why, const struct log_field *fields, size_t count);

/* Any bytes made fit for a terminal: what is no printable UTF-8 becomes \xNN. */
void line_bytes(struct buf *line, struct span bytes);

#endif
