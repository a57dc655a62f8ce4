/* SPDX-License-Identifier: MIT */
/* Pointer attributes, one at a time and in batches. */
#include <string.h>

#include "softcuda.h"

/* What device memory of a P2P token is addressed by on current drivers. */
#define VA_SPACE_TOKEN 0xfe00

/* Any value that is no context; the default pool of each device. */
static char pools[SC_MAX_DEVICES];

static bool host_address(const struct sc_alloc *a)
{
	return a->kind == SC_HOST || a->kind == SC_MANAGED;
}

/* A range that is reserved but not mapped has an address and nothing else. */
static CUresult reserved_attribute(void *data, int attr, const struct sc_alloc *a)
{
	switch (attr) {
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		memcpy(data, &a->start, sizeof(a->start));
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		memcpy(data, &a->size, sizeof(a->size));
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MAPPED:
		*(unsigned char *)data = 0;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

/* Attributes that are a 32-bit number or a boolean. */
static CUresult number_attribute(void *data, int attr, const struct sc_alloc *a,
				 const struct sc_map *m)
{
	bool malloced = a->kind == SC_SMALL || a->kind == SC_LARGE;
	CUDA_POINTER_ATTRIBUTE_P2P_TOKENS tokens = { 0, VA_SPACE_TOKEN };
	unsigned int v;

	switch (attr) {
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		v = a->kind == SC_HOST ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
		break;
	case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
		if (!malloced)
			return CUDA_ERROR_INVALID_VALUE;
		memcpy(data, &tokens, sizeof(tokens));
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
		*(unsigned char *)data = a->sync_memops != 0;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		*(unsigned char *)data = a->kind == SC_MANAGED;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
		*(unsigned char *)data = malloced;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MAPPED:
		*(unsigned char *)data = 1;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		v = (unsigned int)(m ? m->obj->dev : a->dev);
		break;
	case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: {
		uint64_t types = m ? (uint64_t)m->obj->prop.requestedHandleTypes : 0;

		memcpy(data, &types, sizeof(types));
		return CUDA_SUCCESS;
	}
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
	memcpy(data, &v, sizeof(v));
	return CUDA_SUCCESS;
}

static CUresult attribute(void *data, int attr, CUdeviceptr ptr)
{
	const struct sc_alloc *a = sc_range_find(ptr);
	const struct sc_map *m = NULL;
	uint64_t v;

	if (!a)
		return CUDA_ERROR_INVALID_VALUE;
	if (a->kind == SC_RESERVE) {
		m = sc_range_map(a, ptr);
		if (!m)
			return reserved_attribute(data, attr, a);
	}
	switch (attr) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		v = m || a->kind == SC_ASYNC ? 0 : (uintptr_t)sc_context_of(a->dev);
		break;
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		v = ptr;
		break;
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		if (!host_address(a))
			return CUDA_ERROR_INVALID_VALUE;
		v = ptr;
		break;
	case CU_POINTER_ATTRIBUTE_BUFFER_ID:
		v = m ? (1ULL << 48) + m->obj->number : a->id;
		break;
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		v = a->start;
		break;
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		v = a->size;
		break;
	case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
		v = m ? m->size : a->size;
		break;
	case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
		v = m ? m->start : a->start;
		break;
	case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		v = a->kind == SC_ASYNC ? (uintptr_t)&pools[a->dev] : 0;
		break;
	default:
		return number_attribute(data, attr, a, m);
	}
	memcpy(data, &v, sizeof(v));
	return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attr, CUdeviceptr ptr)
{
	CUresult res;

	SC_ENTER(SC_NEED_INIT);
	if (!data || !ptr)
		return CUDA_ERROR_INVALID_VALUE;
	sc_mem_rdlock();
	res = attribute(data, (int)attr, ptr);
	sc_mem_unlock();
	return res;
}

/* Bytes that an attribute of the batch form fills; 0: not one of them. */
static size_t batch_width(int attr)
{
	switch (attr) {
	case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
	case CU_POINTER_ATTRIBUTE_MAPPED:
	case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
		return 1;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		return 4;
	case CU_POINTER_ATTRIBUTE_CONTEXT:
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
	case CU_POINTER_ATTRIBUTE_BUFFER_ID:
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
	case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
	case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
	case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
	case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
		return 8;
	default:
		return 0;
	}
}

/* What ptr does not have is 0, the device -2; only a wrong question fails. */
CUresult cuPointerGetAttributes(unsigned int n, CUpointer_attribute *attrs, void **data,
				CUdeviceptr ptr)
{
	const int no_device = -2;

	SC_ENTER(SC_NEED_INIT);
	if (!n || !attrs || !data)
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned int i = 0; i < n; i++)
		if (!data[i] || !batch_width((int)attrs[i]))
			return CUDA_ERROR_INVALID_VALUE;
	sc_mem_rdlock();
	for (unsigned int i = 0; i < n; i++) {
		if (!attribute(data[i], (int)attrs[i], ptr))
			continue;
		memset(data[i], 0, batch_width((int)attrs[i]));
		if (attrs[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
			memcpy(data[i], &no_device, sizeof(no_device));
	}
	sc_mem_unlock();
	return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attr, CUdeviceptr ptr)
{
	CUresult res = CUDA_SUCCESS;
	struct sc_alloc *a;
	unsigned int v;

	SC_ENTER(SC_NEED_INIT);
	if (!value || attr != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(&v, value, sizeof(v));
	sc_mem_wrlock();
	a = sc_range_find(ptr);
	if (!a || host_address(a))
		res = CUDA_ERROR_INVALID_VALUE;
	else if (a->kind == SC_RESERVE || a->kind == SC_ASYNC)
		res = CUDA_ERROR_NOT_SUPPORTED;
	else
		a->sync_memops = v;
	sc_mem_unlock();
	return res;
}
