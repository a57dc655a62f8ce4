/* SPDX-License-Identifier: MIT */
/* A libcuda that kills its process while it is loaded; with BAD_CUDA=hang, never ends. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void be_bad(void)
{
	while (getenv("BAD_CUDA"))
		pause();
	kill(getpid(), SIGKILL);
}
