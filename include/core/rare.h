#ifndef CORE_RARE_H
#define CORE_RARE_H

/*
 * What is rare is kept out of the way of what is not: its variables, and the calls it makes, would cost the common case
 * registers to save each time. A function that is marked so is not put into its callers.
 */
#define RARE __attribute__((noinline))

#endif
