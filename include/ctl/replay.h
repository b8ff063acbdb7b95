#ifndef CTL_REPLAY_H
#define CTL_REPLAY_H

/* cancelctl replay FILE: runs a trace (shell/trace.h) through the decisions of this version, and compares them. */
int ctl_replay(int argc, char *argv[]);

#endif
