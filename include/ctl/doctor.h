#ifndef CTL_DOCTOR_H
#define CTL_DOCTOR_H

/* `cancelctl doctor`: the command line of the checkup of a server, and its reports. Returns the exit status. */
int ctl_doctor(int argc, char *argv[]);

#endif
