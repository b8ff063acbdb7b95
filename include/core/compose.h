#pragma once

#include "core/buf.h"

/*
 * Appends JSON or text. In the format ' stands for a quote, %s for a const char *, %d for an
 * int64_t, %b for the bytes of a span, %e for the text of a span escaped for a string, %m for a
 * last member _meta with the raw members in a span, or nothing if that is empty.
 */
void compose(struct buf *out, const char *format, ...);

#define COMPOSE_TURN_CANCEL \
	"{'jsonrpc':'2.0','method':'%s','params':{'sessionId':%b}}" /* ACP "Prompt Turn" */
