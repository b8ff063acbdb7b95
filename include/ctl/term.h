#ifndef CTL_TERM_H
#define CTL_TERM_H

/* The terminal of this process. */

#include <stdbool.h>
#include <stddef.h>

/* Escapes of colours; an empty string each where term_colours is false. */
enum term_colour { COLOUR_NONE, COLOUR_BOLD, COLOUR_DIM, COLOUR_RED, COLOUR_YELLOW, COLOUR_REVERSE };

/* How many cells a line of stdout has; 0: it is no terminal. rows may be NULL. */
size_t term_width(size_t *rows);

/* Whether stdout may be coloured: it is a terminal, NO_COLOR is not set or empty, and TERM is not "dumb". */
bool term_colours(void);

/* The escape, or "" where nothing may be coloured. */
const char *term_colour(enum term_colour colour);

/*
 * Takes the screen: another page, no cursor, each key at once and unseen. false: stdin or stdout is no terminal. Until
 * term_leave, which a handler of signals may call, and which does nothing where the screen is not taken.
 */
bool term_enter(void);
void term_leave(void);

#endif
