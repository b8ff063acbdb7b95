#ifndef CTL_METRICS_H
#define CTL_METRICS_H

/* cancelctl metrics: the counters for Prometheus. argv[0] is the command's name; returns the exit status. */

int ctl_metrics(int argc, char *argv[]);

#endif
