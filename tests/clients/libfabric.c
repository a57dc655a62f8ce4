/* SPDX-License-Identifier: MIT */
/*
 * libfabric: either name of the library, eight functions, no versions and no
 * info: the mapping begins exactly at the rounded start.  The result of a pin
 * is given to strerror.
 */
#include "loader.h"

typedef struct fabric_gdr *fabric_t;
typedef struct {
	unsigned long h;
} fabric_mh;

static struct {
	CLIENT_CALLS(fabric_t, fabric_mh)
} api;

static fabric_t g;
static pthread_spinlock_t lock;

struct mr {
	fabric_mh mh;
	void *mapped, *user;
	size_t length;
};

static void load(void)
{
	void *first = dlopen("libgdrapi.so", RTLD_NOW);
	void *lib = first ? first : dlopen("libgdrapi.so.2", RTLD_NOW);

	CHECK(lib);
	/* both names are the same library */
	CHECK(load_library("libgdrapi.so.2", RTLD_NOW) == lib);
	LOOK_UP_CALLS(lib, api);
}

static int reg(struct mr *m, uint64_t address, size_t length)
{
	uint64_t start = address & ~(GPU_PAGE - 1);
	uint64_t end = (address + length + GPU_PAGE - 1) & ~(GPU_PAGE - 1);
	int err;

	m->length = end - start;
	pthread_spin_lock(&lock);
	err = api.pin(g, start, m->length, 0, 0, &m->mh);
	if (!err) {
		err = api.map(g, m->mh, &m->mapped, m->length);
		if (err)
			api.unpin(g, m->mh);
	}
	pthread_spin_unlock(&lock);
	m->user = (char *)m->mapped + (address - start);
	return err;
}

static int dereg(const struct mr *m)
{
	int err;

	pthread_spin_lock(&lock);
	err = api.unmap(g, m->mh, m->mapped, m->length);
	if (!err)
		err = api.unpin(g, m->mh);
	pthread_spin_unlock(&lock);
	return err;
}

/* Registered memory that is no device memory: a number that strerror knows. */
static void a_failure_has_a_name(void)
{
	static char host[3 * GPU_PAGE];
	struct mr m = { .mapped = NULL };
	int err = reg(&m, (uint64_t)(uintptr_t)host + GPU_PAGE, GPU_PAGE);

	CHECK(err > 0 && err < 134);
	CHECK(strncmp(strerror(err), "Unknown", 7));
}

int main(void)
{
	static const size_t cuts[][2] = { { 0, 1 }, { 5, 3072 }, { 70000, 32768 }, { 1 << 20, 8 } };
	static unsigned char out[32768], in[32768];
	CUdeviceptr ptr;
	struct mr m;

	start_cuda();
	load();
	pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
	g = api.open();
	CHECK(g);
	a_failure_has_a_name();
	CUDA(MemAlloc(&ptr, 4ul << 20));
	for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
		CUdeviceptr at = ptr + cuts[i][0];
		size_t n = cuts[i][1];

		CHECK(reg(&m, at, n) == 0);
		fill(out, n, (unsigned)i);
		CHECK(api.copy_to(m.mh, m.user, out, n) == 0);
		check_device(at, out, n);
		CHECK(api.copy_from(m.mh, in, m.user, n) == 0);
		CHECK(!memcmp(in, out, n));
		CHECK(dereg(&m) == 0);
		/* a registration that is taken back twice is an error, not a crash */
		CHECK(dereg(&m) == EINVAL);
		CHECK(api.unpin(g, m.mh) == EINVAL);
		CHECK(api.copy_to(m.mh, m.user, out, n) == EINVAL);
	}
	CHECK(api.close(g) == 0);
	CUDA(MemFree(ptr));
	return 0;
}
