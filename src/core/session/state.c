#include "state.h"

struct session_view
session_view(const struct session *session)
{
	const struct handshake *handshake = &session->handshake;

	return (struct session_view){
		.journal = &session->journal,
		.server = &session->server,
		.dialect = handshake->dialect,
		.protocol = handshake->dialect_known ? handshake->dialect->name : "",
		.era = handshake_era(handshake),
		.plain = handshake->plain,
		.client = buf_span(&handshake->client),
		.oldest = session->client.pending.oldest,
		.now = session->clocks.steady,
		.probe_took = session->probe.took,
	};
}

size_t
session_outstanding(const struct session *session, enum side requester)
{
	return pending_outstanding(&session->party[requester].pending);
}
