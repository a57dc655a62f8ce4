// SPDX-License-Identifier: MIT
// The C++ half of abi.h: the header as a C++ compiler sees it, linked by C names.
#include "abi.h"

#include <cstdio>

int main()
{
	int failed = abi_check();

	if (failed)
		std::fprintf(stderr, "abi: check %d failed\n", failed);
	return failed != 0;
}
