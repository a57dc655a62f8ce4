/* SPDX-License-Identifier: MIT */
/*
 * The calls as a 32-bit program makes them: through the 32-bit entry of the kernel,
 * which serves a 64-bit program as well, with everything below 4 GiB.  There,
 * 64-bit members are aligned to 4 bytes, and the inherited PIN_BUFFER has no hole.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

#define SIZE	(2 * GPU_PAGE)

#if defined(__x86_64__)

#define NR32_IOCTL	54
#define NR32_MMAP2	192

/* As the inherited header lays it out where a __u64 is aligned to 4 bytes. */
struct pin_buffer_i386 {
	uint32_t addr[2], size[2], p2p_token[2], va_space, handle[2];
};

#define IOC_PIN_BUFFER_I386 0xC024DA01u

static int dev;
static uint64_t va;
static union gdrdrv_any {
	struct pin_buffer_i386 pin_i386;
	struct gdrdrv_pin_buffer pin;
	struct gdrdrv_pin_buffer_v2 pin_v2;
	struct gdrdrv_unpin_buffer unpin;
	struct gdrdrv_get_cb_flag flag;
	struct gdrdrv_get_info info;
	struct gdrdrv_get_info_v2 info_v2;
	struct gdrdrv_get_attr attr;
	struct gdrdrv_req_mapping_type request;
	struct gdrdrv_get_version version;
} *low; /* below 4 GiB */

static long call32(uint32_t nr, uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e,
		   uint32_t f)
{
	long ret;
	register uint64_t bp __asm__("r12") = f;

	/* no operand can be rbp: it is lent for the call; the entry leaves r8 to r11 undefined */
	__asm__ volatile("xchg %%r12, %%rbp\n\tint $0x80\n\txchg %%r12, %%rbp"
			 : "=a"(ret), "+r"(bp)
			 : "a"((uint64_t)nr), "b"((uint64_t)a), "c"((uint64_t)b), "d"((uint64_t)c),
			   "S"((uint64_t)d), "D"((uint64_t)e)
			 : "memory", "cc", "r8", "r9", "r10", "r11");
	return (int)ret;
}

static int ioctl32(unsigned cmd)
{
	return (int)call32(NR32_IOCTL, (uint32_t)dev, cmd, (uint32_t)(uintptr_t)low, 0, 0, 0);
}

static sigjmp_buf no_entry;

static void no_such_entry(int sig)
{
	siglongjmp(no_entry, sig);
}

/* Without the entry the instruction faults; the kernel can also be told to refuse it. */
static bool kernel_has_the_entry(void)
{
	struct sigaction act = { .sa_handler = no_such_entry, .sa_flags = SA_NODEFER }, old;
	bool has = false;

	sigaction(SIGSEGV, &act, &old);
	if (sigsetjmp(no_entry, 1) == 0)
		has = call32(20 /* getpid */, 0, 0, 0, 0, 0, 0) == getpid();
	sigaction(SIGSEGV, &old, NULL);
	return has;
}

static void queries(void)
{
	memset(low, 0xff, sizeof(*low));
	want_eq(ioctl32(GDRDRV_IOC_GET_VERSION), 0);
	want_eq(low->version.gdrdrv_version, 0x00020006);
	low->attr.attr = GDRDRV_ATTR_USE_PERSISTENT_MAPPING;
	want_eq(ioctl32(GDRDRV_IOC_GET_ATTR), 0);
	want_eq(low->attr.val, dev_persistent(dev));
	low->attr.attr = 99;
	want_eq(ioctl32(GDRDRV_IOC_GET_ATTR), -EINVAL);
}

static void refusals(void)
{
	memset(low, 0, sizeof(*low));
	want_eq(ioctl32(0xC008DB01), -EINVAL);
	want_eq(ioctl32(0xC008DA63), -ENOTTY);
	want_eq(ioctl32(0xC020DA01), -ENOTTY);
	low->unpin.handle = NO_HANDLE;
	want_eq(ioctl32(GDRDRV_IOC_UNPIN_BUFFER), -EINVAL);
	want_eq(call32(NR32_IOCTL, (uint32_t)dev, GDRDRV_IOC_GET_VERSION, 8, 0, 0, 0), -EFAULT);
	want_eq(call32(NR32_IOCTL, (uint32_t)dev, IOC_PIN_BUFFER_I386, 8, 0, 0, 0), -EFAULT);
}

