/* SPDX-License-Identifier: MIT */
/*
 * What every command checks before it does anything, and in this order: the type
 * byte, the caller's process, the whole command, the pointer.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

#define BAD_POINTER	((void *)8)

static const struct {
	const char *name;
	unsigned cmd;
	size_t size;
} commands[] = {
	{ "PIN_BUFFER", GDRDRV_IOC_PIN_BUFFER, sizeof(struct gdrdrv_pin_buffer) },
	{ "UNPIN_BUFFER", GDRDRV_IOC_UNPIN_BUFFER, sizeof(struct gdrdrv_unpin_buffer) },
	{ "GET_CB_FLAG", GDRDRV_IOC_GET_CB_FLAG, sizeof(struct gdrdrv_get_cb_flag) },
	{ "GET_INFO", GDRDRV_IOC_GET_INFO, sizeof(struct gdrdrv_get_info) },
	{ "GET_INFO_V2", GDRDRV_IOC_GET_INFO_V2, sizeof(struct gdrdrv_get_info_v2) },
	{ "GET_ATTR", GDRDRV_IOC_GET_ATTR, sizeof(struct gdrdrv_get_attr) },
	{ "PIN_BUFFER_V2", GDRDRV_IOC_PIN_BUFFER_V2, sizeof(struct gdrdrv_pin_buffer_v2) },
	{ "REQ_MAPPING_TYPE", GDRDRV_IOC_REQ_MAPPING_TYPE,
	  sizeof(struct gdrdrv_req_mapping_type) },
	{ "GET_VERSION", GDRDRV_IOC_GET_VERSION, sizeof(struct gdrdrv_get_version) },
};

static int dev;

/* As the kernel does for an integer: only 32 bits of a command count. */
static int send(unsigned cmd, void *arg)
{
	return dev_ioctl(dev, cmd, arg);
}

static void another_type_byte_is_einval(void)
{
	char room[64] = { 0 };
	unsigned type;

	for (type = 0; type < 256; type++) {
		/* core code answers some commands of other types itself: ours has no such number */
		if (type == GDRDRV_IOC_TYPE)
			continue;
		if (!want_eq(send(_IOC(_IOC_READ | _IOC_WRITE, type, 0xC1, 24), room), -EINVAL))
			guest_note("type byte 0x%02x", type);
	}
	want_eq(send(0, room), -EINVAL);
}

static void unknown_command_is_enotty(void)
{
	char room[64] = { 0 };
	unsigned nr, size;
	size_t i;

	for (nr = 0; nr < 256; nr++) {
		bool known = (nr >= 1 && nr <= 8) || nr == 255;

		if (!known && !want_eq(send(_IOWR(GDRDRV_IOC_TYPE, nr, uint64_t), room), -ENOTTY))
			guest_note("number %u", nr);
	}
	for (i = 0; i < COUNT_OF(commands); i++) {
		for (size = 0; size <= 64; size++) {
			unsigned cmd = (commands[i].cmd & ~(_IOC_SIZEMASK << _IOC_SIZESHIFT)) |
				       size << _IOC_SIZESHIFT;

			if (cmd != commands[i].cmd && !want_eq(send(cmd, room), -ENOTTY))
				guest_note("%s with size %u", commands[i].name, size);
		}
		want_eq(send(commands[i].cmd ^ (_IOC_READ << _IOC_DIRSHIFT), room), -ENOTTY);
		want_eq(send(commands[i].cmd ^ (_IOC_WRITE << _IOC_DIRSHIFT), room), -ENOTTY);
	}
	want_eq(send(_IO(GDRDRV_IOC_TYPE, 1), room), -ENOTTY);
}

static void bad_pointer_is_efault(void)
{
	void *high = (void *)UINTPTR_MAX;
	size_t i;

	for (i = 0; i < COUNT_OF(commands); i++) {
		if (!want_eq(send(commands[i].cmd, NULL), -EFAULT) ||
		    !want_eq(send(commands[i].cmd, BAD_POINTER), -EFAULT) ||
		    !want_eq(send(commands[i].cmd, high), -EFAULT))
			guest_note("%s", commands[i].name);
	}
}

