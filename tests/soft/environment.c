/* SPDX-License-Identifier: MIT */
/* Description: the environment variables, each set in a child before its first call. */
#include "soft.h"

struct env {
	const char *name, *value;
	int (*check)(void);
};

static int set_and_check(void *arg)
{
	const struct env *e = arg;

	return setenv(e->name, e->value, 1) ? 1 : e->check();
}

static int attribute(int attr)
{
	int v = -1;

	return cuDeviceGetAttribute(&v, (CUdevice_attribute)attr, 0) ? -1 : v;
}

static int no_device(void)
{
	return cuInit(0) != CUDA_ERROR_NO_DEVICE;
}

static int refused(void)
{
	return cuInit(0) != CUDA_ERROR_INVALID_VALUE;
}

static int three_devices(void)
{
	CUdeviceptr p, q;
	CUcontext a, b;
	int n = 0;

	if (cuInit(0) || cuDeviceGetCount(&n) || n != 3 || cuDevicePrimaryCtxRetain(&a, 0) ||
	    cuDevicePrimaryCtxRetain(&b, 2) || a == b || cuCtxSetCurrent(b) ||
	    cuMemAlloc_v2(&p, 4) ||
	    cuPointerGetAttribute(&n, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p) || n != 2 ||
	    cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 2) || n != 3)
		return 1;
	poke(p, 5);
	assert_int_equal(cuCtxSetCurrent(a), 0);
	q = alloc(4);
	assert_int_equal(cuMemcpy(q, p, 4), 0);         /* from one to the other */
	assert_int_equal(cuDevicePrimaryCtxRelease_v2(2), 0);
	return !(peek(q) == 5 && cuMemFree_v2(p) == CUDA_ERROR_INVALID_VALUE);
}

static int small_memory(void)
{
	size_t avail, total;

	with_context(NULL);
	ok(cuMemGetInfo_v2(&avail, &total));
	return !(avail == 64 * MIB && total == 64 * MIB);
}

static int coherent(void)
{
	CUdeviceptr p;
	int fd;

	with_context(NULL);
	p = alloc(64 * KIB);
	return attribute(100) == 1 && attribute(75) == 10 &&
			       !cuMemGetHandleForAddressRange(
				       &fd, p, PAGE, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD,
				       GDR_CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE) ?
		       0 :
		       1;
}

static int old_driver(void)
{
	int v = 0;

	return !(!cuDriverGetVersion(&v) && v == 12080 && !cuInit(0) && attribute(152) == -1 &&
		 attribute(124) == 1);
}

static int named(void)
{
	char name[64];

	return !cuInit(0) && !cuDeviceGetName(name, sizeof(name), 0) && !strcmp(name, "Imaginary") ?
		       0 :
		       1;
}

static int replaced(void)
{
	return !(!cuInit(0) && attribute(116) == 0 && attribute(20) == 3 && attribute(4242) == 5 &&
		 attribute(124) == 1);
}

static int host_memory(void)
{
	return !(!cuInit(0) && (softcuda_has_gpu() == 0 || !access("/dev/nvsim", F_OK)));
}

/* Asked for by name, it has to be there. */
static int needs_nvsim(void)
{
	if (!access("/dev/nvsim", F_OK))
		return !(!cuInit(0) && softcuda_has_gpu() == 1);
	return cuInit(0) != CUDA_ERROR_INVALID_VALUE;
}

static int faulty(void)
{
	int n;

	return !(cuInit(0) == CUDA_ERROR_OUT_OF_MEMORY && !cuInit(0) &&
		 cuDeviceGetCount(&n) == CUDA_ERROR_UNKNOWN);
}

static void variables(void **state)
{
	static struct env all[] = {
		{ "SOFTCUDA_DEVICES", "0", no_device },
		{ "SOFTCUDA_DEVICES", "3", three_devices },
		{ "SOFTCUDA_DEVICES", "17", refused },
		{ "SOFTCUDA_DEVICES", "x", refused },
		{ "SOFTCUDA_DEVICES", "-1", refused },
		{ "SOFTCUDA_MEMORY", "64M", small_memory },
		{ "SOFTCUDA_MEMORY", "0x4000001", small_memory },
		{ "SOFTCUDA_MEMORY", "1", refused },
		{ "SOFTCUDA_MEMORY", "-1G", refused },
		{ "SOFTCUDA_MEMORY", "64Mx", refused },
		{ "SOFTCUDA_MEMORY", "M", refused },
		{ "SOFTCUDA_MEMORY", "999999T", refused },
		{ "SOFTCUDA_COHERENT", "1", coherent },
		{ "SOFTCUDA_COHERENT", "2", refused },
		{ "SOFTCUDA_DRIVER_VERSION", "12080", old_driver },
		{ "SOFTCUDA_DRIVER_VERSION", "13.0", refused },
		{ "SOFTCUDA_NAME", "Imaginary", named },
		{ "SOFTCUDA_ATTRS", "116=0,20=3,4242=5", replaced },
		{ "SOFTCUDA_ATTRS", "116", refused },
		{ "SOFTCUDA_ATTRS", "116=0;20=3", refused },
		{ "SOFTCUDA_NVSIM", "0", host_memory },
		{ "SOFTCUDA_NVSIM", "1", needs_nvsim },
		{ "SOFTCUDA_NVSIM", "2", refused },
		{ "SOFTCUDA_NVSIM_EXTENT", "64K", host_memory },
		{ "SOFTCUDA_NVSIM_EXTENT", "4K", refused },
		{ "SOFTCUDA_FAIL", "cuInit:1:2,cuDeviceGetCount:*:999", faulty },
		{ "SOFTCUDA_FAIL", "nonsense", refused },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (in_child(set_and_check, &all[i]))
			fail_msg("%s=%s", all[i].name, all[i].value);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
