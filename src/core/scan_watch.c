#include "scan_watch.h"

#include <string.h>

#include "core/unescape.h"

static void
capture_start(struct capture *capture, char *to, size_t max, const char *at)
{
	*capture = (struct capture){ .mark = at, .to = to, .max = (uint32_t)max, .active = true };
}

static void
capture_until(struct capture *capture, const char *at)
{
	if (!capture->active)
		return;

	size_t len = (size_t)(at - capture->mark), room = capture->max - capture->len;

	if (len > room) {
		capture->overflow = true;
		len = room;
	}
	memcpy(capture->to + capture->len, capture->mark, len);
	capture->len += (uint32_t)len;
	capture->mark = at;
}

static void
capture_end(struct capture *capture, const char *at)
{
	capture_until(capture, at);
	capture->active = false;
}

void
watch_init(struct watch *watch)
{
	path_index_init(&watch->index);
}

void
watch_start(struct watch *watch)
{
	watch->path = NULL;
	watch->present = watch->seen = 0;
	watch->kept_len = 0;
	watch->key.active = watch->value.active = watch->member.active = false;
}

static uint64_t
bit_of(enum scan_field field)
{
	return (uint64_t)1 << field;
}

const struct scan_value *
watch_found(const struct watch *watch, enum scan_field field)
{
	static const struct scan_value absent = { 0 };

	return watch->present & bit_of(field) ? &watch->values[field] : &absent;
}

static inline struct scan_value *
set_value(struct watch *watch, enum scan_field field)
{
	watch->present |= bit_of(field);
	return &watch->values[field];
}

void
watch_piece(struct watch *watch, const char *piece, const char *end)
{
	watch->piece_end = end;
	watch->key.mark = piece;
	watch->value.mark = piece;
	watch->member.mark = piece;
}

void
watch_piece_end(struct watch *watch, const char *at)
{
	capture_until(&watch->key, at);
	capture_until(&watch->value, at);
	capture_until(&watch->member, at);
}

/* Whether the key has the prefix is known only at its end: each member is captured from its quote on. */
static void
start_member(struct watch *watch, const char *quote)
{
	const struct scan_value *members = watch_found(watch, SCAN_PARAMS_META);
	uint32_t start = members->len > 0 ? members->len + 1 : 0;

	if (start > SCAN_META_MAX)
		start = SCAN_META_MAX;
	capture_start(&watch->member, watch->members + start, SCAN_META_MAX - start, quote);
}

static void
end_member(struct watch *watch, const char *at)
{
	struct scan_value *members = &watch->values[SCAN_PARAMS_META];

	capture_end(&watch->member, at);
	if (!(watch->present & bit_of(SCAN_PARAMS_META)))
		*set_value(watch, SCAN_PARAMS_META) =
		    (struct scan_value){ .type = VALUE_OBJECT, .offset = watch->key_start };
	members->overflow |= watch->member.overflow;
	if (members->overflow) {
		members->len = 0;
		return;
	}
	if (members->len > 0)
		watch->members[members->len++] = ',';
	members->len += watch->member.len;
}

void
watch_key(struct watch *watch, enum container container, const char *quote, uint64_t offset)
{
	watch->key_start = offset;
	capture_start(&watch->key, watch->key_text, WATCH_KEY_MAX, quote + 1);
	if (container == PARAMS_META)
		start_member(watch, quote);
}

static struct span
unescaped_key(const struct watch *watch, char *out)
{
	struct span key = { watch->key_text, watch->key.len };
	struct unescape walk;
	size_t len = 0;
	int byte;

	if (key.len == 0 || memchr(key.ptr, '\\', key.len) == NULL)
		return key;
	unescape_init(&walk, key);
	while ((byte = unescape_next(&walk)) >= 0)
		out[len++] = (char)byte;
	return (struct span){ out, len };
}

static bool
has_prefix(struct span key)
{
	struct span prefix = SPAN(PATH_META_PREFIX);

	return key.len >= prefix.len && memcmp(key.ptr, prefix.ptr, prefix.len) == 0;
}

/* Enters what the key says; false: it is a duplicate. */
static inline bool
set_path(struct watch *watch, const struct path *path)
{
	bool again;

	watch->path = path;
	if (path == NULL)
		return true;
	again = watch->seen & path_bit(path);
	if (again)
		watch->path = NULL;
	watch->seen |= path_bit(path);
	return !again || path->field == SCAN_ERROR_MESSAGE;
}

bool
watch_key_end(struct watch *watch, enum container container, const char *quote)
{
	char text[WATCH_KEY_MAX];
	struct span key;

	capture_end(&watch->key, quote);
	key = unescaped_key(watch, text);
	if (watch->member.active && !has_prefix(key))
		watch->member.active = false;
	return set_path(watch, path_find(&watch->index, container, key, key.ptr + key.len));
}

