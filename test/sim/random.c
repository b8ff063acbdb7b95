#include "random.h"

uint64_t
chance_next(struct chance *chance)
{
	uint64_t z = chance->state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

unsigned
chance_below(struct chance *chance, unsigned limit)
{
	return (unsigned)(chance_next(chance) % limit);
}

int
chance_percent(struct chance *chance, unsigned percent)
{
	return chance_below(chance, 100) < percent;
}
