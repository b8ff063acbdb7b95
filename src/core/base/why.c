#include "core/why.h"

static const struct {
	const char *word;
	enum why_level level;
} whys[] = {
#define WHY_ROW(name, level, meaning) [WHY_##name] = { #name, LEVEL_##level },
	WHY_LIST(WHY_ROW)
#undef WHY_ROW
};

const char *
why_word(enum why why)
{
	return whys[why].word;
}

enum why_level
why_level(enum why why)
{
	return whys[why].level;
}
