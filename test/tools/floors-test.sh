#!/bin/sh
# Usage: CC='cc FLAGS' floors-test.sh DIRECTORY
# Plants each fault that floors.sh must find into a tree of four files, made in DIRECTORY.
set -eu

cc=${CC:-cc}
tools=$(cd "$(dirname "$0")" && pwd)
rm -rf "$1"
mkdir -p "$1/include/core" "$1/include/shell" "$1/src/core" "$1/src/shell" "$1/obj/src/core" "$1/obj/src/shell" "$1/test"
cd "$1"

write_list()
{
	cat <<END
core
	low
	high
shell
	port
program
	main
core-headers
	stdbool.h
core-calls
core-indirect
	core/high.c:high_tell
recursion
	core/low.c:low_walk
values
	pair
writers
	low.seen core/high
	high.scratch *
END
}

write_house()
{
	cat >include/core/low.h <<-'END'
		#ifndef LOW_H
		#define LOW_H
		#include <stdbool.h>
		struct pair { int a, b; };
		struct low {
			int count, *last; /* written by
			                     low.c */
			bool seen, done;
			struct pair pair;
			void (*tell)(int);
		};
		int low_walk(struct low *low, int n);
		#endif
	END
	cat >include/core/high.h <<-'END'
		#ifndef HIGH_H
		#define HIGH_H
		#include "core/low.h"
		struct high { struct low low; struct pair scratch; int level[2]; };
		int high_tell(struct high *high, int n);
		#endif
	END
	cat >include/shell/port.h <<-'END'
		#ifndef PORT_H
		#define PORT_H
		int port_open(int n);
		#endif
	END
	cat >src/core/low.c <<-'END'
		#include "core/low.h"
		static int even(int n) { return n == 0; }
		int low_walk(struct low *low, int n)
		{
			low->count++;
			low->pair.a = n;
			return even(n) ? 0 : low_walk(low, n - 1);
		}
	END
	cat >src/core/high.c <<-'END'
		#include "core/high.h"
		static void note(struct high *high)
		{
			*high = (struct high){ .low = high->low };
			high->level[0] = 1;
			high->scratch.a++;
		}
		int high_tell(struct high *high, int n)
		{
			struct pair pair;
			pair.a = n;
			high->low.seen = pair.a == high->low.count;
			note(high);
			high->low.tell(n);
			return low_walk(&high->low, n);
		}
	END
	cat >src/shell/port.c <<-'END'
		#include "shell/port.h"
		#include "core/high.h"
		int port_open(int n)
		{
			struct high high = { .level = { n, n } };
			high.scratch = (struct pair){ n, n };
			return high_tell(&high, n);
		}
	END
	cat >src/main.c <<-'END'
		#include "shell/port.h"
		int main(void)
		{
			return port_open(1);
		}
	END
}

# The output of floors.sh for the planted tree.
look()
{
	write_list >list
	for unit in src/core/low.c src/core/high.c src/shell/port.c src/main.c; do
		$cc -c -o "obj/${unit%.c}.o" "$unit"
	done
	CC=$cc "$tools/floors.sh" list obj >said 2>&1
}

# FILE, the text to add to it, the regular expression that the output of floors.sh must match
plant()
{
	printf '%s\n' "$2" >>"$1"
	printf '%s\n' "$3" >>expected
}

write_house
look || {
	echo 'floors-test: a house in order is refused:'
	cat said
	exit 1
}

plant src/core/low.c 'struct high; int high_tell(struct high *, int); int low_up(void); int low_up(void) { return high_tell(0, 1); }' \
	'^calls: .*core/high.c -> src/core/low.c (low_walk) -> src/core/high.c (high_tell)$'
plant include/core/low.h '#include "core/high.h"' \
	'^includes: .*core/high.h -> include/core/low.h -> include/core/high.h$'
plant src/core/low.c '#include "shell/port.h"' '^order: src/core/low.c includes include/shell/port.h, above it$'
plant src/core/low.c '#include <unistd.h>' '^core: src/core/low.c:[0-9]*: <unistd.h> is not for the core$'
plant src/core/low.c 'int low_wait(void); int low_wait(void) { return pause(); }' '^core: pause is not for the core:'
plant src/core/low.c 'static int odd(int n); static int is_even(int n) { return n == 0 || odd(n - 1); }
static int odd(int n) { return n != 0 && is_even(n - 1); } int low_odd(int n); int low_odd(int n) { return odd(n); }' \
	'^functions: .*core/low.c:is_even -> core/low.c:odd -> core/low.c:is_even$'
plant src/shell/port.c 'static int again(int n) { return n ? again(n - 1) : 0; }
int port_again(void); int port_again(void) { return again(2); }' '^functions: .* shell/port.c:again -> shell/port.c:again$'
plant src/core/low.c 'void low_tell(struct low *low); void low_tell(struct low *low) { low->tell(1); }' \
	'^functions: core/low.c:low_tell calls through a pointer$'
plant src/core/high.c 'void high_write(struct high *high); void high_write(struct high *high) { high->low.count++; }' \
	'^members: src/core/high.c:[0-9]*: writes what is not its own: void high_write('
plant src/core/low.c 'void low_see(struct low *low); void low_see(struct low *low) { low->seen = 1; }' \
	'^members: src/core/low.c:[0-9]*: writes what is not its own: void low_see('
plant src/core/high.c 'int *high_count(struct high *high); int *high_count(struct high *h) { return &h->low.count; }' \
	'^members: src/core/high.c:[0-9]*: writes what is not its own: int \*high_count('
plant include/shell/size.h 'size_t port_size(void);' '^headers: include/shell/size.h does not compile alone$'
plant include/shell/size.h '' '^order: include/shell/size.h is on no floor$'
plant src/core/high.c "$(awk 'BEGIN { for (i = 0; i < 800; i++) print "/**/" }')" \
	'^src/core/high.c: 8[0-9]* lines; 800 are enough$'
plant src/core/low.c "$(awk 'BEGIN { print "void low_long(void); void low_long(void)\n{"
	for (i = 0; i < 61; i++) print "\t;"
	print "}" }')" 'low_long has 61 lines; 60 are enough$'

look && {
	echo 'floors-test: planted faults, and no failure'
	exit 1
}
while read -r expression; do
	grep -q "$expression" said || {
		cat said
		echo "floors-test: not found: $expression"
		exit 1
	}
done <expected
echo "floors-test: $(wc -l <expected) planted faults are found"
