/* SPDX-License-Identifier: MIT */
/* The control calls of libgdrapi, timed one by one, and the check of a mapping. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "apiperf.h"
#include "gdrapi_ext.h"
#include "window.h"

/* The header renames this function to its successor; here they are two. */
#undef gdr_get_info
int gdr_get_info(gdr_t g, gdr_mh_t handle, void *info);

/* What gdr_get_info fills in. */
#define INFO_V1_BYTES 40

static int call_open(struct apiperf_buffer *b)
{
	errno = 0;
	b->g = gdr_open();
	return b->g ? 0 : errno ? errno : EIO;
}

static int call_get_attribute(struct apiperf_buffer *b)
{
	int v;

	return gdr_get_attribute(b->g, GDR_ATTR_USE_PERSISTENT_MAPPING, &v);
}

static int call_driver_version(struct apiperf_buffer *b)
{
	int major, minor;

	return gdr_driver_get_version(b->g, &major, &minor);
}

static int call_pin(struct apiperf_buffer *b)
{
	return gdr_pin_buffer(b->g, b->ptr, b->size, 0, 0, &b->mh);
}

static int call_pin_v2(struct apiperf_buffer *b)
{
	return gdr_pin_buffer_v2(b->g, b->ptr, b->size, GDR_PIN_FLAG_DEFAULT, &b->mh);
}

static int call_map(struct apiperf_buffer *b)
{
	return gdr_map_v2(b->g, b->mh, &b->map, b->size, b->map_flags);
}

static int call_get_info(struct apiperf_buffer *b)
{
	uint64_t info[INFO_V1_BYTES / sizeof(uint64_t)];

	return gdr_get_info(b->g, b->mh, info);
}

static int call_get_info_v2(struct apiperf_buffer *b)
{
	return gdr_get_info_v2(b->g, b->mh, &b->info);
}

static int call_callback_flag(struct apiperf_buffer *b)
{
	int flag;

	return gdr_get_callback_flag(b->g, b->mh, &flag);
}

static int call_unmap(struct apiperf_buffer *b)
{
	return gdr_unmap(b->g, b->mh, b->map, b->size);
}

static int call_unpin(struct apiperf_buffer *b)
{
	return gdr_unpin_buffer(b->g, b->mh);
}

static int call_close(struct apiperf_buffer *b)
{
	return gdr_close(b->g);
}

const struct apiperf_call_info apiperf_calls[CALLS] = {
	[CALL_OPEN] = { "gdr_open", call_open, false },
	[CALL_GET_ATTRIBUTE] = { "gdr_get_attribute", call_get_attribute, false },
	[CALL_DRIVER_VERSION] = { "gdr_driver_get_version", call_driver_version, false },
	[CALL_PIN] = { "gdr_pin_buffer", call_pin, true },
	[CALL_PIN_V2] = { "gdr_pin_buffer_v2", call_pin_v2, true },
	[CALL_MAP] = { "gdr_map_v2", call_map, true },
	[CALL_GET_INFO] = { "gdr_get_info", call_get_info, false },
	[CALL_GET_INFO_V2] = { "gdr_get_info_v2", call_get_info_v2, false },
	[CALL_CALLBACK_FLAG] = { "gdr_get_callback_flag", call_callback_flag, false },
	[CALL_UNMAP] = { "gdr_unmap", call_unmap, true },
	[CALL_UNPIN] = { "gdr_unpin_buffer", call_unpin, true },
	[CALL_CLOSE] = { "gdr_close", call_close, false },
};

void apiperf_set_init(struct apiperf_set *set)
{
	memset(set, 0, sizeof(*set));
	set->timer_us = bench_timer_us();
}

void apiperf_set_free(struct apiperf_set *set)
{
	size_t c;

	for (c = 0; c < CALLS; c++)
		free(set->of[c].us);
	memset(set, 0, sizeof(*set));
}

void apiperf_set_clear(struct apiperf_set *set)
{
	size_t c;

	for (c = 0; c < CALLS; c++)
		set->of[c].n = 0;
}

static int call_failed(enum apiperf_call c, int err)
{
	window_error(apiperf_calls[c].name, err);
	/* Why each backend was refused, unless that has been said. */
	if (c == CALL_OPEN && !strstr(gdrx_last_error(), gdrx_open_report()))
		fputs(gdrx_open_report(), stderr);
	return -err;
}

int apiperf_call(enum apiperf_call c, struct apiperf_buffer *b, struct apiperf_set *set)
{
	double start, end;
	int err;

	if (set && apiperf_samples_reserve(&set->of[c])) {
		fprintf(stderr, "ERROR: no memory for more than %zu samples\n", set->of[c].n);
		return -ENOMEM;
	}
	start = bench_now_us();
	err = apiperf_calls[c].call(b);
	end = bench_now_us();
	if (err)
		return call_failed(c, err);
	if (set)
		apiperf_samples_add(&set->of[c], end - start - set->timer_us);
	return 0;
}

