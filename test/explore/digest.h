#pragma once

/*
 * What can still influence the future of a session, as bytes: two sessions with the same bytes, and
 * the same clients and servers, do the same from now on. Times are relative to now, positions to
 * what is written, serials to the order.
 */

#include "core/session.h"

void digest_session(const struct session *session, struct buf *out);
