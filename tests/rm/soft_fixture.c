/* SPDX-License-Identifier: MIT */
#include "soft_fixture.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call) assert_int_equal(call, CUDA_SUCCESS)

static CUcontext contexts[DEVICES];
static size_t free_before[DEVICES];
static int fds_before;

void (*soft_twist_ipc)(uint32_t words[16]);
CUresult (*soft_ipc)(CUipcMemHandle *handle, CUdeviceptr ptr);
CUcontext soft_memory_context;
unsigned soft_primaries;
static CUresult (*real_ipc)(CUipcMemHandle *handle, CUdeviceptr ptr);
static CUresult (*real_attribute)(void *data, CUpointer_attribute attr, CUdeviceptr ptr);
static CUresult (*real_free)(CUdeviceptr ptr);
static bool put_off;
static CUdeviceptr later[8];
static unsigned n_later;
static CUresult (*real_retain)(CUcontext *ctx, CUdevice dev);

void *__real_dlsym(void *lib, const char *name);
void *__wrap_dlsym(void *lib, const char *name);

static CUresult twisted_ipc(CUipcMemHandle *handle, CUdeviceptr ptr)
{
	CUresult res = soft_ipc ? soft_ipc(handle, ptr) : real_ipc(handle, ptr);
	uint32_t words[16];

	if (res == CUDA_SUCCESS && soft_twist_ipc) {
		memcpy(words, handle, sizeof(words));
		soft_twist_ipc(words);
		memcpy(handle, words, sizeof(words));
	}
	return res;
}

static CUresult memory_attribute(void *data, CUpointer_attribute attr, CUdeviceptr ptr)
{
	if (attr != CU_POINTER_ATTRIBUTE_CONTEXT || !soft_memory_context)
		return real_attribute(data, attr, ptr);
	*(CUcontext *)data = soft_memory_context;
	return CUDA_SUCCESS;
}

static CUresult counted_retain(CUcontext *ctx, CUdevice dev)
{
	soft_primaries++;
	return real_retain(ctx, dev);
}

static CUresult free_later(CUdeviceptr ptr)
{
	if (!put_off || n_later == sizeof(later) / sizeof(later[0]))
		return real_free(ptr);
	later[n_later++] = ptr;
	return CUDA_SUCCESS;
}

void soft_put_off_frees(void)
{
	put_off = true;
}

void soft_free_now(void)
{
	put_off = false;
	while (n_later)
		cuda_free(later[--n_later]);
}

static const struct {
	const char *name;
	void *wrap, *real;
} wraps[] = {
	{ "cuIpcGetMemHandle", (void *)twisted_ipc, &real_ipc },
	{ "cuPointerGetAttribute", (void *)memory_attribute, &real_attribute },
	{ "cuMemFree_v2", (void *)free_later, &real_free },
	{ "cuDevicePrimaryCtxRetain", (void *)counted_retain, &real_retain },
};

void *__wrap_dlsym(void *lib, const char *name)
{
	void *p = __real_dlsym(lib, name);

	for (size_t i = 0; p && i < sizeof(wraps) / sizeof(wraps[0]); i++) {
		if (!strcmp(name, wraps[i].name)) {
			memcpy(wraps[i].real, &p, sizeof(p));
			return wraps[i].wrap;
		}
	}
	return p;
}

int soft_start(void **state)
{
	CUipcMemHandle handle;
	CUdeviceptr ptr;
	int n;

	setenv("GDRCOPY_BACKEND", "rm", 1);
	CHECK(cuInit(0));
	CHECK(cuDeviceGetCount(&n));
	assert_int_equal(n, DEVICES);
	for (int i = 0; i < DEVICES; i++)
		CHECK(cuDevicePrimaryCtxRetain(&contexts[i], i));
	/* What softcuda opens at its first IPC handle, it keeps. */
	soft_use(0);
	CHECK(cuMemAlloc_v2(&ptr, 1));
	CHECK(cuIpcGetMemHandle(&handle, ptr));
	CHECK(cuMemFree_v2(ptr));
	return 0;
}

void soft_use(CUdevice dev)
{
	CHECK(cuCtxSetCurrent(contexts[dev]));
}

static size_t free_now(CUdevice dev)
{
	size_t left, total;

	soft_use(dev);
	CHECK(cuMemGetInfo_v2(&left, &total));
	return left;
}

