/* SPDX-License-Identifier: MIT */
/* Findings on the mapping that the backend in use makes: its type, and stores measured. */
#include <stdio.h>
#include <string.h>

#include "doctor.h"
#include "root.h"

/*
 * Stores of 8 bytes that are not combined cross the bus one by one, at 20 to 100
 * ns each.  Combined ones go at the speed of the link, which for a PCIe gen 3
 * link of a single lane is still twice this.
 */
#define UNCOMBINED_MB_PER_S 400

/* Rounded, so that GPUs that are alike read alike. */
static const char *speed(double mb_per_s, char *buf, size_t len)
{
	if (mb_per_s < 950)
		snprintf(buf, len, "%.0f MB/s", mb_per_s);
	else
		snprintf(buf, len, "%.0f GB/s", mb_per_s / 1000);
	return buf;
}

/* The try that was measured. */
static const struct backend_try *timed(const struct doctor *d, int backend, int gpu)
{
	const struct backend_try *t = d->backends[backend].tries[gpu];
	int i;

	for (i = 0; i < PROBE_ALLOCATORS; i++)
		if (t[i].step == STEP_DONE && t[i].timed)
			return &t[i];
	return NULL;
}

static void find_uncombined(struct doctor *d, int gpu, const char *rate)
{
	char cmdline[4096], word[32];

	doctor_find(d, "stores", gpu, LEVEL_WARN, "8-byte stores reach %s only: the mapping is "
		    "uncached, not write-combining", rate);
	if (root_read("/proc/cmdline", cmdline, sizeof(cmdline)) &&
	    parse_word(cmdline, "nopat", word, sizeof(word)))
		doctor_fix(d, "take nopat out of the kernel's command line "
			   "(/etc/default/grub: sudo update-grub), then: sudo reboot");
	else
		doctor_fix(d, "sudo dmesg | grep -i -e pat -e mtrr; in a virtual machine the "
			   "host must map the GPU's BAR1 write-combining");
}

static void find_stores(struct doctor *d, int backend, int i)
{
	const struct backend_try *t = timed(d, backend, i);
	int gpu = d->cuda.gpus[i].ordinal;
	char rate[32];

	if (!t)
		return;
	speed(t->store_mb_per_s, rate, sizeof(rate));
	if (t->type == GDR_MAPPING_TYPE_DEVICE) {
		doctor_find(d, "stores", gpu, LEVEL_NOTE, "device memory type: stores are not "
			    "combined, 8-byte stores reach %s", rate);
		doctor_fix(d, "update the NVIDIA driver to 590 or later: it maps arm64 memory "
			   "so that stores combine");
	} else if (t->type == GDR_MAPPING_TYPE_CACHING) {
		doctor_find(d, "stores", gpu, LEVEL_OK, "cached and coherent; 8-byte stores "
			    "reach %s", rate);
	} else if (t->store_mb_per_s < UNCOMBINED_MB_PER_S && !d->soft) {
		find_uncombined(d, gpu, rate);
	} else if (d->cuda.soft) {
		doctor_find(d, "stores", gpu, LEVEL_OK, "host memory plays the GPU's part; "
			    "8-byte stores reach %s", rate);
	} else {
		doctor_find(d, "stores", gpu, LEVEL_OK, "write-combining is in force: 8-byte "
			    "stores reach %s", rate);
	}
}

void doctor_mapping(struct doctor *d)
{
	int chosen = doctor_chosen(d), i;

	d->area = "mapping";
	for (i = 0; chosen >= 0 && i < d->cuda.n; i++)
		find_stores(d, chosen, i);
}
