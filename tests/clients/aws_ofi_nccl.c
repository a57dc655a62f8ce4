/* SPDX-License-Identifier: MIT */
/*
 * aws-ofi-nccl's GIN: the newer pin where library and driver are both 2.5, with
 * PCIe forced and then without; 8-byte signals written from a thread of its own.
 */
#include "loader.h"

#define FORCE_PCIE 1u
#define SEGMENT	   (2ul << 20)
#define SEGMENTS   3
#define SIGNALS	   1000

typedef struct aws_gdr *aws_t;
typedef struct {
	unsigned long h;
} aws_mh;

static struct {
	CLIENT_CALLS(aws_t, aws_mh)
	int (*pin_v2)(aws_t, unsigned long, size_t, uint32_t, aws_mh *);
	CLIENT_VERSIONS(aws_t)
} api;

static aws_t g;

static int version(int major, int minor)
{
	return major * 100 + minor;
}

static void load(void)
{
	void *lib = load_library("libgdrapi.so", RTLD_NOW);
	int lib_major, lib_minor, drv_major, drv_minor;

	LOOK_UP_CALLS(lib, api);
	LOOK_UP_VERSIONS(lib, api);
	g = api.open();
	CHECK(g);
	api.runtime_version(&lib_major, &lib_minor);
	CHECK(api.driver_version(g, &drv_major, &drv_minor) == 0);
	/* GIN refuses anything older */
	CHECK(version(lib_major, lib_minor) >= 205 && version(drv_major, drv_minor) >= 205);
	LOOK_UP(lib, api.pin_v2, "gdr_pin_buffer_v2");
}

struct region {
	CUdeviceptr ptr;
	size_t size;
	aws_mh mh;
	char *map;
};

static struct region reg(CUdeviceptr ptr, size_t size)
{
	struct region r = { .ptr = ptr, .size = size };
	void *map;
	int ret = api.pin_v2(g, ptr, size, FORCE_PCIE, &r.mh);

	CHECK(cu.coherent || ret != 0);
	if (ret)
		ret = api.pin_v2(g, ptr, size, 0, &r.mh);
	CHECK(ret == 0);
	CHECK(api.map(g, r.mh, &map, size) == 0);
	r.map = map;
	return r;
}

static void *signal_thread(void *arg)
{
	struct region *r = arg;

	for (uint64_t i = 1; i <= SIGNALS; i++) {
		uint64_t value = i, back = 0;
		char *at = r->map + 8 * (i % (r->size / 8));

		CHECK(api.copy_to(r->mh, at, &value, sizeof(value)) == 0);
		CHECK(api.copy_from(r->mh, &back, at, sizeof(back)) == 0);
		CHECK(back == i);
	}
	return NULL;
}

int main(void)
{
	struct region r[SEGMENTS];
	pthread_t thread;

	start_cuda();
	load();
	/* a pin for each VMM segment */
	for (int i = 0; i < SEGMENTS; i++)
		r[i] = reg(alloc_vmm(SEGMENT), SEGMENT);
	for (int i = 0; i < SEGMENTS; i++) {
		uint64_t last = SIGNALS;

		CHECK(!pthread_create(&thread, NULL, signal_thread, &r[i]));
		pthread_join(thread, NULL);
		check_device(r[i].ptr + 8 * (SIGNALS % (SEGMENT / 8)), &last, sizeof(last));
	}
	for (int i = 0; i < SEGMENTS; i++) {
		CHECK(api.unmap(g, r[i].mh, r[i].map, SEGMENT) == 0);
		CHECK(api.unpin(g, r[i].mh) == 0);
		free_vmm(r[i].ptr, SEGMENT);
	}
	CHECK(api.close(g) == 0);
	return 0;
}
