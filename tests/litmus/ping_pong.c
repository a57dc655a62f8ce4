/* SPDX-License-Identifier: MIT */
/*
 * Message passing between the CPU and a GPU kernel, both ways: data, then a flag
 * that announces them; whoever sees the flag must see the data.  The CPU's side
 * are the library's copies, and plain accesses of pinned host memory where a test
 * says so.  The GPU's side is ping_pong.cu.  No round may see older data; those of
 * the control, which sends the data after the answer, must.
 *
 * Usage: litmus_ping_pong [ROUNDS]     default 1,000,000; long tests make fewer,
 * and on softcuda each makes those that there is time for
 */
#include <sched.h>
#include <string.h>
#include <time.h>

#include "gpu_test.h"
#include "opts.h"

#define ENTRY           "litmus_ping_pong"
#define STOP            0xffffffffu
#define DEVICE_SIZE     (4u << 20)
#define HOST_SIZE       (2u << 20)
#define WORDS_MAX       65536u          /* of 4 bytes: one direction's data */
#define PATIENCE_S      20.0            /* for an answer */

/* On softcuda a round takes what the scheduler makes it take: so long, or so many, at least. */
#define SOFT_S          4.0
#define SOFT_ROUNDS     20u

/* Where things are in device memory, and in pinned host memory. */
#define FLAG_IN         0u
#define FLAG_OUT        4096u
#define RESULT          8192u
#define DATA_IN         (1u << 20)
#define DATA_OUT        (2u << 20)
#define HOST_FLAG       0u
#define HOST_DATA       65536u

/* The kernel's text, with the 0 at its end. */
__asm__(".section .rodata\n"
	"ptx: .incbin \"" PTX_FILE "\"\n"
	".byte 0\n"
	".previous");
extern const char ptx[];

enum how {
	COPY,           /* gdr_copy_to_mapping, gdr_copy_from_mapping */
	PIECES,         /* gdrx_copy_iov, in three pieces */
	THREADS,        /* gdrx_copy_to_mapping, gdrx_copy_from_mapping */
};

struct test {
	const char *name;
	enum how how;
	unsigned offset;                /* of the data, bytes, a multiple of 4 */
	unsigned words, stride;         /* every stride-th is looked at */
	unsigned poll;                  /* bytes of a look at the CPU's flag */
	unsigned fewer;                 /* rounds are divided by this */
	int host_data;                  /* to the GPU: data in pinned host memory */
	int host_flag;                  /* to the CPU: flag in pinned host memory */
	int flag_first;                 /* the control */
};

static const struct test tests[] = {
	{ "one word", COPY, 0, 1, 1, 4, 1, 0, 0, 0 },
	{ "one line", COPY, 0, 16, 5, 4, 1, 0, 0, 0 },
	{ "one line, polled by lines", COPY, 0, 16, 5, 64, 1, 0, 0, 0 },
	{ "61 ragged words", COPY, 12, 61, 20, 4, 1, 0, 0, 0 },
	{ "pieces", PIECES, 12, 61, 20, 4, 1, 0, 0, 0 },
	{ "data in host memory, flag in the mapping", COPY, 0, 16, 5, 4, 1, 1, 0, 0 },
	{ "data in the mapping, flag in host memory", COPY, 0, 16, 5, 4, 1, 0, 1, 0 },
	{ "64 KiB", COPY, 4, 16384, 4099, 4, 20, 0, 0, 0 },
	{ "256 KiB by threads", THREADS, 4, 65536, 16411, 4, 50, 0, 0, 0 },
	{ "control: flag first", COPY, 0, 1, 1, 4, 100, 0, 0, 1 },
};

static struct gpu_mem device;
static struct host_mem pinned;
static CUdeviceptr pinned_on_gpu;
static gdr_mh_t mh;
static char *map;                       /* of device */
static CUfunction kernel;
static uint32_t words[WORDS_MAX];

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static const struct gdrx_copy_options threads = {
	.size = sizeof(threads), .threads = 4, .min_bytes = 4096,
};

/* The pieces of n bytes; their number. */
static size_t cut(struct gdrx_iov *iov, char *dev, void *host, size_t n)
{
	size_t third = n / 12 * 4;

	for (size_t i = 0; i < 3; i++)
		iov[i] = (struct gdrx_iov){ dev + i * third, (char *)host + i * third,
					    i < 2 ? third : n - 2 * third };
	return 3;
}

static void send_data(const struct test *t, uint32_t round)
{
	char *dev = map + DATA_IN + t->offset;
	size_t n = 4u * t->words;
	struct gdrx_iov iov[3];

	if (t->host_data) {
		uint32_t *host = (void *)((char *)pinned.ptr + HOST_DATA + t->offset);

		for (unsigned i = 0; i < t->words; i++)
			__atomic_store_n(&host[i], round, __ATOMIC_RELAXED);
		return;
	}
	for (unsigned i = 0; i < t->words; i++)
		words[i] = round;
	if (t->how == PIECES)
		GDR(gdrx_copy_iov(mh, 0, iov, cut(iov, dev, words, n)));
	else if (t->how == THREADS)
		GDR(gdrx_copy_to_mapping(mh, dev, words, n, &threads));
	else
		GDR(gdr_copy_to_mapping(mh, dev, words, n));
}

static void send_flag(uint32_t round)
{
	GDR(gdr_copy_to_mapping(mh, map + FLAG_IN, &round, sizeof(round)));
}

static uint32_t look(const struct test *t)
{
	uint32_t seen[16];

	if (t->host_flag) {
		const uint32_t *flag = (void *)((char *)pinned.ptr + HOST_FLAG);

		return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
	}
	GDR(gdr_copy_from_mapping(mh, seen, map + FLAG_OUT, t->poll));
	return seen[0];
}

