#include "shell/home.h"

#include <check.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Suite *home_suite(void);

START_TEST(home_is_the_directory)
{
	setenv("HOME", "/home/someone", 1);
	ck_assert_str_eq(home_directory(), "/home/someone");
}
END_TEST

START_TEST(the_account_has_a_home)
{
	const struct passwd *account = getpwuid(geteuid());

	if (account == NULL)
		return; /* a container with a bare user id */
	ck_assert_str_eq(home_of_account(), account->pw_dir);
	unsetenv("HOME");
	ck_assert_str_eq(home_directory(), account->pw_dir);
	setenv("HOME", "", 1);
	ck_assert_str_eq(home_directory(), account->pw_dir);
	setenv("HOME", "relative", 1);
	ck_assert_str_eq(home_directory(), account->pw_dir);
}
END_TEST

START_TEST(a_tilde_is_expanded)
{
	char path[16];

	setenv("HOME", "/home/me", 1);
	ck_assert(home_expand("~/a", path, sizeof(path)));
	ck_assert_str_eq(path, "/home/me/a");
	ck_assert(home_expand("~a", path, sizeof(path)));
	ck_assert_str_eq(path, "~a");
	ck_assert(home_expand("~/123456", path, sizeof(path)));
	ck_assert(!home_expand("~/1234567", path, sizeof(path)));
}
END_TEST

Suite *
home_suite(void)
{
	Suite *suite = suite_create("home");
	TCase *places = tcase_create("places");

	tcase_add_test(places, home_is_the_directory);
	tcase_add_test(places, the_account_has_a_home);
	tcase_add_test(places, a_tilde_is_expanded);
	suite_add_tcase(suite, places);
	return suite;
}
