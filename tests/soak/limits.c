/* SPDX-License-Identifier: MIT */
/*
 * Description: no descriptor, no address space, no GPU memory or no room in BAR1
 * is left, at each point where the library needs some.  The call says so with
 * the right errno and a sentence, its output and what was there before stay as
 * they were, and all works again as soon as there is room.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "left.h"
#include "nvsim.h"
#include "soak.h"

#define SIZE ((size_t)2 << 20)
#define BIG ((size_t)32 << 20)
#define UNTOUCHED 0x5e5e5e5e

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OWN_ADDRESSES 0                 /* the sanitizer needs some at any time */
#elif defined(__has_feature)
#define OWN_ADDRESSES (!__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer))
#else
#define OWN_ADDRESSES 1
#endif

static const char *backend;
static unsigned refusals;

static void begin(void)
{
	gdr_t g;

	if (cu_load(cu_soft_wanted()) < 0 || cu.Init(0) != CUDA_SUCCESS) {
		printf("skipped: no CUDA driver here; GDRCOPY_SOFTCUDA=1 runs it without a GPU\n");
		exit(77);
	}
	CHECK(gpu_open(0, &soak.gpu) == 0);
	g = gdr_open();
	if (!g)
		FAIL("gdr_open: %s", gdrx_last_error());
	backend = gdrx_backend_name(g);
	GDR(gdr_close(g));
	printf("%s, backend %s\n", soak.gpu.name, backend);
}

/* Whether a call worked; if not it was for this reason, and said so. */
static bool worked(int ret, int err, const char *call)
{
	if (ret == 0)
		return true;
	/* CUDA does not tell that it was a descriptor that it lacked */
	if (ret != err && !(err == EMFILE && ret == EIO &&
			    strstr(gdrx_last_error(), "CUDA_ERROR_")))
		FAIL("%s: %d, not %d: %s", call, ret, err, gdrx_last_error());
	if (strlen(gdrx_last_error()) < 20)
		FAIL("%s: %d and no reason", call, ret);
	refusals++;
	return false;
}

static bool try_pin(gdr_t g, CUdeviceptr ptr, size_t size, int err, gdr_mh_t *mh)
{
	mh->h = UNTOUCHED;
	if (worked(gdr_pin_buffer(g, ptr, size, 0, 0, mh), err, "gdr_pin_buffer"))
		return true;
	CHECK(mh->h == UNTOUCHED);
	return false;
}

static bool try_map(gdr_t g, gdr_mh_t mh, size_t size, int err, void **va)
{
	*va = &refusals;
	if (worked(gdr_map(g, mh, va, size), err, "gdr_map"))
		return true;
	CHECK(*va == &refusals);
	return false;
}

static void copy_both_ways(gdr_mh_t mh, void *va)
{
	char out[] = "there and back", in[sizeof(out)];

	GDR(gdr_copy_to_mapping(mh, va, out, sizeof(out)));
	GDR(gdr_copy_from_mapping(mh, in, va, sizeof(in)));
	CHECK(!memcmp(in, out, sizeof(in)));
}

/* All that takes a descriptor.  What works works to the end. */
static void use(const struct gpu_mem *mem, int err)
{
	gdr_t g = gdr_open();
	gdr_mh_t mh[2];
	void *va;
	int i;

	if (!g) {
		worked(errno, err, "gdr_open");
		return;
	}
	for (i = 0; i < 2; i++) {
		if (!try_pin(g, mem[i].ptr, SIZE, err, &mh[i]) ||
		    !try_map(g, mh[i], SIZE, err, &va))
			continue;
		copy_both_ways(mh[i], va);
		GDR(gdr_unmap(g, mh[i], va, SIZE));
		if (try_map(g, mh[i], 4096, err, &va))
			copy_both_ways(mh[i], va);
	}
	GDR(gdr_close(g));
}

static void limit(int what, rlim_t most)
{
	struct rlimit r;

	CHECK(getrlimit(what, &r) == 0);
	r.rlim_cur = most > r.rlim_max ? r.rlim_max : most;
	CHECK(setrlimit(what, &r) == 0);
}

/* One more may be open each time, until all works. */
static void no_descriptors(void)
{
	struct left_process before, after;
	unsigned seen, steps = 0;
	struct gpu_mem mem[2];
	struct rlimit r;
	rlim_t files;
	int i;

	if (cu_is_soft() && !strcmp(backend, "rm")) {
		printf("out of descriptors: the model of the driver needs some itself\n");
		return;
	}
	CHECK(getrlimit(RLIMIT_NOFILE, &r) == 0);
	for (i = 0; i < 2; i++)
		CU(gpu_allocators[i].alloc(&mem[i], SIZE, true, true));
	left_process_look(&before);
	files = (rlim_t)open("/dev/null", O_RDONLY | O_CLOEXEC);
	close((int)files);
	do {
		seen = refusals;
		limit(RLIMIT_NOFILE, files + steps);
		use(mem, EMFILE);
		limit(RLIMIT_NOFILE, r.rlim_cur);
		left_process_look(&after);
		CHECK(!left_process_more(&before, &after, 0, 0, "out of descriptors"));
		if (steps++ > 100)
			FAIL("100 descriptors are not enough");
	} while (refusals > seen);
	CHECK(refusals >= steps - 1 && steps > 1);
	for (i = 0; i < 2; i++)
		CU(gpu_allocators[i].free(&mem[i]));
	printf("out of descriptors at %u places: %u refusals, ok\n", steps - 1, refusals);
}

