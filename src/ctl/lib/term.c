#include "ctl/show.h"

#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static struct termios former;
static volatile bool entered;

size_t
term_cells(int out, size_t *rows)
{
	struct winsize size;

	if (!isatty(out))
		return SIZE_MAX;
	if (ioctl(out, TIOCGWINSZ, &size) < 0 || size.ws_col == 0 || size.ws_row == 0)
		size = (struct winsize){ .ws_col = 80, .ws_row = 24 };
	if (rows != NULL)
		*rows = size.ws_row;
	return size.ws_col;
}

static bool
has_escapes(void)
{
	const char *kind = getenv("TERM");

	return isatty(STDOUT_FILENO) && kind != NULL && !text_is(kind, "dumb");
}

bool
term_colours(void)
{
	const char *refused = getenv("NO_COLOR");

	return (refused == NULL || refused[0] == '\0') && has_escapes();
}

const char *
term_colour(const char *escape)
{
	bool colour = text_begins(escape, "\033[3");

	return (colour ? term_colours() : has_escapes()) ? escape : "";
}

/* A terminal that takes no more is not waited for twice. */
static void
put(const char *text)
{
	(void)!write(STDOUT_FILENO, text, strlen(text));
}

bool
term_enter(void)
{
	struct termios raw;

	if (!isatty(STDOUT_FILENO) || (!entered && tcgetattr(STDIN_FILENO, &former) < 0))
		return false;
	raw = former;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	entered = true;
	if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw) < 0)
		return false;
	put("\033[?1049h\033[?25l");
	return true;
}

void
term_leave(void)
{
	if (!entered)
		return;
	entered = false;
	put("\033[0m\033[?25h\033[?1049l");
	tcsetattr(STDIN_FILENO, TCSADRAIN, &former);
}
