/* SPDX-License-Identifier: MIT */
/* A failure of a call of libc or CUDA, as the input says. */
#include <errno.h>

#include "calls.h"
#include "inject.h"

void faults_arm(struct input *in)
{
	static const int errors[] = { ENOMEM, EIO, EINVAL, EPERM, ENODEV, ENOTTY, EMFILE, EACCES,
				      EBADF, ENXIO, 524 };
	static const int again[] = { EINTR, EAGAIN };
	enum inject_call call = (enum inject_call)input_pick(in, INJECT_CALLS);
	unsigned nth = 1 + input_pick(in, 32), times = 1 + input_byte(in);
	int err;

	/* What is done once a process would be broken for all inputs to come. */
	if (call == CALL_dlopen || call == CALL_dlsym)
		return;
	if (call >= INJECT_FIRST_CUDA)
		err = 1 + (int)input_number(in, 2) % 999;
	else if (input_pick(in, 4) == 0)
		err = again[input_pick(in, 2)];
	else
		err = errors[input_pick(in, sizeof(errors) / sizeof(errors[0]))];
	inject_fail(call, nth, times, err);
}
