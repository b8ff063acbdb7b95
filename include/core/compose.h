#pragma once

#include "core/buf.h"

/*
 * Append as printf does: %s a const char *, %d an int64_t, %b the bytes of a span. What the
 * compiler checks of printf, test/tools/compose.sh has it check of these two.
 */
void compose_text(struct buf *out, const char *format, ...);

/*
 * JSON: %s and %e are a const char * and a span as the text of a string, escaped as RFC 8259
 * section 7 requires, where what is not UTF-8 becomes '?'; %b is JSON itself; %m is a last member
 * _meta with the raw members in a span, or nothing if that is empty.
 */
void compose_json(struct buf *out, const char *format, ...);

#define COMPOSE_TURN_CANCEL \
	"{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":{\"sessionId\":%b}}" /* ACP "Prompt Turn" */
