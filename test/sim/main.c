/*
 * sim [--golden] [--seeds N] [--from K] [--most M] | --seed S: runs worlds, until M (10) are
 * broken; --seed replays one and tells all that happens in it.
 */

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "golden.h"
#include "world.h"

int
main(int argc, char *argv[])
{
	static const struct option options[] = { { "seeds", required_argument, NULL, 'n' },
		{ "from", required_argument, NULL, 'f' }, { "most", required_argument, NULL, 'm' },
		{ "seed", required_argument, NULL, 's' }, { "golden", no_argument, NULL, 'g' },
		{ NULL, 0, NULL, 0 } };
	unsigned long long count = 200, from = 1, most = 10, seed, broken = 0;
	bool golden = false;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 's')
			return !world_run(strtoull(optarg, NULL, 10), true);
		if (option == '?')
			return 2;
		if (option == 'g')
			golden = true;
		else
			*(option == 'n'       ? &count :
				option == 'f' ? &from :
						&most) = strtoull(optarg, NULL, 10);
	}
	for (seed = from; seed < from + count && broken < most; seed++) {
		broken += !world_run(seed, false);
		golden_end_case(golden, "sim %llu", seed);
	}
	printf("%llu worlds from seed %llu: %s\n", seed - from, from,
	    broken == 0 ? "every promise held" : "broken");
	return broken != 0;
}
