/* Progress for everybody: a request that asked for none is given a token, so that work can be told from hanging. */
#include <string.h>

#include "session_inside.h"

static bool
is_white(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Whether the object that starts at that offset of the message has no member. */
static bool
is_empty(const struct message *message, size_t offset)
{
	do
		offset++;
	while (is_white(message->text.ptr[offset]));
	return message->text.ptr[offset] == '}';
}

/* Writes the token as the first member of the object at that offset, itself within `wrap` objects of these names. */
static void
compose_token(struct buf *out, const struct message *message, size_t object, const char *wrap, const char *member,
    struct span token)
{
	bool empty = is_empty(message, object);

	buf_append(out, (struct span){ wrap, strlen(wrap) });
	buf_append(out, SPAN("\""));
	buf_append(out, (struct span){ member, strlen(member) });
	buf_append(out, SPAN("\":"));
	buf_append(out, token);
	for (; *wrap != '\0'; wrap++)
		if (*wrap == '{')
			buf_append(out, SPAN("}"));
	if (!empty)
		buf_append(out, SPAN(","));
}

struct place {
	uint64_t offset;  /* of the object that it is put into, from the frame's first byte */
	const char *wrap; /* the objects that have to be made around it */
};

/* MCP: params._meta; LSP: params. false: nowhere. */
static bool
find_place(const struct session *session, const struct message *message, struct place *place)
{
	const struct scan_value *params = scan_value(message->scan, SCAN_PARAMS);
	const struct scan_value *meta = scan_value(message->scan, SCAN_REQUEST_META);
	bool in_meta = session->dialect->asked_object == SCAN_REQUEST_META;

	if (in_meta && meta->type == VALUE_OBJECT)
		*place = (struct place){ meta->offset, "" };
	else if (params->type == VALUE_OBJECT && meta->type == VALUE_ABSENT && in_meta)
		*place = (struct place){ params->offset, "\"_meta\":{" };
	else if (params->type == VALUE_OBJECT && !in_meta)
		*place = (struct place){ params->offset, "" };
	else if (params->type == VALUE_ABSENT && in_meta)
		*place = (struct place){ scan_value_start(message->scan), "\"params\":{\"_meta\":{" };
	else
		return false;
	return true;
}

bool
session_may_ask(const struct session *session, const struct message *message, const struct pending_names *names,
    unsigned traits)
{
	return session->config.ask_progress && session->dialect->asked_member != NULL && message->from == SIDE_CLIENT &&
	    !message->passed && names->token.len == 0 &&
	    !(traits & (METHOD_NO_CANCEL | METHOD_EXEMPT | METHOD_PERSON)) && scan_fault(message->scan) == SCAN_FINE;
}

bool
session_ask_progress(struct session *session, struct message *message, struct span token, struct buf *storage)
{
	uint64_t origin = session->party[message->from].frame.body;
	struct place place;
	size_t object;

	if (!find_place(session, message, &place))
		return false;
	object = (size_t)(place.offset - (message->start - origin));
	compose_token(storage, message, object, place.wrap, session->dialect->asked_member, token);
	message_insert(message, place.offset + 1, buf_span(storage));
	return true;
}