/* Minor, device instance and CUDA ordinal differ everywhere. */
static void add_gpu(CUdevice dev)
{
	static const uint32_t minors[DEVICES] = { 2, 0 }, instances[DEVICES] = { 1, 2 };
	struct fake_rm_gpu gpu = {
		.gpu_id = 0x100u + (uint32_t)dev,
		.minor = minors[dev],
		.instance = instances[dev],
		.ordinal = (uint32_t)dev,
		.bar1_base = 0x100000000000ull << dev,
		.bar1_size = 1ull << 38,
	};
	int domain, bus, slot;

	CHECK(cuDeviceGetAttribute(&domain, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, dev));
	CHECK(cuDeviceGetAttribute(&bus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, dev));
	CHECK(cuDeviceGetAttribute(&slot, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, dev));
	gpu.domain = (uint32_t)domain;
	gpu.bus = (uint32_t)bus;
	gpu.slot = (uint32_t)slot;
	fake_rm_add_gpu(&gpu);
}

static int count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

int soft_reset(void **state)
{
	soft_twist_ipc = NULL;
	fake_rm_reset();
	for (int i = DEVICES - 1; i >= 0; i--) {
		add_gpu(i);
		free_before[i] = free_now(i);
	}
	fds_before = count_fds();
	return 0;
}

int soft_open(void **state)
{
	soft_reset(state);
	*state = gdr_open();
	if (!*state)
		fail_msg("gdr_open: %s", gdrx_open_report());
	assert_string_equal(gdrx_backend_name(*state), "rm");
	return 0;
}

bool soft_is_clean(void)
{
	struct fake_rm_counts c;
	bool clean = true;

	fake_rm_counts(&c);
	if (c.mappings || c.windows || c.memories || c.devices || c.clients || c.gpu_files ||
	    c.ctl_files) {
		print_error("left: %u mappings, %u windows, %u memory objects, %u devices, "
			    "%u clients, %u GPU files, %u control files\n", c.mappings, c.windows,
			    c.memories, c.devices, c.clients, c.gpu_files, c.ctl_files);
		clean = false;
	}
	for (int i = DEVICES - 1; i >= 0; i--) {
		size_t left = free_now(i);

		if (left != free_before[i]) {
			print_error("device %d: %zu bytes free before, %zu now\n", i,
				    free_before[i], left);
			clean = false;
		}
	}
	if (count_fds() != fds_before) {
		print_error("%d descriptors before, %d now\n", fds_before, count_fds());
		clean = false;
	}
	if (fake_rm_violations()) {
		print_error("%u violations, the last: %s\n", fake_rm_violations(),
			    fake_rm_violation());
		clean = false;
	}
	return clean;
}

int soft_check_clean(void **state)
{
	return soft_is_clean() ? 0 : -1;
}

int soft_close(void **state)
{
	fake_rm_fail_none();
	assert_int_equal(gdr_close(*state), 0);
	return soft_check_clean(state);
}

void vmm_new(CUdevice dev, size_t seg, unsigned n, CUmemAllocationHandleType type, struct vmm *v)
{
	CUmemAllocationProp prop = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.requestedHandleTypes = type,
		.location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = dev },
	};
	CUmemAccessDesc access = {
		.location = prop.location,
		.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
	};

	v->seg = seg;
	v->n = n;
	CHECK(cuMemAddressReserve(&v->ptr, n * seg, 0, 0, 0));
	for (unsigned i = 0; i < n; i++) {
		CHECK(cuMemCreate(&v->handles[i], seg, &prop, 0));
		CHECK(cuMemMap(v->ptr + i * seg, seg, 0, v->handles[i], 0));
		CHECK(cuMemSetAccess(v->ptr + i * seg, seg, &access, 1));
	}
}

void vmm_free(struct vmm *v)
{
	for (unsigned i = 0; i < v->n; i++) {
		CHECK(cuMemUnmap(v->ptr + i * v->seg, v->seg));
		CHECK(cuMemRelease(v->handles[i]));
	}
	CHECK(cuMemAddressFree(v->ptr, v->n * v->seg));
}

CUdeviceptr cuda_alloc(size_t size)
{
	CUdeviceptr ptr;

	CHECK(cuMemAlloc_v2(&ptr, size));
	return ptr;
}

void cuda_free(CUdeviceptr ptr)
{
	CHECK(cuMemFree_v2(ptr));
}

/* No two places of a few MiB look alike: the index is in the byte's surroundings. */
static unsigned char pattern(size_t i, unsigned seed)
{
	return (unsigned char)(((i + seed) * 2654435761u) >> 11 ^ (i >> 12));
}

