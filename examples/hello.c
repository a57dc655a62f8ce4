/* SPDX-License-Identifier: MIT */
#include <cuda.h>
#include <gdrapi_ext.h>
#include <stdio.h>

int main(void)
{
	const size_t size = 2 << 20; /* blocks this large start on a GPU page */
	char text[] = "hello, GPU memory", back[sizeof(text)] = "";
	CUdevice dev;
	CUcontext ctx;
	CUdeviceptr buf;
	gdr_mh_t mh;
	void *map;

	if (cuInit(0) || cuDeviceGet(&dev, 0) || cuDevicePrimaryCtxRetain(&ctx, dev) ||
	    cuCtxSetCurrent(ctx) || cuMemAlloc(&buf, size))
		return fprintf(stderr, "no GPU memory\n"), 1;

	gdr_t g = gdr_open();
	if (!g || gdr_pin_buffer_v2(g, buf, size, GDR_PIN_FLAG_DEFAULT, &mh) ||
	    gdr_map(g, mh, &map, size))
		return fprintf(stderr, "%s\n", gdrx_last_error()), 1;

	gdr_copy_to_mapping(mh, map, text, sizeof(text));
	gdr_copy_from_mapping(mh, back, map, sizeof(back));
	printf("%s\n", back);

	gdr_unmap(g, mh, map, size);
	gdr_unpin_buffer(g, mh);
	gdr_close(g);
	return cuMemFree(buf) != CUDA_SUCCESS;
}
