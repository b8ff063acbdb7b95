#include "scenario/option.h"

#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "scenario/vocabulary.h"

struct unit {
	const char *name;
	msec_t factor;
};

static const struct unit durations[] = {
	{ "", 1 },
	{ "ms", 1 },
	{ "s", 1000 },
	{ "m", 60 * 1000 },
	{ "h", 60 * 60 * 1000 },
	{ NULL, 0 },
};

static const struct unit sizes[] = {
	{ "", 1 },
	{ "K", 1 << 10 },
	{ "M", 1 << 20 },
	{ NULL, 0 },
};

static bool
read_amount(struct span text, const struct unit *unit, msec_t *amount)
{
	char string[32];
	char *end;

	if (text.len == 0 || text.len >= sizeof(string))
		return false;
	memcpy(string, text.ptr, text.len);
	string[text.len] = '\0';
	*amount = strtoll(string, &end, 10);
	while (unit->name != NULL && strcmp(unit->name, end) != 0)
		unit++;
	*amount *= unit->factor;
	return end != string && unit->name != NULL;
}

bool
option_number(struct span text, msec_t *number)
{
	static const struct unit none[] = { { "", 1 }, { NULL, 0 } };

	return read_amount(text, none, number);
}

bool
option_duration(struct span text, msec_t *duration)
{
	*duration = MSEC_NEVER;
	return span_equal(text, SPAN("none")) || read_amount(text, durations, duration);
}

static struct span
behind(struct span text, const char *at)
{
	size_t offset = (size_t)(at - text.ptr) + 1;

	return span_part(text, offset, text.len - offset);
}

static struct option *
add_option(struct scenario *scenario, enum policy_kind kind)
{
	struct option *option;

	scenario->options =
	    mem_resize(scenario->options, scenario->option_count + 1, sizeof(*scenario->options));
	option = &scenario->options[scenario->option_count++];
	memset(option, 0, sizeof(*option));
	option->kind = kind;
	return option;
}

/* [METHOD[:NAME]=]DURATION */
static bool
read_rule(struct scenario *scenario, enum policy_kind kind, struct span value)
{
	size_t equal = span_through(value, '=');
	struct span subject = span_head(value, equal - (equal > 0));
	const char *colon = subject.len == 0 ? NULL : memchr(subject.ptr, ':', subject.len);
	struct option *option = add_option(scenario, kind);

	if (colon != NULL) {
		option->name = vocabulary_copy(behind(subject, colon));
		subject.len = (size_t)(colon - subject.ptr);
	}
	if (subject.len > 0)
		option->method = vocabulary_copy(subject);
	if (!option_duration(span_from(value, equal), &option->duration))
		return false;
	if (option->duration == 0)
		option->duration = MSEC_NEVER;
	return true;
}

static bool
read_dialect(struct session_config *config, struct span value)
{
	config->dialect = dialect_named(value);
	return config->dialect != NULL || span_equal(value, SPAN("auto"));
}

static bool
read_size(struct span value, size_t *size)
{
	msec_t amount;

	if (!read_amount(value, sizes, &amount))
		return false;
	*size = (size_t)amount;
	return true;
}

static bool
read_switch(struct session_config *config, struct span word)
{
	const struct {
		const char *name;
		bool *value;
	} switches[] = {
		{ "no-cancel", &config->no_cancel },
		{ "answer-cancelled", &config->answer_cancelled },
		{ "tool-errors", &config->tool_errors },
		{ "ask-progress", &config->ask_progress },
		{ "clean-text", &config->clean_text },
		{ "legacy", &config->legacy },
		{ "restarts", &config->restarts },
		{ "observed", &config->observed },
		{ "stateless", &config->stateless },
		{ "dry-run", &config->dry_run },
	};

	for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++)
		if (span_equal(word, span_of(switches[i].name))) {
			*switches[i].value = true;
			config->restarts |= config->stateless;
			return true;
		}
	return false;
}

/* METHOD=JSON, without blanks */
static bool
read_answer(struct scenario *scenario, struct span value)
{
	struct span method = span_until(value, "=");
	struct option *option;

	if (method.len == value.len)
		return false;
	option = add_option(scenario, POLICY_ANSWER);
	option->method = vocabulary_copy(method);
	option->result = vocabulary_copy(span_from(value, method.len + 1));
	return true;
}

bool
option_read(struct scenario *scenario, struct span word)
{
	const char *equal = memchr(word.ptr, '=', word.len);
	struct span name, value;

	if (equal == NULL)
		return read_switch(&scenario->config, word);
	name = span_part(word, 0, (size_t)(equal - word.ptr));
	value = behind(word, equal);
	if (span_equal(name, SPAN("dialect")))
		return read_dialect(&scenario->config, value);
	if (span_equal(name, SPAN("timeout")))
		return read_rule(scenario, POLICY_IDLE, value);
	if (span_equal(name, SPAN("max-time")))
		return read_rule(scenario, POLICY_CAP, value);
	if (span_equal(name, SPAN("parallel")))
		return read_rule(scenario, POLICY_PARALLEL, value);
	if (span_equal(name, SPAN("answer")))
		return read_answer(scenario, value);
	if (span_equal(name, SPAN("grace")))
		return option_duration(value, &scenario->config.grace);
	if (span_equal(name, SPAN("kill-stuck")))
		return option_duration(value, &scenario->config.kill_stuck);
	if (span_equal(name, SPAN("heartbeat")))
		return option_duration(value, &scenario->config.heartbeat);
	if (span_equal(name, SPAN("kill-ignoring")))
		return option_duration(value, &scenario->config.kill_ignoring);
	if (span_equal(name, SPAN("max-message")))
		return read_size(value, &scenario->config.max_message);
	if (span_equal(name, SPAN("max-inflight")))
		return read_size(value, &scenario->config.max_inflight);
	return false;
}