static void no_addresses(void)
{
	struct gpu_mem mem;
	struct rlimit r;
	unsigned long pages;
	gdr_mh_t mh;
	void *va;
	FILE *f;
	gdr_t g;

	if (!OWN_ADDRESSES) {
		printf("out of address space: not with a sanitizer\n");
		return;
	}
	CHECK(getrlimit(RLIMIT_AS, &r) == 0);
	CU(gpu_allocators[0].alloc(&mem, BIG, true, true));
	g = gdr_open();
	CHECK(g);
	GDR(gdr_pin_buffer(g, mem.ptr, BIG, 0, 0, &mh));
	f = fopen("/proc/self/statm", "re");
	CHECK(f && fscanf(f, "%lu", &pages) == 1);
	fclose(f);
	limit(RLIMIT_AS, pages * (rlim_t)sysconf(_SC_PAGESIZE) + BIG / 2);
	CHECK(!try_map(g, mh, BIG, ENOMEM, &va));
	limit(RLIMIT_AS, r.rlim_cur);
	CHECK(try_map(g, mh, BIG, 0, &va));
	copy_both_ways(mh, va);
	GDR(gdr_close(g));
	CU(gpu_allocators[0].free(&mem));
	printf("out of address space: ok\n");
}

#define BLOCKS 256

/* All of the GPU's memory, in ever smaller pieces. */
static unsigned fill(CUdeviceptr *blocks)
{
	size_t size, total;
	unsigned n = 0;

	CU(cu.MemGetInfo(&size, &total));
	while (size >= SIZE && n < BLOCKS) {
		CUresult res = cu.MemAlloc(&blocks[n], size);

		if (res == CUDA_SUCCESS)
			n++;
		else if (res != CUDA_ERROR_OUT_OF_MEMORY)
			FAIL("cuMemAlloc of %zu bytes: %s", size, cu_error_name(res));
		else
			size /= 2;
	}
	CHECK(n < BLOCKS);
	return n;
}

/* What is pinned first may need scratch memory; a pin that failed does not prevent later ones. */
static void no_gpu_memory(void)
{
	struct left_process before, after;
	CUdeviceptr blocks[BLOCKS];
	unsigned n, seen = refusals;
	struct gpu_mem mem[2];
	gdr_mh_t mh;
	void *va;
	gdr_t g;
	int i;

	left_process_look(&before);
	g = gdr_open();
	CHECK(g);
	for (i = 0; i < 2; i++)
		CU(gpu_allocators[i].alloc(&mem[i], SIZE, true, true));
	n = fill(blocks);
	for (i = 0; i < 2; i++)
		if (try_pin(g, mem[i].ptr, SIZE, ENOMEM, &mh) &&
		    try_map(g, mh, SIZE, ENOMEM, &va))
			copy_both_ways(mh, va);
	seen = refusals - seen;
	while (n)
		CU(cu.MemFree(blocks[--n]));
	for (i = 0; i < 2; i++) {
		CHECK(try_pin(g, mem[i].ptr, SIZE, 0, &mh) && try_map(g, mh, SIZE, 0, &va));
		copy_both_ways(mh, va);
	}
	GDR(gdr_close(g));
	for (i = 0; i < 2; i++)
		CU(gpu_allocators[i].free(&mem[i]));
	left_process_look(&after);
	CHECK(!left_process_more(&before, &after, 0, 0, "out of GPU memory"));
	CHECK(seen == (strcmp(backend, "rm") ? 0 : 2));
	printf("out of GPU memory: %u refusals, ok\n", seen);
}

/* The simulated GPU takes an order not to have more. */
static void no_bar1(void)
{
	struct nvsim_gpu gpu = { .gpu = 0 };
	struct nvsim_limit most = { .gpu = 0 };
	int fd = open(NVSIM_DEVICE_PATH, O_RDWR | O_CLOEXEC), i, pinned = 0;
	struct gpu_mem mem[4];
	gdr_mh_t mh[4];
	void *va;
	gdr_t g;

	if (fd < 0) {
		printf("out of BAR1: only on the simulated GPU\n");
		return;
	}
	g = gdr_open();
	CHECK(g && ioctl(fd, NVSIM_IOC_GPU, &gpu) == 0);
	most.bar1 = gpu.bar1_used + 3 * SIZE;
	CHECK(ioctl(fd, NVSIM_IOC_LIMIT, &most) == 0);
	for (i = 0; i < 4; i++)
		CU(gpu_allocators[i & 1].alloc(&mem[i], SIZE, true, true));
	for (i = 0; i < 4; i++) {
		if (!try_pin(g, mem[i].ptr, SIZE, ENOMEM, &mh[i]))
			break;
		CHECK(try_map(g, mh[i], SIZE, 0, &va));
		pinned++;
	}
	CHECK(pinned == 3);
	copy_both_ways(mh[2], va);
	GDR(gdr_unpin_buffer(g, mh[0]));
	CHECK(try_pin(g, mem[3].ptr, SIZE, 0, &mh[3]));
	GDR(gdr_close(g));
	for (i = 0; i < 4; i++)
		CU(gpu_allocators[i & 1].free(&mem[i]));
	CHECK(ioctl(fd, NVSIM_IOC_RESET) == 0);
	close(fd);
	printf("out of BAR1: ok\n");
}

/* What is made once is made now; all of it has to work. */
static void use_once(void)
{
	struct gpu_mem mem[2];
	int i;

	for (i = 0; i < 2; i++)
		CU(gpu_allocators[i].alloc(&mem[i], SIZE, true, true));
	use(mem, 0);
	for (i = 0; i < 2; i++)
		CU(gpu_allocators[i].free(&mem[i]));
}

int main(void)
{
	begin();
	use_once();
	no_descriptors();
	no_addresses();
	no_gpu_memory();
	no_bar1();
	gpu_close(&soak.gpu);
	return 0;
}
