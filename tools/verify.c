/* SPDX-License-Identifier: MIT */
/* The data checks of the copy benchmarks. */
#include "verify.h"

#include <string.h>

#include "cu.h"
#include "pattern.h"

/* Plain loads take about 1 us each over PCIe, so only this much of each end. */
#define PLAIN_BYTES  4096

#define FILL  0xC1

static int settle(CUresult res, const char *call)
{
	int err = cu_check(res, call);

	/* Small copies and fills may be under way when the call returns. */
	return err ? err : cu_check(cu.CtxSynchronize(), "cuCtxSynchronize");
}

static void check(struct verify *v, const char *what, size_t size, const char *want,
		  const char *got, size_t n)
{
	size_t words = pattern_compare(want, got, n, report_remarks(v->report));

	if (!words)
		return;
	fflush(report_remarks(v->report));
	fprintf(stderr, "ERROR: data mismatch: %s of %zu bytes: %zu words differ\n", what, size,
		words);
	v->mismatches++;
}

/* CPU loads from the mapping that no copy routine is part of. */
static void load_plain(char *to, const char *from, size_t n)
{
	size_t i;

	for (i = 0; i + 4 <= n; i += 4) {
		uint32_t w = *(const volatile uint32_t *)(const void *)(from + i);

		memcpy(to + i, &w, 4);
	}
	for (; i < n; i++)
		to[i] = *(const volatile char *)(from + i);
}

/* The first byte under test, to CUDA and in the mapping. */
static CUdeviceptr dev_ptr(const struct verify *v)
{
	return v->buffers->dev.ptr + v->offset;
}

static const char *map_ptr(const struct verify *v)
{
	return v->window->ptr + v->offset;
}

int verify_prepare_write(struct verify *v, size_t n)
{
	pattern_fill(v->buffers->src.ptr, n, 0);
	/* No byte of the pattern, which are 3F, 4C, 5E and 6A with at most one bit flipped. */
	return settle(cu.MemsetD8(dev_ptr(v), FILL, n), "cuMemsetD8");
}

int verify_write(struct verify *v, size_t n)
{
	const char *src = v->buffers->src.ptr, *map = map_ptr(v);
	char *dst = v->buffers->dst.ptr;
	size_t edge = n < PLAIN_BYTES ? n : PLAIN_BYTES;
	size_t tail = (n - edge) & ~(size_t)3;
	int err;

	memset(dst, FILL, n);
	err = cu_check(cu.MemcpyDtoH(dst, dev_ptr(v), n), "cuMemcpyDtoH");
	if (err)
		return err;
	check(v, "write, seen by cuMemcpyDtoH", n, src, dst, n);

	memset(dst, FILL, n);
	err = gdr_copy_from_mapping(v->window->mh, dst, map, n);
	if (err)
		return window_error("gdr_copy_from_mapping", err);
	check(v, "write, seen by gdr_copy_from_mapping", n, src, dst, n);

	memset(dst, FILL, n);
	load_plain(dst, map, edge);
	check(v, "write, first bytes seen by plain loads", n, src, dst, edge);
	load_plain(dst, map + tail, n - tail);
	check(v, "write, last bytes seen by plain loads", n, src + tail, dst, n - tail);
	return 0;
}

int verify_prepare_read(struct verify *v, size_t n)
{
	pattern_fill(v->buffers->src.ptr, n, ~0u);
	memset(v->buffers->dst.ptr, 0, n);
	return settle(cu.MemcpyHtoD(dev_ptr(v), v->buffers->src.ptr, n), "cuMemcpyHtoD");
}

void verify_read(struct verify *v, size_t n)
{
	check(v, "read by gdr_copy_from_mapping", n, v->buffers->src.ptr, v->buffers->dst.ptr, n);
}

void verify_read_at(struct verify *v, size_t n, const char *dst)
{
	pattern_fill(v->buffers->src.ptr, n, ~0u);
	check(v, "read by gdr_copy_from_mapping", n, v->buffers->src.ptr, dst, n);
}
