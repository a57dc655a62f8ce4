/* SPDX-License-Identifier: MIT */
/*
 * The wrapper that NCCL brought up and TensorRT-LLM took over: the unversioned
 * library, the info struct of releases before 2.4, both versions at least 2.1,
 * buffers with room to align them to 64 KiB by hand.
 */
#ifndef CLIENTS_GDRWRAP_H
#define CLIENTS_GDRWRAP_H

#include "loader.h"

typedef struct wrap_gdr *wrap_t;
typedef struct {
	unsigned long h;
} wrap_mh;

struct wrap_info {
	uint64_t va;
	uint64_t mapped_size;
	uint32_t page_size;
	uint64_t tm_cycles;
	uint32_t cycles_per_ms;
	unsigned mapped : 1;
	unsigned wc_mapping : 1;
};
_Static_assert(sizeof(struct wrap_info) == 40, "the struct of 2.0 to 2.3");

static struct {
	CLIENT_CALLS(wrap_t, wrap_mh)
	int (*pin_v2)(wrap_t, unsigned long, size_t, uint32_t, wrap_mh *);
	int (*get_info)(wrap_t, wrap_mh, struct wrap_info *);
	CLIENT_VERSIONS(wrap_t)
} wrap;

static pthread_mutex_t wrap_lock = PTHREAD_MUTEX_INITIALIZER;

/* A call under the wrapper's lock. */
#define LOCKED(call) \
	({ \
		int locked_ret; \
		pthread_mutex_lock(&wrap_lock); \
		locked_ret = wrap.call; \
		pthread_mutex_unlock(&wrap_lock); \
		locked_ret; \
	})

static inline void wrap_load(void)
{
	void *lib = load_library("libgdrapi.so", RTLD_NOW);

	LOOK_UP_CALLS(lib, wrap);
	LOOK_UP(lib, wrap.get_info, "gdr_get_info");
	LOOK_UP_VERSIONS(lib, wrap);
	/* optional */
	wrap.pin_v2 = (__typeof__(wrap.pin_v2))dlsym(lib, "gdr_pin_buffer_v2");
}

/* Opens and checks versions; prints the line that users look for. */
static inline wrap_t wrap_init(void)
{
	int lib_major = 0, lib_minor = 0, drv_major = 0, drv_minor = 0;
	wrap_t g = wrap.open();

	CHECK(g);
	wrap.runtime_version(&lib_major, &lib_minor);
	/* the result is not looked at, only the numbers */
	(void)wrap.driver_version(g, &drv_major, &drv_minor);
	CHECK(lib_major > 2 || (lib_major == 2 && lib_minor >= 1));
	CHECK(drv_major > 2 || (drv_major == 2 && drv_minor >= 1));
	if (lib_major == 2 && lib_minor < 5)
		wrap.pin_v2 = NULL;
	printf("GDRCOPY enabled library %d.%d driver %d.%d\n", lib_major, lib_minor, drv_major,
	       drv_minor);
	return g;
}

struct wrap_buffer {
	CUdeviceptr memory; /* as allocated */
	CUdeviceptr ptr;    /* aligned by hand */
	size_t map_size, alloc_size;
	bool vmm;
	wrap_mh mh;
	void *map;  /* of the whole range */
	char *host; /* where ptr is seen */
};

static inline struct wrap_buffer wrap_alloc(wrap_t g, size_t size, bool vmm, uint32_t flags)
{
	struct wrap_buffer b = { .vmm = vmm };
	struct {
		struct wrap_info info;
		unsigned char canary[64];
	} v1;
	CUdeviceptr aligned;

	b.map_size = (size + GPU_PAGE - 1) & ~(GPU_PAGE - 1);
	b.alloc_size = b.map_size + GPU_PAGE - 1;
	if (vmm) {
		b.alloc_size = (b.alloc_size + (2 << 20) - 1) & ~((2ul << 20) - 1);
		b.memory = alloc_vmm(b.alloc_size);
	} else {
		CUDA(MemAlloc(&b.memory, b.alloc_size));
	}
	set_device(b.memory, 0, b.alloc_size);
	aligned = (b.memory + GPU_PAGE - 1) & ~(GPU_PAGE - 1);
	b.ptr = aligned;
	if (flags)
		CHECK(LOCKED(pin_v2(g, aligned, b.map_size, flags, &b.mh)) == 0);
	else
		CHECK(LOCKED(pin(g, aligned, b.map_size, 0, 0, &b.mh)) == 0);
	CHECK(b.mh.h != 0);
	CHECK(LOCKED(map(g, b.mh, &b.map, b.map_size)) == 0);
	memset(&v1, 0xa5, sizeof(v1));
	CHECK(LOCKED(get_info(g, b.mh, &v1.info)) == 0);
	for (size_t i = 0; i < sizeof(v1.canary); i++)
		CHECK(v1.canary[i] == 0xa5);
	CHECK(v1.info.va == aligned);
	CHECK(v1.info.mapped_size >= b.map_size);
	CHECK(v1.info.mapped);
	b.host = (char *)b.map + (v1.info.va - aligned);
	return b;
}

static inline void wrap_free(wrap_t g, struct wrap_buffer *b)
{
	CHECK(LOCKED(unmap(g, b->mh, b->map, b->map_size)) == 0);
	CHECK(LOCKED(unpin(g, b->mh)) == 0);
	if (b->vmm)
		free_vmm(b->memory, b->alloc_size);
	else
		CUDA(MemFree(b->memory));
}

#endif
