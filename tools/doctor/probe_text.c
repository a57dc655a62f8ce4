/* SPDX-License-Identifier: MIT */
/* What CUDA's loader and the choice of GPUs have to say, as texts. */
#include "probe_text.h"

#include "complaint.h"
#include "cu.h"
#include "gpu.h"

int probe_load_cuda(bool soft, char *why, size_t len)
{
	struct complaint c;
	int err;

	complaint_begin(&c);
	err = cu_load(soft);
	complaint_end(&c, why, len);
	if (!err)
		*why = '\0';
	return err;
}

int probe_select(const char *list, int *ordinal, size_t max, size_t *n, char *why, size_t len)
{
	struct complaint c;
	int err;

	complaint_begin(&c);
	err = gpu_select(list, ordinal, max, n);
	complaint_end(&c, why, len);
	if (!err)
		*why = '\0';
	return err;
}