/* The struct is copied at its own size: the last byte across the end of a page counts. */
static void the_whole_struct_is_copied(void)
{
	char *pages = mmap(NULL, 2 * HOST_PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t i;
	int ret;

	need(pages != MAP_FAILED);
	need(mprotect(pages + HOST_PAGE, HOST_PAGE, PROT_NONE) == 0);
	memset(pages, 0xff, HOST_PAGE);
	for (i = 0; i < COUNT_OF(commands); i++) {
		char *at = pages + HOST_PAGE - commands[i].size;

		ret = send(commands[i].cmd, at);
		if (!want(ret != -EFAULT && ret != -ENOTTY) ||
		    !want_eq(send(commands[i].cmd, at + 1), -EFAULT))
			guest_note("%s", commands[i].name);
		memset(pages, 0xff, HOST_PAGE);
	}
	munmap(pages, 2 * HOST_PAGE);
}

/* An answer that cannot be written leaves no pin behind. */
static void unwritable_answer_is_efault_and_undone(void)
{
	struct gdrdrv_pin_buffer_v2 *pin;
	struct gdrdrv_pin_buffer *pin_v1;
	uint64_t va = sim_alloc(GPU_PAGE), pins = sim_pins();
	char *page = mmap(NULL, HOST_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	need(page != MAP_FAILED);
	pin = (void *)page;
	pin->addr = va;
	pin->size = GPU_PAGE;
	need(mprotect(page, HOST_PAGE, PROT_READ) == 0);
	want_eq(send(GDRDRV_IOC_PIN_BUFFER_V2, page), -EFAULT);
	want_eq(sim_pins(), pins);
	pin_v1 = (void *)page;
	need(mprotect(page, HOST_PAGE, PROT_READ | PROT_WRITE) == 0);
	memset(page, 0, HOST_PAGE);
	pin_v1->addr = va;
	pin_v1->size = GPU_PAGE;
	need(mprotect(page, HOST_PAGE, PROT_READ) == 0);
	want_eq(send(GDRDRV_IOC_PIN_BUFFER, page), -EFAULT);
	want_eq(sim_pins(), pins);
	want_eq(send(GDRDRV_IOC_GET_VERSION, page), -EFAULT);
	munmap(page, HOST_PAGE);
	sim_free(va);
}

/* GET_ATTR writes its struct back even for an attribute that it does not know. */
static void get_attr_writes_back_first(void)
{
	struct gdrdrv_get_attr *get = mmap(NULL, HOST_PAGE, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need(get != MAP_FAILED);
	get->attr = 77;
	want_eq(send(GDRDRV_IOC_GET_ATTR, get), -EINVAL);
	need(mprotect(get, HOST_PAGE, PROT_READ) == 0);
	want_eq(send(GDRDRV_IOC_GET_ATTR, get), -EFAULT);
	munmap(get, HOST_PAGE);
}

static void as_another_process(void *unused)
{
	char room[64] = { 0 };
	void *addr = NULL;
	size_t i;

	(void)unused;
	for (i = 0; i < COUNT_OF(commands); i++) {
		if (!want_eq(send(commands[i].cmd, room), -EACCES) ||
		    !want_eq(send(commands[i].cmd, BAD_POINTER), -EACCES))
			guest_note("%s", commands[i].name);
	}
	want_eq(send(_IOWR(GDRDRV_IOC_TYPE, 99, uint64_t), room), -EACCES);
	want_eq(send(_IOWR(0xDB, 1, uint64_t), room), -EINVAL);
	want_eq(dev_mmap(dev, 0, HOST_PAGE, PROT_READ, MAP_SHARED, &addr), -EACCES);
	want_eq(dev_mmap(dev, NO_HANDLE, HOST_PAGE, PROT_READ, MAP_SHARED, &addr), -EACCES);
}

static void another_process_is_eacces(void)
{
	want_eq(in_child(as_another_process, NULL), 0);
}

int main(void)
{
	dev = dev_open();
	RUN(another_type_byte_is_einval);
	RUN(unknown_command_is_enotty);
	RUN(bad_pointer_is_efault);
	RUN(the_whole_struct_is_copied);
	RUN(unwritable_answer_is_efault_and_undone);
	RUN(get_attr_writes_back_first);
	RUN(another_process_is_eacces);
	return guest_end();
}