bool apiperf_more(const struct apiperf_args *args, size_t done, double start)
{
	double us = bench_now_us() - start;

	if (us < (double)args->tool.min_time_ms * 1e3)
		return !bench_stopped() && done < BENCH_SAMPLES;
	return !bench_stopped() && done < args->iterations && us < (double)args->max_time * 1e6;
}

int apiperf_queries(struct apiperf_buffer *b, struct apiperf_set *set)
{
	static const enum apiperf_call calls[] = {
		CALL_GET_INFO_V2, CALL_GET_INFO, CALL_CALLBACK_FLAG,
	};
	size_t i;
	int err = 0;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]) && !err; i++)
		err = apiperf_call(calls[i], b, set);
	return err;
}

/* Words of one buffer differ from those of others, and of other times. */
static uint32_t word(const struct apiperf_buffer *b, const struct apiperf_verify *v, size_t at)
{
	uint64_t x = ((uint64_t)v->seed << 32) + (b->ptr >> 16) + (at ? 0x9E3779B9u : 0);

	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
	return (uint32_t)(x >> 32) ^ (uint32_t)x;
}

static void compare(const struct apiperf_buffer *b, struct apiperf_verify *v, const char *by,
		    size_t at, uint32_t got)
{
	uint32_t want = word(b, v, at);

	if (got == want)
		return;
	fprintf(stderr, "ERROR: data mismatch: word at %zu of %zu bytes, read by %s, is 0x%x "
		"and should be 0x%x\n", at, b->size, by, got, want);
	v->mismatches++;
}

int apiperf_verify(const struct apiperf_buffer *b, struct apiperf_verify *v)
{
	const size_t at[] = { 0, b->size - sizeof(uint32_t) };
	char *start = (char *)b->map + (b->ptr - b->info.va);
	uint32_t w;
	size_t i;
	int err;

	for (i = 0; i < 2; i++) {
		w = word(b, v, at[i]);
		err = gdr_copy_to_mapping(b->mh, start + at[i], &w, sizeof(w));
		if (err)
			return window_error("gdr_copy_to_mapping", err);
	}
	for (i = 0; i < 2; i++) {
		err = gdr_copy_from_mapping(b->mh, &w, start + at[i], sizeof(w));
		if (err)
			return window_error("gdr_copy_from_mapping", err);
		compare(b, v, "gdr_copy_from_mapping", at[i], w);
	}
	return v->cuda ? apiperf_verify_cuda(b, v) : 0;
}

int apiperf_verify_cuda(const struct apiperf_buffer *b, struct apiperf_verify *v)
{
	const size_t at[] = { 0, b->size - sizeof(uint32_t) };
	uint32_t w;
	size_t i;
	int err;

	for (i = 0; i < 2; i++) {
		err = cu_check(cu.MemcpyDtoH(&w, b->ptr + at[i], sizeof(w)), "cuMemcpyDtoH");
		if (err)
			return err;
		compare(b, v, "cuMemcpyDtoH", at[i], w);
	}
	return 0;
}

int apiperf_cycle(struct apiperf_buffer *b, struct apiperf_set *set, struct apiperf_verify *v)
{
	int err;

	err = apiperf_call(CALL_PIN, b, set);
	if (err)
		return err;
	err = apiperf_call(CALL_MAP, b, set);
	if (err)
		goto unpin;
	err = apiperf_queries(b, set);
	if (!err && v)
		err = apiperf_verify(b, v);
	if (err)
		goto unmap;
	err = apiperf_call(CALL_UNMAP, b, set);
	if (err)
		goto unpin;
	err = apiperf_call(CALL_UNPIN, b, set);
	if (err)
		return err;
	err = apiperf_call(CALL_PIN_V2, b, set);
	return err ? err : apiperf_call(CALL_UNPIN, b, NULL);

unmap:
	gdr_unmap(b->g, b->mh, b->map, b->size);
unpin:
	gdr_unpin_buffer(b->g, b->mh);
	return err;
}

int apiperf_life(struct apiperf_buffer *b, struct apiperf_set *set, struct apiperf_verify *v)
{
	int err, err_close;

	err = apiperf_call(CALL_OPEN, b, set);
	if (err)
		return err;
	err = apiperf_call(CALL_GET_ATTRIBUTE, b, set);
	if (!err)
		err = apiperf_call(CALL_DRIVER_VERSION, b, set);
	if (!err)
		err = apiperf_cycle(b, set, v);
	err_close = apiperf_call(CALL_CLOSE, b, set);
	return err ? err : err_close;
}