size_t
watch_guess_key(struct watch *watch, enum container container, const char *quote)
{
	const struct path *path = path_guess(&watch->index, container, quote, watch->piece_end);

	return path != NULL && set_path(watch, path) ? path_spelled_len(path) : 0;
}

bool
watch_whole_key(struct watch *watch, enum container container, struct span key, uint64_t offset)
{
	if (!set_path(watch, path_find(&watch->index, container, key, watch->piece_end)))
		return false;
	if (container == PARAMS_META && has_prefix(key)) {
		watch->key_start = offset;
		start_member(watch, key.ptr - 1);
	}
	return true;
}

void
watch_value(struct watch *watch, enum value_type type, const char *at, uint64_t offset)
{
	if (watch->path == NULL)
		return;
	watch->open = (struct scan_value){ .type = type, .offset = offset, .at = watch->kept_len };
	if (watch->path->opens != 0)
		*set_value(watch, watch->path->field) = watch->open;
	else if (type != VALUE_OBJECT && type != VALUE_ARRAY)
		capture_start(&watch->value, watch->kept + watch->kept_len, SCAN_VALUE_MAX, at);
}

static void
keep_value(struct watch *watch, const char *at)
{
	if (watch->value.active) {
		capture_end(&watch->value, at);
		watch->open.overflow = watch->value.overflow;
		watch->open.len = watch->value.overflow ? 0 : watch->value.len;
		watch->kept_len += watch->open.len;
	}
	*set_value(watch, watch->path->field) = watch->open;
}

/* Most values are short: then bytes behind them are copied too, which saves a call. */
static inline void
keep_text(struct watch *watch, struct span text)
{
	char *to = watch->kept + watch->kept_len;

	if (text.len <= WATCH_SHORT && watch->piece_end - text.ptr >= WATCH_SHORT)
		memcpy(to, text.ptr, WATCH_SHORT);
	else
		memcpy(to, text.ptr, text.len);
	watch->kept_len += (uint32_t)text.len;
}

void
watch_whole_value(struct watch *watch, enum value_type type, struct span text, uint64_t offset)
{
	const struct path *path = watch->path;
	struct scan_value *value;

	if (watch->member.active)
		end_member(watch, text.ptr + text.len);
	if (path == NULL)
		return;
	watch->path = NULL;
	value = set_value(watch, path->field);
	*value = (struct scan_value){ .type = type, .offset = offset, .end = offset + text.len, .at = watch->kept_len };
	if (path->opens != 0)
		return;
	value->overflow = text.len > SCAN_VALUE_MAX;
	if (value->overflow)
		return;
	value->len = (uint32_t)text.len;
	keep_text(watch, text);
}

void
watch_kept_value_end(struct watch *watch, const char *at, uint64_t end)
{
	if (watch->path != NULL && watch->path->opens == 0)
		keep_value(watch, at);
	if (watch->path != NULL)
		watch->values[watch->path->field].end = end;
	watch->path = NULL;
	if (watch->member.active)
		end_member(watch, at);
}

void
watch_container_end(struct watch *watch, enum container container, bool empty, uint64_t end)
{
	static const unsigned char fields[CONTAINERS] = {
		[MESSAGE] = SCAN_FIELDS,
		[PARAMS] = SCAN_PARAMS,
		[PARAMS_META] = SCAN_REQUEST_META,
		[CLIENT_CAPABILITIES] = SCAN_FIELDS,
		[CLIENT_CANCELLATION] = SCAN_FIELDS,
		[RESULT] = SCAN_RESULT,
		[RESULT_META] = SCAN_FIELDS,
		[RESULT_TASK] = SCAN_FIELDS,
		[AGENT_CAPABILITIES] = SCAN_FIELDS,
		[AGENT_CANCELLATION] = SCAN_FIELDS,
		[SERVER_CAPABILITIES] = SCAN_CAPABILITIES,
		[SERVER_TOOLS] = SCAN_FIELDS,
		[SERVER_PROMPTS] = SCAN_FIELDS,
		[SERVER_RESOURCES] = SCAN_FIELDS,
		[ERROR] = SCAN_ERROR,
	};

	if (container >= MESSAGE) {
		watch->values[fields[container]].empty = empty;
		watch->values[fields[container]].end = end;
	} else if (watch->path != NULL) {
		watch->open.empty = empty;
		watch->values[watch->path->field].empty = empty;
	}
}

enum container
watch_object(const struct watch *watch)
{
	enum container container = watch->path != NULL ? watch->path->opens : 0;

	return container != 0 ? container : PLAIN_OBJECT;
}
