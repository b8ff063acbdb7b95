#ifndef CTL_LS_H
#define CTL_LS_H

/* cancelctl ls: every canceld of this user, or the requests of one. argv[0] is the command's name; returns the exit status. */

int ctl_ls(int argc, char *argv[]);

#endif