void pattern_to_cpu(void *p, size_t size, unsigned seed)
{
	unsigned char *bytes = p;

	for (size_t i = 0; i < size; i++)
		bytes[i] = pattern(i, seed);
}

void pattern_on_cpu(const void *p, size_t size, unsigned seed)
{
	const unsigned char *bytes = p;

	for (size_t i = 0; i < size; i++) {
		if (bytes[i] != pattern(i, seed))
			fail_msg("byte 0x%zx of 0x%zx is 0x%02x, not 0x%02x", i, size, bytes[i],
				 pattern(i, seed));
	}
}

void pattern_to_device(CUdeviceptr ptr, size_t size, unsigned seed)
{
	void *host = test_malloc(size);

	pattern_to_cpu(host, size, seed);
	CHECK(cuMemcpyHtoD_v2(ptr, host, size));
	test_free(host);
}

void pattern_on_device(CUdeviceptr ptr, size_t size, unsigned seed)
{
	void *host = test_malloc(size);

	CHECK(cuMemcpyDtoH_v2(host, ptr, size));
	pattern_on_cpu(host, size, seed);
	test_free(host);
}

void round_trip(gdr_t g, CUdeviceptr ptr, size_t size)
{
	gdr_mh_t mh;
	void *va;
	int ret = gdr_pin_buffer(g, ptr, size, 0, 0, &mh);

	if (ret)
		fail_msg("pin of 0x%zx bytes at 0x%llx: %s", size, ptr, gdrx_last_error());
	ret = gdr_map(g, mh, &va, size);
	if (ret)
		fail_msg("map of 0x%zx bytes at 0x%llx: %s", size, ptr, gdrx_last_error());
	pattern_to_device(ptr, size, 1);
	pattern_on_cpu(va, size, 1);
	pattern_to_cpu(va, size, 2);
	pattern_on_device(ptr, size, 2);
	assert_int_equal(gdr_unmap(g, mh, va, size), 0);
	assert_int_equal(gdr_unpin_buffer(g, mh), 0);
}

void refuse_pin(gdr_t g, CUdeviceptr ptr, size_t size, int err, const char *needle)
{
	struct fake_rm_counts before, after;
	gdr_mh_t mh = { 77 };
	int ret;

	fake_rm_counts(&before);
	ret = gdr_pin_buffer(g, ptr, size, 0, 0, &mh);
	fake_rm_counts(&after);

	if (ret != err || !strstr(gdrx_last_error(), needle))
		fail_msg("pin gave %d, wanted %d and \"%s\": %s", ret, err, needle,
			 gdrx_last_error());
	assert_int_equal(mh.h, 77);
	/* The GPU's client may stay, for the next pin. */
	assert_int_equal(after.memories, before.memories);
	assert_int_equal(after.windows, before.windows);
	assert_int_equal(after.mappings, before.mappings);
	assert_int_equal(after.gpu_files, before.gpu_files);
}

int soft_scenario(CUdeviceptr ptr, const struct vmm *v)
{
	gdr_mh_t mh = { 0 };
	char before[64];
	gdr_t g;
	int ret;
	void *va;

	/* A last error that nothing below can give. */
	assert_int_equal(gdr_unpin_buffer(NULL, mh), EINVAL);
	snprintf(before, sizeof(before), "%s", gdrx_last_error());
	g = gdr_open();
	if (!g)
		return errno;
	ret = gdr_pin_buffer(g, ptr, 64 * KIB, 0, 0, &mh);
	if (!ret)
		ret = gdr_map(g, mh, &va, 4 * KIB);
	if (!ret)
		ret = gdr_unmap(g, mh, va, 4 * KIB);
	if (!ret)
		ret = gdr_map(g, mh, &va, 64 * KIB);
	if (!ret)
		ret = gdr_pin_buffer(g, v->ptr, 3 * v->seg, 0, 0, &mh);
	if (!ret)
		ret = gdr_map(g, mh, &va, 3 * v->seg);
	if (!ret)
		ret = gdr_unmap(g, mh, va, 3 * v->seg);
	if (!ret)
		ret = gdr_unpin_buffer(g, mh);
	if (ret && !strncmp(before, gdrx_last_error(), sizeof(before) - 1))
		fail_msg("failed with %d and said nothing", ret);
	if (gdr_close(g))
		fail_msg("gdr_close: %s", gdrx_last_error());
	return ret;
}
