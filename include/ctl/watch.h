#ifndef CTL_WATCH_H
#define CTL_WATCH_H

/* cancelctl watch: decisions as they are made, or those of a trace. argv[0] is the command's name; returns the exit status. */

int ctl_watch(int argc, char *argv[]);

#endif
