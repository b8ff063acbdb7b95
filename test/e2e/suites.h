/* suites: one function a file of tests; main runs them in this order. */
#ifndef E2E_SUITES_H
#define E2E_SUITES_H

#include <check.h>

Suite *suite_demo_server(void); /* the server that all the others lean on, without canceld */
Suite *suite_timeouts(void);
Suite *suite_cancels(void);
Suite *suite_ends(void);
Suite *suite_statuses(void);
Suite *suite_restarts(void);
Suite *suite_losses(void);
Suite *suite_beginnings(void);
Suite *suite_options(void);
Suite *suite_streams(void);
Suite *suite_noise(void);
Suite *suite_logs(void);
Suite *suite_wiring(void);
Suite *suite_tree(void);
Suite *suite_client_ends(void);

/* Runs it that many times over, prints the table of passes; 0 if there was no failure. */
int matrix(int rounds);

#endif
