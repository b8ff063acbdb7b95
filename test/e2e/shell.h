/* shell: commands of cancelctl as a person types them. */
#pragma once

extern char shell_output[65536]; /* of the last command, stdout and stderr */

/* Runs the script in a shell behind `before`, which is expanded first. Returns its status. */
int shell_run(const char *before, const char *script);

/* The same; fails if the status is another one or the output has not this in it. */
void shell_expect(const char *before, const char *script, int status, const char *said);

/* The same beside a canceld, with NULL none: cancelctl is $C, and the pid of canceld $PID. */
struct run;
void run_expect_shell(const struct run *run, const char *script, int status, const char *said);

/* The same on a terminal whose lines have so many cells, with any status. */
void shell_expect_terminal(unsigned short cells, const char *script, const char *said);