static void wait_for_flag(const struct test *t, uint32_t round)
{
	double until = 0;

	for (unsigned polls = 1; look(t) != round; polls++) {
		if (polls % 16 == 0 && cu_is_soft())
			sched_yield();
		if (polls % 65536)
			continue;
		if (!until)
			until = seconds() + PATIENCE_S;
		if (seconds() < until)
			continue;
		send_flag(STOP);
		FAIL("%s: no answer to round %u; the flag is %u", t->name, round, look(t));
	}
}

/* Words that are not of the round. */
static unsigned receive(const struct test *t, uint32_t round)
{
	char *dev = map + DATA_OUT + t->offset;
	size_t n = 4u * t->words;
	struct gdrx_iov iov[3];
	unsigned bad = 0;

	wait_for_flag(t, round);
	if (t->how == PIECES)
		GDR(gdrx_copy_iov(mh, 1, iov, cut(iov, dev, words, n)));
	else if (t->how == THREADS)
		GDR(gdrx_copy_from_mapping(mh, words, dev, n, &threads));
	else
		GDR(gdr_copy_from_mapping(mh, words, dev, n));
	for (unsigned i = 0; i < t->words; i += t->stride)
		bad += words[i] != round;
	return bad;
}

static void launch(const struct test *t, uint32_t rounds)
{
	CUdeviceptr flag_in = device.ptr + FLAG_IN, flag_out = device.ptr + FLAG_OUT;
	CUdeviceptr data_in = device.ptr + DATA_IN + t->offset;
	CUdeviceptr data_out = device.ptr + DATA_OUT + t->offset, result = device.ptr + RESULT;
	uint32_t n = t->words, stride = t->stride;
	void *params[] = {
		&flag_in, &data_in, &flag_out, &data_out, &result, &n, &stride, &rounds,
	};

	if (t->host_data)
		data_in = pinned_on_gpu + HOST_DATA + t->offset;
	if (t->host_flag)
		flag_out = pinned_on_gpu + HOST_FLAG;
	CU(cu.MemsetD8(device.ptr, 0, DEVICE_SIZE));
	CU(cu.CtxSynchronize());
	memset(pinned.ptr, 0, HOST_SIZE);
	CU(cu.LaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
	/* on its way at once, not when more work comes */
	cu.StreamQuery(NULL);
}

static bool is_over(uint32_t made, uint32_t rounds, double start)
{
	return made == rounds ||
		(cu_is_soft() && made >= SOFT_ROUNDS && seconds() - start > SOFT_S);
}

/* Returns whether the test is passed. */
static int run(const struct test *t, uint32_t rounds)
{
	unsigned long bad = 0;
	uint32_t result[3], round = 0;
	double start;
	int fine;

	rounds = rounds / t->fewer ? rounds / t->fewer : 1;
	launch(t, rounds);
	start = seconds();
	while (!is_over(round, rounds, start)) {
		round++;
		if (!t->flag_first)
			send_data(t, round);
		send_flag(round);
		bad += receive(t, round);
		if (t->flag_first)
			send_data(t, round);
	}
	if (round < rounds)
		send_flag(STOP);
	rounds = round;
	start = seconds() - start;
	CU(cu.CtxSynchronize());
	CU(cu.MemcpyDtoH(result, device.ptr + RESULT, sizeof(result)));
	fine = !bad && result[0] == (t->flag_first ? rounds : 0);
	printf("%-42s %8u rounds, %.2f us each, violations seen by the GPU %u, by the CPU %lu%s\n",
	       t->name, rounds, start * 1e6 / rounds, result[0], bad, fine ? "" : "  FAILED");
	if (result[0] && !t->flag_first)
		printf("  the GPU's first: %u in round %u\n", result[2], result[1]);
	fflush(stdout);
	return fine;
}

static void load_kernel(CUmodule *module)
{
	CU(cu.ModuleLoadData(module, ptx));
	CU(cu.ModuleGetFunction(&kernel, *module, ENTRY));
}

static uint32_t parse_rounds(int argc, char **argv)
{
	uint64_t rounds = 1000000;

	if (argc > 2 || (argc == 2 && (opts_number(argv[1], false, &rounds) || !rounds ||
				       rounds >= STOP))) {
		fprintf(stderr, "usage: %s [ROUNDS]\n", argv[0]);
		exit(2);
	}
	return (uint32_t)rounds;
}

int main(int argc, char **argv)
{
	uint32_t rounds = parse_rounds(argc, argv);
	int failures = 0;
	gdr_info_t info;
	CUmodule module;
	struct gpu gpu;
	void *va;
	gdr_t g;

	gpu_test_begin(0, &gpu);
	load_kernel(&module);
	CU(gpu_allocators[0].alloc(&device, DEVICE_SIZE, true, true));
	CHECK(host_alloc(HOST_SIZE, &pinned) == 0 && pinned.pinned);
	CU(cu.MemHostGetDevicePointer(&pinned_on_gpu, pinned.ptr, 0));
	g = gdr_open();
	CHECK(g);
	GDR(gdr_pin_buffer(g, device.ptr, DEVICE_SIZE, 0, 0, &mh));
	GDR(gdr_map(g, mh, &va, DEVICE_SIZE));
	GDR(gdr_get_info(g, mh, &info));
	map = (char *)va + (device.ptr - info.va);

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		failures += !run(&tests[i], rounds);

	GDR(gdr_close(g));
	host_free(&pinned);
	CU(device.how->free(&device));
	CU(cu.ModuleUnload(module));
	gpu_close(&gpu);
	printf("%d failures\n", failures);
	return failures ? 1 : 0;
}
