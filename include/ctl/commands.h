#ifndef CTL_COMMANDS_H
#define CTL_COMMANDS_H

/* The commands of cancelctl: argv[0] is the name; each returns the exit status. */

int ctl_ls(int argc, char *argv[]);
int ctl_cancel(int argc, char *argv[]);
int ctl_set(int argc, char *argv[]);
int ctl_watch(int argc, char *argv[]);
int ctl_top(int argc, char *argv[]);
int ctl_stats(int argc, char *argv[]);
int ctl_metrics(int argc, char *argv[]);
int ctl_reload(int argc, char *argv[]);
int ctl_log(int argc, char *argv[]);
int ctl_wrap(int argc, char *argv[]);
int ctl_unwrap(int argc, char *argv[]);
int ctl_doctor(int argc, char *argv[]);

#endif
