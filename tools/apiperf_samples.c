/* SPDX-License-Identifier: MIT */
/* Samples and histograms of gdrcopy_apiperf. */
#include "apiperf_samples.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NS  1e-3        /* in microseconds */

int apiperf_samples_reserve(struct apiperf_samples *s)
{
	size_t room = s->room ? 2 * s->room : 128;
	double *us;

	if (s->n < s->room)
		return 0;
	us = realloc(s->us, room * sizeof(*us));
	if (!us)
		return -ENOMEM;
	s->us = us;
	s->room = room;
	return 0;
}

void apiperf_samples_add(struct apiperf_samples *s, double us)
{
	/* The clock counts nanoseconds; what is below them is rounding of large readings. */
	s->us[s->n++] = us > 0 ? round(us * 1e3) / 1e3 : 0;
}

static double picoseconds(double us)
{
	return round(us * 1e6) / 1e6;
}

static double edge_at(double low, double high, double part, bool log)
{
	return log ? low * pow(high / low, part) : low + (high - low) * part;
}

/* From the smallest sample to the largest, and at least a nanosecond each. */
static void set_edges(struct apiperf_histogram *h, double low, double high, bool log)
{
	double from = log && low < NS ? NS : low;
	size_t i;

	if (high < from + NS * (double)h->bins)
		high = from + NS * (double)h->bins;
	h->edge[0] = picoseconds(low);
	for (i = 1; i < h->bins; i++)
		h->edge[i] = picoseconds(edge_at(from, high, (double)i / (double)h->bins, log));
	h->edge[h->bins] = picoseconds(high);
}

void apiperf_histogram(const double *sorted, size_t n, size_t bins, bool log,
		       struct apiperf_histogram *out)
{
	size_t i, bin = 0;

	memset(out, 0, sizeof(*out));
	out->bins = bins < 1 ? 1 : bins > APIPERF_BINS_MAX ? APIPERF_BINS_MAX : bins;
	set_edges(out, sorted[0], sorted[n - 1], log);
	for (i = 0; i < n; i++) {
		while (bin + 1 < out->bins && sorted[i] >= out->edge[bin + 1])
			bin++;
		out->count[bin]++;
	}
}
