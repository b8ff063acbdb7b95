#ifndef CTL_STATS_H
#define CTL_STATS_H

/* cancelctl stats: what each canceld has counted. argv[0] is the command's name; returns the exit status. */

int ctl_stats(int argc, char *argv[]);

#endif
