/* SPDX-License-Identifier: MIT */
/*
 * VMM memory as POSIX descriptors, in this process and others.  The descriptor
 * is the object's first file, whose label says what the memory is.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "softcuda.h"

CUresult cuMemExportToShareableHandle(void *shareable, CUmemGenericAllocationHandle handle,
				      CUmemAllocationHandleType type, unsigned long long flags)
{
	CUresult res = CUDA_ERROR_INVALID_VALUE;
	struct sc_object *o;
	int err, fd = -1;

	SC_ENTER(SC_NEED_INIT);
	if (!shareable || flags || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
		return res;
	sc_mem_wrlock();
	o = sc_object_by_handle(handle);
	if (!o || !(o->prop.requestedHandleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))
		goto unlock;
	err = sc_export_object(o, &fd);
	if (err == -EBUSY) {
		sc_complain(
			"cannot export a memory handle: part of the memory is still exported as a "
			"range that does not begin with it");
		res = CUDA_ERROR_NOT_SUPPORTED;
	} else if (err) {
		res = err == -ENOMEM ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_OPERATING_SYSTEM;
	} else {
		memcpy(shareable, &fd, sizeof(fd));
		res = CUDA_SUCCESS;
	}
unlock:
	sc_mem_unlock();
	return res;
}

/* Open the memory behind fd anew, and read from its label what it is. */
static int open_shared(int fd, uint64_t *size, CUmemAllocationProp *prop)
{
	unsigned int types, rdma;
	unsigned long long bytes;
	char label[128];
	int err;

	err = sc_config()->source->label(fd, label, sizeof(label));
	if (err)
		return err;
	memset(prop, 0, sizeof(*prop));
	if (sscanf(label, "softcuda-vmm:%d:%llx:%u:%u", &prop->location.id, &bytes, &types,
		   &rdma) != 4)
		return -EINVAL;
	prop->type = CU_MEM_ALLOCATION_TYPE_PINNED;
	prop->location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	prop->requestedHandleTypes = (CUmemAllocationHandleType)types;
	prop->allocFlags.gpuDirectRDMACapable = (unsigned char)rdma;
	if (!sc_device_valid(prop->location.id))
		return -ENODEV;
	*size = bytes;
	return sc_config()->source->reopen(fd);
}

/* Memory lock held for writing: the memory of another process. */
static CUresult import_foreign(int os_fd, struct sc_object **out)
{
	struct sc_extent e = { 0 };
	CUmemAllocationProp prop = { 0 };
	struct sc_object *o;
	int fd = open_shared(os_fd, &e.len, &prop);

	if (fd == -ENODEV)
		return CUDA_ERROR_INVALID_DEVICE;
	if (fd < 0)
		return CUDA_ERROR_INVALID_VALUE;
	e.file = sc_file_adopt(fd, e.len);
	if (!e.file) {
		sc_config()->source->discard(fd);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	o = sc_object_foreign(prop.location.id, &e, 1);
	if (!o)
		return CUDA_ERROR_OUT_OF_MEMORY;
	o->vmm = true;
	o->prop = prop;
	*out = o;
	return CUDA_SUCCESS;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *os_handle,
					CUmemAllocationHandleType type)
{
	int fd = (int)(intptr_t)os_handle;
	CUresult res = CUDA_SUCCESS;
	struct sc_object *o;

	SC_ENTER(SC_NEED_INIT);
	if (!handle || fd < 0 || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
		return CUDA_ERROR_INVALID_VALUE;
	sc_mem_wrlock();
	o = sc_object_by_fd(fd);
	if (o)
		sc_object_get(o);
	else
		res = import_foreign(fd, &o);
	if (!res) {
		o->handles++;
		*handle = sc_object_handle(o);
	}
	sc_mem_unlock();
	return res;
}
