#ifndef CTL_TOP_H
#define CTL_TOP_H

/* cancelctl top: the requests of every canceld, refreshed. argv[0] is the command's name; returns the exit status. */

int ctl_top(int argc, char *argv[]);

#endif