/* The rest of a pin's life, with the handle that PIN_BUFFER answered. */
static void map_and_unpin(uint64_t handle)
{
	uint32_t value = 0;
	long at;
	char *map;

	memset(low, 0, sizeof(*low));
	low->request.handle = handle;
	low->request.mapping_type = GDRDRV_MAPPING_WC;
	want_eq(ioctl32(GDRDRV_IOC_REQ_MAPPING_TYPE), 0);
	low->request.mapping_type = 4;
	want_eq(ioctl32(GDRDRV_IOC_REQ_MAPPING_TYPE), -EINVAL);

	at = call32(NR32_MMAP2, 0, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, (uint32_t)dev,
		    (uint32_t)handle);
	if (want(at < -4095 || at > 0)) {
		map = (char *)(uintptr_t)(uint32_t)at;
		want_eq(poke(map, 0x3232), 0);
		want_eq(sim_read(va, 0), 0x3232);
		sim_write(va, SIZE - 4, 0x64);
		want_eq(peek(map + SIZE - 4, &value), 0);
		want_eq(value, 0x64);
	}
	memset(low, 0, sizeof(*low));
	low->info_v2.handle = handle;
	want_eq(ioctl32(GDRDRV_IOC_GET_INFO_V2), 0);
	want_eq(low->info_v2.va, va);
	want_eq(low->info_v2.mapped_size, SIZE);
	want_eq(low->info_v2.mapping_type, GDRDRV_MAPPING_WC);
	memset(low, 0, sizeof(*low));
	low->info.handle = handle;
	want_eq(ioctl32(GDRDRV_IOC_GET_INFO), 0);
	want_eq(low->info.mapped, 1);
	want_eq(low->info.wc_mapping, 1);
	low->flag.handle = handle;
	low->flag.flag = 5;
	want_eq(ioctl32(GDRDRV_IOC_GET_CB_FLAG), 0);
	want_eq(low->flag.flag, 0);
	low->unpin.handle = handle;
	want_eq(ioctl32(GDRDRV_IOC_UNPIN_BUFFER), 0);
	if (at < -4095 || at > 0) {
		map = (char *)(uintptr_t)(uint32_t)at;
		want(is_dead_by_sigbus(map, SIZE));
		munmap(map, SIZE);
	}
}

static void pin_in_the_packed_layout(void)
{
	need(sizeof(struct pin_buffer_i386) == 36);
	memset(low, 0, sizeof(*low));
	memcpy(low->pin_i386.addr, &va, sizeof(va));
	low->pin_i386.size[0] = SIZE;
	low->pin_i386.handle[0] = low->pin_i386.handle[1] = 0xffffffff;
	/* what lies behind the struct is not written */
	memset((char *)low + 36, 0x5a, 4);
	if (want_eq(ioctl32(IOC_PIN_BUFFER_I386), 0)) {
		uint64_t handle;

		want_eq(((unsigned char *)low)[36], 0x5a);
		memcpy(&handle, low->pin_i386.handle, sizeof(handle));
		map_and_unpin(handle);
	}
	memset(low, 0, sizeof(*low));
	want_eq(ioctl32(IOC_PIN_BUFFER_I386), -EINVAL);
}

static void pin_in_the_padded_layout(void)
{
	memset(low, 0, sizeof(*low));
	low->pin.addr = va;
	low->pin.size = SIZE;
	if (want_eq(ioctl32(GDRDRV_IOC_PIN_BUFFER), 0))
		map_and_unpin(low->pin.handle);
}

static void pin_v2(void)
{
	memset(low, 0, sizeof(*low));
	low->pin_v2.addr = va;
	low->pin_v2.size = SIZE;
	if (want_eq(ioctl32(GDRDRV_IOC_PIN_BUFFER_V2), 0))
		map_and_unpin(low->pin_v2.handle);
}

/* The packed layout is nothing to a 64-bit program. */
static void packed_layout_is_of_32_bits_only(void)
{
	want_eq(dev_ioctl(dev, IOC_PIN_BUFFER_I386, low), -ENOTTY);
}

static void as_another_process(void *unused)
{
	(void)unused;
	want_eq(ioctl32(GDRDRV_IOC_GET_VERSION), -EACCES);
	want_eq(ioctl32(IOC_PIN_BUFFER_I386), -EACCES);
}

static void another_process_is_eacces(void)
{
	want_eq(in_child(as_another_process, NULL), 0);
}

int main(void)
{
	if (!kernel_has_the_entry())
		guest_skip("this kernel serves no 32-bit programs");
	dev = dev_open();
	va = sim_alloc(SIZE);
	low = mmap(NULL, HOST_PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	need(low != MAP_FAILED && (uintptr_t)low >> 32 == 0);
	RUN(queries);
	RUN(refusals);
	RUN(pin_in_the_packed_layout);
	RUN(pin_in_the_padded_layout);
	RUN(pin_v2);
	RUN(packed_layout_is_of_32_bits_only);
	RUN(another_process_is_eacces);
	return guest_end();
}

#else

int main(void)
{
	guest_skip("32-bit programs of x86 only");
}

#endif
