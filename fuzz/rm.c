/* SPDX-License-Identifier: MIT */
/* The interface on the rm backend, over a model of NVIDIA's driver that fails and lies. */
#include "calls.h"
#include "fake_rm.h"
#include "inject.h"
#include "rm_abi.h"

static const struct ground *ground;
static struct {
	unsigned step;                  /* 0: none */
	uint64_t bytes;
} lie;

static void lie_in_control(const struct gdr_nv_control *p)
{
	void *params = (void *)(uintptr_t)p->params;
	uint32_t word = (uint32_t)lie.bytes;

	if (p->cmd == GDR_NV_CTRL_ID_INFO && lie.step == 1)
		((struct gdr_nv_id_info *)params)->device_instance = word;
	if (p->cmd == GDR_NV_CTRL_HANDLE_INFO && lie.step == 2)
		((struct gdr_nv_handle_info *)params)->result = lie.bytes;
	if (p->cmd == GDR_NV_CTRL_SURFACE_INFO && lie.step == 3) {
		struct gdr_nv_surface_info *s = params;
		struct gdr_nv_surface_entry *list = (void *)(uintptr_t)s->list;

		list[word & 1].data = word;
	}
	if (p->cmd == GDR_NV_CTRL_EXPORT_INFO && lie.step == 4)
		memcpy((char *)params + 4, &lie.bytes, sizeof(lie.bytes));
}

/* Answers that are not the model's; names of objects stay, or others would be freed. */
static void tell_lie(int fd, unsigned long req, void *arg)
{
	if (req == GDR_NV_CONTROL)
		lie_in_control(arg);
	else if (req == GDR_NV_MAP && lie.step == 5)
		((struct gdr_nv_map *)arg)->linear = lie.bytes;
	else if (_IOC_TYPE(req) == 'F' && _IOC_NR(req) == GDR_NV_CARD_INFO_NR && lie.step == 6)
		memcpy((char *)arg + lie.bytes % (_IOC_SIZE(req) - 8), &lie.bytes, 8);
}

/* A step of the driver fails with any status, or the request itself with any errno. */
static void fail(struct input *in)
{
	enum fake_rm_step step = (enum fake_rm_step)input_pick(in, FAKE_RM_STEPS);
	unsigned nth = 1 + input_pick(in, 16), times = 1 + input_byte(in);
	uint32_t status = input_pick(in, 2) ? (uint32_t)input_number(in, 2) : 0;

	fake_rm_fail(step, nth, times, status, 1 + input_pick(in, 133));
}

/* The GPU is gone: nothing is answered from now on. */
static void vanish(struct input *in)
{
	static const int errors[] = { 5, 19, 22, 25 };

	int err = errors[input_pick(in, 4)];

	fake_rm_fail(FAKE_RM_ANY, 1, UINT32_MAX, input_pick(in, 2) ? GDR_NV_GPU_IS_LOST : 0, err);
}

static unsigned exported;       /* objects that VMM memory is exported as */

static unsigned objects(uint64_t size)
{
	(void)size;
	return exported;
}

/* Memory is something else than it is. */
static void describe(struct input *in)
{
	uint32_t class = input_pick(in, 2) ? GDR_NV_CLASS_VIDMEM : (uint32_t)input_wild(in);
	uint32_t space = input_pick(in, 4);

	exported = input_pick(in, 3);
	fake_rm_soft_objects = objects;
	fake_rm_describe_soft(class, space, input_wild(in));
}

static void special(struct input *in)
{
	switch (input_pick(in, 8)) {
	case 0:
		vanish(in);
		break;
	case 1:
		fake_rm_fail_none();
		break;
	case 2:
		fake_rm_fail_munmap();
		break;
	case 3:
		lie.step = input_pick(in, 7);
		lie.bytes = input_number(in, 8);
		break;
	case 4:
		describe(in);
		break;
	default:
		fail(in);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned releases[] = { 580, 515, 530, 535, 545, 590, 595 };
	struct input in = { data, data + size };

	if (!ground)
		ground = calls_start("rm");
	ground_reset(ground);
	fake_rm_set_release(releases[input_pick(&in, 7)]);
	fake_rm_set_subdevice_parents(input_pick(&in, 4) == 3);
	if (input_pick(&in, 4) == 3)
		fake_rm_set_bar1_free(input_wild(&in));
	lie.step = 0;
	inject_after_ioctl = tell_lie;
	calls_run(ground, &in, special);
	return 0;
}
