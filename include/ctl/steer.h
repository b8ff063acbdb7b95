#ifndef CTL_STEER_H
#define CTL_STEER_H

/* cancelctl set, reload and log: change what canceld does. argv[0] is the command's name; each returns the exit status. */

int ctl_set(int argc, char *argv[]);
int ctl_reload(int argc, char *argv[]);
int ctl_log(int argc, char *argv[]);

#endif
