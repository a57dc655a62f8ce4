/* SPDX-License-Identifier: MIT */
/*
 * Two UCP workers of one process send each other tagged messages from and to
 * device memory, of both kinds, at odd offsets, and to and from the host.  The
 * data is written and read back by CUDA; UCX_TLS says by what UCX moves it.
 */
#include <ucp/api/ucp.h>

#include "../loader.h"

#define MEMORY	(2ul << 20)
#define TAG	0x6764

struct side {
	ucp_context_h context;
	ucp_worker_h worker;
	ucp_ep_h ep;                    /* to the other side */
};

/* A buffer of either kind, and how much of it is in use. */
struct place {
	bool device;
	char *at;
};

static struct side sides[2];

#define UCX(call) ucx_ok(call, #call)

static void ucx_ok(ucs_status_t status, const char *call)
{
	if (status == UCS_OK)
		return;
	fprintf(stderr, "%s: %s\n", call, ucs_status_string(status));
	exit(1);
}

static void start(struct side *s)
{
	ucp_params_t params = {
		.field_mask = UCP_PARAM_FIELD_FEATURES,
		.features = UCP_FEATURE_TAG,
	};
	ucp_worker_params_t worker = {
		.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
		.thread_mode = UCS_THREAD_MODE_SINGLE,
	};

	UCX(ucp_init(&params, NULL, &s->context));
	UCX(ucp_worker_create(s->context, &worker, &s->worker));
}

static void link_to(struct side *s, const struct side *to)
{
	ucp_ep_params_t params = { .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS };
	ucp_address_t *address;
	size_t len;

	UCX(ucp_worker_get_address(to->worker, &address, &len));
	params.address = address;
	UCX(ucp_ep_create(s->worker, &params, &s->ep));
	ucp_worker_release_address(to->worker, address);
}

static bool in_progress(ucs_status_ptr_t request)
{
	CHECK(!UCS_PTR_IS_ERR(request));
	return request && ucp_request_check_status(request) == UCS_INPROGRESS;
}

static void finish(ucs_status_ptr_t request)
{
	while (in_progress(request)) {
		ucp_worker_progress(sides[0].worker);
		ucp_worker_progress(sides[1].worker);
	}
	if (!request)
		return;
	UCX(ucp_request_check_status(request));
	ucp_request_free(request);
}

static void stop(struct side *s)
{
	ucp_request_param_t none = { .op_attr_mask = 0 };

	finish(ucp_ep_close_nbx(s->ep, &none));
}

static void put(const struct place *p, const void *data, size_t size)
{
	if (p->device)
		write_device((CUdeviceptr)p->at, data, size);
	else
		memcpy(p->at, data, size);
}

static void check(const struct place *p, const void *want, size_t size)
{
	if (p->device)
		check_device((CUdeviceptr)p->at, want, size);
	else
		CHECK(!memcmp(p->at, want, size));
}

/* size bytes from side n to the other; around them nothing may change. */
static void message(int n, const struct place *from, const struct place *to, size_t size,
		    unsigned seed)
{
	static unsigned char data[MEMORY], empty[MEMORY];
	struct place before = *to, after = *to;
	ucp_request_param_t none = { .op_attr_mask = 0 };
	ucs_status_ptr_t receiving, sending;

	before.at -= 64;
	after.at += size;
	fill(data, size, seed);
	put(from, data, size);
	put(&before, empty, 64 + size + 64);
	receiving = ucp_tag_recv_nbx(sides[!n].worker, to->at, size, TAG, ~0ull, &none);
	sending = ucp_tag_send_nbx(sides[n].ep, from->at, size, TAG, &none);
	finish(sending);
	finish(receiving);
	check(to, data, size);
	check(&before, empty, 64);
	check(&after, empty, 64);
}

int main(void)
{
	static const size_t sizes[] = { 1, 8, 64, 1000, 4096, 8195, 65536, 1 << 20 };
	static char host[2][MEMORY];
	struct place places[2][3];
	unsigned rounds = 0;

	start_cuda();
	for (int n = 0; n < 2; n++) {
		CUdeviceptr ptr;

		CUDA(MemAlloc(&ptr, MEMORY));
		places[n][0] = (struct place){ .device = true, .at = (char *)ptr };
		places[n][1] = (struct place){ .device = true, .at = (char *)alloc_vmm(MEMORY) };
		places[n][2] = (struct place){ .device = false, .at = host[n] };
		start(&sides[n]);
	}
	link_to(&sides[0], &sides[1]);
	link_to(&sides[1], &sides[0]);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (unsigned kinds = 0; kinds < 9; kinds++) {
			for (unsigned n = 0; n < 2; n++, rounds++) {
				struct place from = places[n][kinds % 3];
				struct place to = places[!n][kinds / 3];

				from.at += 70000 + 13 * kinds;
				to.at += 130000 + 7 * kinds;
				message((int)n, &from, &to, sizes[i], rounds);
			}
		}
	}
	stop(&sides[0]);
	stop(&sides[1]);
	for (int n = 0; n < 2; n++) {
		ucp_worker_destroy(sides[n].worker);
		ucp_cleanup(sides[n].context);
		CUDA(MemFree((CUdeviceptr)places[n][0].at));
		free_vmm((CUdeviceptr)places[n][1].at, MEMORY);
	}
	printf("%u messages, all as they were sent\n", rounds);
	return 0;
}
