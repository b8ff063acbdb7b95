#include "ctl/show.h"

#include "core/compose.h"
#include "shell/words.h"

enum { TIME_SIZE = 32 };

/*
 * Appends the number at the beginning of the text in a form that jansson accepts. Returns its
 * length in the text.
 */
static size_t
put_number(struct buf *out, struct span text, bool exact)
{
	size_t len = strspn(text.ptr, "-+.eE0123456789");
	bool big;

	errno = 0;
	strtoll(text.ptr, NULL, 10);
	big = errno == ERANGE && strcspn(text.ptr, ".eE") >= len;
	compose_text(out, big && exact ? "\"%b\"" : big ? "%b.0" : "%b", span_head(text, len));
	return len;
}

json_t *
show_parse(struct span text, bool exact)
{
	json_t *value = json_loadb(text.ptr, text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	BUF_AUTO whole = { 0 }, out = { 0 };
	bool quoted = false;
	size_t len;

	if (value != NULL)
		return value;
	/* jansson refuses a whole text for one number that is too large. */
	buf_append(&whole, text);
	buf_append(&whole, span_at("", 1));
	for (struct span rest = { whole.data, text.len }; rest.len > 0;
	     rest = span_from(rest, len)) {
		len = 1;
		if (!quoted && strchr("-0123456789", *rest.ptr) != NULL && *rest.ptr != '\0') {
			len = put_number(&out, rest, exact);
			continue;
		}
		quoted ^= *rest.ptr == '"';
		len += quoted && *rest.ptr == '\\' && rest.len > 1;
		buf_append(&out, span_head(rest, len));
	}
	return json_loadb(out.data, out.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
}

struct span
show_take_line(struct span *text)
{
	struct span line = span_until(*text, "\n");

	*text = span_from(*text, line.len + (line.len < text->len));
	return line;
}

bool
show_is_meant(const char *which, struct span name, json_int_t pid)
{
	char number[SPAN_NUMBER_MAX];

	return which == NULL || span_is(name, which) || span_is(span_number(pid, number), which);
}

int
show_flush(void)
{
	static int fault;

	if ((fflush(stdout) != 0 || ferror(stdout) != 0) && fault == 0)
		fault = errno;
	return fault;
}

void
show_buf(struct buf *bytes)
{
	fwrite(buf_span(bytes).ptr, 1, bytes->len, stdout);
	buf_free(bytes);
	show_flush();
}

struct span
show_value(const json_t *value)
{
	static char *text;

	free(text);
	text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	return span_of(text);
}

void
show_json(const json_t *object)
{
	struct buf line = { 0 };

	printable_append_json(&line, object == NULL ? SPAN("null") : show_value(object), false);
	compose_text(&line, "\n");
	show_buf(&line);
}

void
show_line(struct buf *text)
{
	struct buf line = { 0 };

	printable_append(&line, buf_span(text), "");
	compose_text(&line, "\n");
	show_buf(&line);
	buf_free(text);
}

void
show_lines(struct buf *out, struct span text, const char *lead)
{
	for (struct span part; text.len > 0; text = span_from(text, part.len)) {
		part = span_until(text, "\r\n\t");
		printable_append(out, part, "");
		if (part.len == text.len)
			return;
		if (text.ptr[part.len] == '\t')
			compose_text(out, "\t");
		else if (text.ptr[part.len] == '\n' && (part.len > 0 || lead[0] == '\0'))
			compose_text(out, "\n%s", lead);
		part.len++;
	}
}

struct span
show_time(msec_t time)
{
	static char texts[2][TIME_SIZE];
	static size_t last;
	char *text = texts[last ^= 1];
	const char *sign = time < 0 ? "-" : "";
	long long ms = time < 0 ? -time : time;
	long long s = ms / 1000, m = s / 60, h = m / 60;

	if (ms < 1000)
		snprintf(text, TIME_SIZE, "%s%lldms", sign, ms);
	else if (s < 10)
		snprintf(text, TIME_SIZE, "%s%gs", sign, (double)(ms - ms % 100) / 1000);
	else if (m == 0)
		snprintf(text, TIME_SIZE, "%s%llds", sign, s);
	else if (h == 0)
		snprintf(text, TIME_SIZE, "%s%lldm%02llds", sign, m, s % 60);
	else if (h < 24)
		snprintf(text, TIME_SIZE, "%s%lldh%02lldm", sign, h, m % 60);
	else
		snprintf(text, TIME_SIZE, "%s%lldd%02lldh", sign, h / 24, h % 24);
	return span_of(text);
}

struct span
show_text(const json_t *value)
{
	return json_is_string(value) ?
	    span_at(json_string_value(value), json_string_length(value)) :
	    SPAN("");
}

struct span
show_string(const json_t *object, const char *key)
{
	return show_text(json_object_get(object, key));
}

const char *
show_chars(const json_t *object, const char *key)
{
	return show_string(object, key).ptr;
}

json_t *
show_dump(json_t *value)
{
	return value == NULL || json_is_string(value) ? json_incref(value) :
							json_string(show_value(value).ptr);
}

bool
show_has(const json_t *object, const char *key)
{
	return json_object_get(object, key) != NULL;
}

bool
show_is(const json_t *object, const char *key, const char *words)
{
	return span_is_any(show_string(object, key), words);
}

void
show_add(json_t *object, const char *key, json_int_t number)
{
	json_object_set_new(object, key, json_integer(show_number(object, key) + number));
}

void
show_take(json_t *object, const json_t *from, const char *keys)
{
	for (size_t len; *keys != '\0'; keys += len + (keys[len] == ' ')) {
		len = strcspn(keys, " ");
		json_object_setn(object, keys, len, json_object_getn(from, keys, len));
	}
}

json_int_t
show_number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_real(value) ? (json_int_t)json_real_value(value) : json_integer_value(value);
}

struct item {
	json_int_t number;
	size_t at;
	json_t *value;
};

static int
compare(const void *a, const void *b)
{
	const struct item *one = a, *two = b;

	if (one->number == two->number)
		return one->at < two->at ? -1 : 1;
	return one->number < two->number ? -1 : 1;
}

void
show_sort(json_t *values, const char *key)
{
	size_t count = json_array_size(values), i;
	struct item *items = mem_new((count + 1) * sizeof(*items));
	json_t *value;

	json_array_foreach (values, i, value)
		items[i] = (struct item){ key == NULL ? json_integer_value(value) :
							show_number(value, key),
			i, json_incref(value) };
	qsort(items, count, sizeof(*items), compare);
	for (i = 0; i < count; i++)
		json_array_set_new(values, i, items[i].value);
	free(items);
}
