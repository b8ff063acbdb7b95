#include "scan_number.h"

enum { DIGIT_0, DIGIT, SIGN_PLUS, SIGN_MINUS, POINT, LETTER_E, OTHER, CLASSES };

/* What does not stand here is NUMBER_START, from where no number goes on. */
static const unsigned char moves[NUMBER_STATES][CLASSES] = {
	[NUMBER_START] = { [DIGIT_0] = NUMBER_ZERO, [DIGIT] = NUMBER_WHOLE, [SIGN_MINUS] = NUMBER_MINUS },
	[NUMBER_MINUS] = { [DIGIT_0] = NUMBER_ZERO, [DIGIT] = NUMBER_WHOLE },
	[NUMBER_ZERO] = { [POINT] = NUMBER_POINT, [LETTER_E] = NUMBER_E },
	[NUMBER_WHOLE] = { NUMBER_WHOLE, NUMBER_WHOLE, [POINT] = NUMBER_POINT, [LETTER_E] = NUMBER_E },
	[NUMBER_POINT] = { NUMBER_FRACTION, NUMBER_FRACTION },
	[NUMBER_FRACTION] = { NUMBER_FRACTION, NUMBER_FRACTION, [LETTER_E] = NUMBER_E },
	[NUMBER_E] = { NUMBER_EXPONENT, NUMBER_EXPONENT, NUMBER_E_SIGN, NUMBER_E_SIGN },
	[NUMBER_E_SIGN] = { NUMBER_EXPONENT, NUMBER_EXPONENT },
	[NUMBER_EXPONENT] = { NUMBER_EXPONENT, NUMBER_EXPONENT },
};

static int
class_of(char c)
{
	if (c >= '1' && c <= '9')
		return DIGIT;
	switch (c) {
	case '0':
		return DIGIT_0;
	case '+':
		return SIGN_PLUS;
	case '-':
		return SIGN_MINUS;
	case '.':
		return POINT;
	case 'e':
	case 'E':
		return LETTER_E;
	default:
		return OTHER;
	}
}

const char *
number_read(enum number_state *state, const char *at, const char *end)
{
	for (; at < end; at++) {
		enum number_state next = moves[*state][class_of(*at)];

		if (next == NUMBER_START)
			break;
		*state = next;
	}
	return at;
}

bool
number_is_whole(enum number_state state)
{
	return state == NUMBER_ZERO || state == NUMBER_WHOLE || state == NUMBER_FRACTION || state == NUMBER_EXPONENT;
}
