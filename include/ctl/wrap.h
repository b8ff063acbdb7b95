#ifndef CTL_WRAP_H
#define CTL_WRAP_H

/* cancelctl wrap and unwrap: put canceld before the servers of the clients that are here, and take it out. */

int ctl_wrap(int argc, char *argv[]);
int ctl_unwrap(int argc, char *argv[]);

#endif
