/* SPDX-License-Identifier: MIT */
/*
 * TensorRT-LLM's expert load balancer: NCCL's wrapper, but copies take no lock
 * and run beside each other and beside control calls.
 */
#include "gdrwrap.h"

#define THREADS 4
#define ROUNDS	50
#define SIZE	4096ul

static wrap_t g;

static void *balance(void *arg)
{
	unsigned self = (unsigned)(uintptr_t)arg;
	unsigned char out[SIZE], in[SIZE];

	CUDA(CtxSetCurrent(cu.ctx));
	for (unsigned round = 0; round < ROUNDS / 10; round++) {
		struct wrap_buffer b = wrap_alloc(g, SIZE, false, 0);

		for (unsigned i = 0; i < 10; i++) {
			fill(out, SIZE, self * ROUNDS + round * 10 + i);
			CHECK(wrap.copy_to(b.mh, b.host, out, SIZE) == 0);
			CHECK(wrap.copy_from(b.mh, in, b.host, SIZE) == 0);
			CHECK(!memcmp(in, out, SIZE));
		}
		check_device(b.ptr, out, SIZE);
		wrap_free(g, &b);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	start_cuda();
	wrap_load();
	g = wrap_init();
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, balance, (void *)i));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK(LOCKED(close(g)) == 0);
	return 0;
}
