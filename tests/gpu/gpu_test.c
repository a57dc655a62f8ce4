/* SPDX-License-Identifier: MIT */
/* What the GPU tests share; see gpu_test.h. */
#include "gpu_test.h"

#include <dirent.h>
#include <stdarg.h>
#include <string.h>

void gpu_test_fail(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s:%d: ", file, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	fflush(stdout);
	_Exit(1);
}

void gpu_test_begin(int ordinal, struct gpu *gpu)
{
	gdr_t g;

	if (cu_load(cu_soft_wanted()) < 0) {
		printf("skipped: no CUDA driver here; GDRCOPY_SOFTCUDA=1 runs it without a GPU\n");
		exit(77);
	}
	CU(cu.Init(0));
	if (ordinal >= gpu_count()) {
		printf("skipped: there is no GPU %d\n", ordinal);
		exit(77);
	}
	CHECK(gpu_open(ordinal, gpu) == 0);
	g = gdr_open();
	if (!g)
		FAIL("gdr_open: %s", gdrx_last_error());
	printf("%s, CUDA %d, backend %s, copy routines %s (to) and %s (from)\n", gpu->name,
	       gpu->driver, gdrx_backend_name(g), gdrx_copy_routine(0), gdrx_copy_routine(1));
	GDR(gdr_close(g));
}

int gpu_test_open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = -3; /* ".", ".." and the directory itself */

	CHECK(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

size_t gpu_test_free_memory(void)
{
	size_t free_bytes, total;

	CU(cu.MemGetInfo(&free_bytes, &total));
	return free_bytes;
}

void gpu_test_fill(void *buf, size_t size, uint64_t seed)
{
	unsigned char *p = buf;
	size_t i;

	for (i = 0; i < size; i++)
		p[i] = gpu_test_byte(seed, i);
}

void gpu_test_compare(const void *buf, size_t size, uint64_t seed, const char *what)
{
	const unsigned char *p = buf;
	size_t i;

	for (i = 0; i < size; i++)
		if (p[i] != gpu_test_byte(seed, i))
			FAIL("%s: byte %zu of %zu is 0x%02x, not 0x%02x", what, i, size, p[i],
			     gpu_test_byte(seed, i));
}

/* Bytes [at, at + n) both ways; the rest of the range stays as it is. */
static void check_piece(gdr_mh_t mh, char *map, CUdeviceptr ptr, size_t at, size_t n,
			uint64_t seed)
{
	unsigned char *out = malloc(n), *in = malloc(n);

	CHECK(out && in);
	gpu_test_fill(out, n, seed);
	GDR(gdr_copy_to_mapping(mh, map + at, out, n));
	CU(cu.MemcpyDtoH(in, ptr + at, n));
	gpu_test_compare(in, n, seed, "written through the mapping, read by CUDA");
	gpu_test_fill(out, n, ~seed);
	CU(cu.MemcpyHtoD(ptr + at, out, n));
	CU(cu.CtxSynchronize()); /* a small copy may return before it has arrived */
	memset(in, 0, n);
	GDR(gdr_copy_from_mapping(mh, in, map + at, n));
	gpu_test_compare(in, n, ~seed, "written by CUDA, read through the mapping");
	free(in);
	free(out);
}

void gpu_test_roundtrip(gdr_t g, CUdeviceptr ptr, size_t size, uint64_t seed)
{
	static const size_t pieces[] = { 1, 2, 3, 4, 8, 15, 16, 64, 100, 4096 };
	gdr_info_t info;
	gdr_mh_t mh;
	void *va;
	char *map;
	size_t i;

	GDR(gdr_pin_buffer(g, ptr, size, 0, 0, &mh));
	GDR(gdr_map(g, mh, &va, size));
	GDR(gdr_get_info(g, mh, &info));
	CHECK(info.mapped && info.va <= ptr && info.va + info.mapped_size >= ptr + size);
	map = (char *)va + (ptr - info.va);
	for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		if (pieces[i] > size)
			continue;
		check_piece(mh, map, ptr, 0, pieces[i], seed + i);
		check_piece(mh, map, ptr, size - pieces[i], pieces[i], seed + i);
		check_piece(mh, map, ptr, (size - pieces[i]) / 2, pieces[i], seed + i);
	}
	/* Loads are about 1 GB/s: whole ranges up to 16 MiB, then the last 16. */
	if (size <= (16u << 20))
		check_piece(mh, map, ptr, 0, size, seed);
	else
		check_piece(mh, map, ptr, size - (16u << 20), 16u << 20, seed);
	GDR(gdr_unmap(g, mh, va, size));
	GDR(gdr_unpin_buffer(g, mh));
}
