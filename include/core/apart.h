#ifndef CORE_APART_H
#define CORE_APART_H

/*
 * A function that is kept apart from its callers: put into them, its variables and its calls would cost them registers to
 * save each time, even where they do not come to it.
 */
#define APART __attribute__((noinline))

#endif
