/* suites: the suites of each file of tests. */
#ifndef E2E_SUITES_H
#define E2E_SUITES_H

#include <check.h>
#include <stdbool.h>

Suite *suite_demo_server(void);
Suite *suite_timeouts(void);
Suite *suite_cancels(void);
Suite *suite_ends(void);
Suite *suite_drain(void);
Suite *suite_server_ends(void);
Suite *suite_statuses(void);
Suite *suite_restarts(void);
Suite *suite_lost_servers(void);
Suite *suite_early_exits(void);
Suite *suite_options(void);
Suite *suite_config(void);
Suite *suite_dry_run(void);
Suite *suite_trace(void);
Suite *suite_streams(void);
Suite *suite_noise(void);
Suite *suite_logs(void);
Suite *suite_descriptors(void);
Suite *suite_tree(void);
Suite *suite_sweep(void);
Suite *suite_npx(void);
Suite *suite_guardian(void);
Suite *suite_client_ends(void);
Suite *suite_client_leaks(void);
Suite *suite_not_ends(void);
Suite *suite_control(void);
Suite *suite_idle(void);
Suite *suite_times(void);
Suite *suite_faults(void);
Suite *suite_doctor(void);
Suite *suite_doctor_hostile(void);
Suite *suite_doctor_reports(void);
Suite *suite_wraps(void);
Suite *suite_cancelctl(void);

/*
 * Runs every cell of the matrix so many times, without npx unless asked for; prints the table of passes; 0: none
 * failed.
 */
int matrix(int rounds, bool with_npx);

#endif
