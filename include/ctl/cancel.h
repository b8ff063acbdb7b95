#ifndef CTL_CANCEL_H
#define CTL_CANCEL_H

/* cancelctl cancel: ends requests from outside. argv[0] is the command's name; returns the exit status. */

int ctl_cancel(int argc, char *argv[]);

#endif
