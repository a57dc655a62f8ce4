/* SPDX-License-Identifier: MIT */
/* What mmap refuses, with what; a refusal leaves the pin and its mapping as they were. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"
#include "sim.h"

#define SIZE	(2 * GPU_PAGE)
#define RW	(PROT_READ | PROT_WRITE)

static int dev;
static uint64_t va, handle;

static int map_at(uint64_t page_offset, size_t len, int prot, int flags)
{
	void *addr = NULL;
	int ret = dev_mmap(dev, page_offset, len, prot, flags, &addr);

	if (ret == 0)
		munmap(addr, len);
	return ret;
}

static void unknown_offset_is_einval(void)
{
	want_eq(map_at(NO_HANDLE, HOST_PAGE, RW, MAP_SHARED), -EINVAL);
	want_eq(map_at(handle + 1, HOST_PAGE, RW, MAP_SHARED), -EINVAL);
	want_eq(map_at(handle + SIZE / HOST_PAGE - 1, HOST_PAGE, RW, MAP_SHARED), -EINVAL);
	want_eq(map_at(handle + SIZE / HOST_PAGE, HOST_PAGE, RW, MAP_SHARED), -EINVAL);
	want_eq(map_at(UINT64_C(1) << 32 | handle, HOST_PAGE, RW, MAP_SHARED), -EINVAL);
	want_eq(map_at((UINT64_C(1) << 51) - 64, HOST_PAGE, RW, MAP_SHARED), -EINVAL);
}

static void core_refusals(void)
{
	void *at = mmap(NULL, HOST_PAGE, RW, MAP_SHARED, dev, 17);

	want(at == MAP_FAILED && errno == EINVAL);
	at = mmap(NULL, 0, RW, MAP_SHARED, dev, 0);
	want(at == MAP_FAILED && errno == EINVAL);
	at = (void *)syscall(SYS_mmap, NULL, SIZE, RW, MAP_SHARED, dev, -(long)HOST_PAGE);
	want(at == MAP_FAILED && errno == EOVERFLOW);
}

static void lengths(void)
{
	size_t len;

	for (len = HOST_PAGE; len <= SIZE; len += HOST_PAGE)
		if (!want_eq(map_at(handle, len, RW, MAP_SHARED), 0))
			break;
	want_eq(map_at(handle, 1, RW, MAP_SHARED), 0);
	want_eq(map_at(handle, SIZE + 1, RW, MAP_SHARED), -EINVAL);
	want_eq(map_at(handle, SIZE + HOST_PAGE, RW, MAP_SHARED), -EINVAL);
	want_eq(map_at(handle, SIZE * 16, RW, MAP_SHARED), -EINVAL);
}

/* A pin of less than a GPU page is widened, and may be mapped up to that. */
static void length_goes_up_to_the_widened_size(void)
{
	uint64_t h = dev_must_pin(dev, va, 100);
	void *map = NULL;

	want_eq(dev_map(dev, h, GPU_PAGE, &map), 0);
	want_eq(munmap(map, GPU_PAGE), 0);
	want_eq(dev_map(dev, h, GPU_PAGE + HOST_PAGE, &map), -EINVAL);
	want_eq(dev_unpin(dev, h), 0);
}

static void unaligned_pin_cannot_be_mapped(void)
{
	static const uint64_t offsets[] = { 1, 64, 4096, GPU_PAGE - 1 };
	size_t i;

	for (i = 0; i < COUNT_OF(offsets); i++) {
		struct gdrdrv_get_info_v2 info = { 0 };
		uint64_t h = dev_must_pin(dev, va + offsets[i], 1);
		void *map;

		want_eq(dev_map(dev, h, HOST_PAGE, &map), -EINVAL);
		want_eq(dev_info(dev, h, &info), 0);
		want_eq(info.va, va);
		want_eq(info.mapped_size, GPU_PAGE);
		want_eq(dev_unpin(dev, h), 0);
	}
}

static void second_mapping_is_einval(void)
{
	char *map = dev_must_map(dev, handle, SIZE);
	void *again;

	want_eq(dev_map(dev, handle, SIZE, &again), -EINVAL);
	want_eq(dev_map(dev, handle, HOST_PAGE, &again), -EINVAL);
	want_eq(dev_mapping_type(dev, handle), GDRDRV_MAPPING_WC);
	want_eq(poke(map, 1), 0);
	want_eq(munmap(map, SIZE), 0);
	want_eq(dev_mapping_type(dev, handle), GDRDRV_MAPPING_NONE);
	map = dev_must_map(dev, handle, SIZE);
	want_eq(munmap(map, SIZE), 0);
}

static void after_unpin_is_einval(void)
{
	uint64_t h = dev_must_pin(dev, va, SIZE);
	void *map;

	want_eq(dev_unpin(dev, h), 0);
	want_eq(dev_map(dev, h, SIZE, &map), -EINVAL);
}

static void protections(void)
{
	void *map = NULL;

	want_eq(map_at(handle, SIZE, PROT_NONE, MAP_SHARED), 0);
	want_eq(map_at(handle, SIZE, PROT_READ, MAP_SHARED), 0);
	want_eq(map_at(handle, SIZE, PROT_WRITE, MAP_SHARED), 0);
	want_eq(map_at(handle, SIZE, PROT_READ | PROT_EXEC, MAP_SHARED), 0);

	need(dev_mmap(dev, handle, SIZE, PROT_READ, MAP_SHARED, &map) == 0);
	want_eq(peek_at(map, 0), 0);
	want_eq(poke(map, 1), SIGSEGV);
	want_eq(poke((char *)map + SIZE - 4, 1), SIGSEGV);
	munmap(map, SIZE);
	map = NULL;
	need(dev_mmap(dev, handle, SIZE, PROT_NONE, MAP_SHARED, &map) == 0);
	want_eq(peek_at(map, 0), SIGSEGV);
	munmap(map, SIZE);
}

/* A private mapping would show copies instead of GPU memory. */
static void private_is_refused(void)
{
	want_eq(map_at(handle, SIZE, RW, MAP_PRIVATE), -EINVAL);
	want_eq(map_at(handle, SIZE, PROT_READ, MAP_PRIVATE), -EINVAL);
	want_eq(map_at(NO_HANDLE, SIZE, RW, MAP_PRIVATE), -EINVAL);
	want_eq(dev_mapping_type(dev, handle), GDRDRV_MAPPING_NONE);
}

/* MAP_FIXED over a mapping of the same pin: gone is the old one, before the new is tried. */
static void fixed_over_itself(void)
{
	void *map = dev_must_map(dev, handle, SIZE), *over = map;
	int ret = dev_mmap(dev, handle, SIZE, RW, MAP_SHARED | MAP_FIXED, &over);

	if (want_in(ret, 0, -EINVAL) && ret == 0)
		want_eq(poke(over, 7), 0);
	munmap(map, SIZE);
	want_eq(dev_mapping_type(dev, handle), GDRDRV_MAPPING_NONE);
	want_eq(map_at(handle, SIZE, RW, MAP_SHARED), 0);
}

/* Its user knows the address by heart, so it is not moved; and never grows. */
static void a_mapping_stays_where_it_is(void)
{
	char *map = dev_must_map(dev, handle, SIZE);
	char *to = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need(to != MAP_FAILED);
	want_eq(poke(map, 0x57a7), 0);
	want(mremap(map, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED);
	want_eq(errno, EINVAL);
	want(mremap(map, SIZE, 2 * SIZE, MREMAP_MAYMOVE) == MAP_FAILED);
	want_eq(errno, EFAULT);
	want(mremap(map, 0, SIZE, MREMAP_MAYMOVE) == MAP_FAILED);
	want_eq(readable_pages(map, SIZE), SIZE / HOST_PAGE);
	want_eq(poke(map + SIZE - 4, 0x57a8), 0);
	want_eq(sim_read(va, SIZE - 4), 0x57a8);
	want_eq(dev_mapping_type(dev, handle), GDRDRV_MAPPING_WC);
	munmap(map, SIZE);
	munmap(to, SIZE);
	want_eq(dev_mapping_type(dev, handle), GDRDRV_MAPPING_NONE);
}

static void read_only_descriptor(void)
{
	int fd = open(GDRDRV_DEVICE_PATH, O_RDONLY | O_CLOEXEC);
	uint64_t h = dev_must_pin(fd, va, SIZE);
	void *map = NULL;

	want_eq(dev_mmap(fd, h, SIZE, RW, MAP_SHARED, &map), -EACCES);
	want_eq(dev_mmap(fd, h, SIZE, PROT_READ, MAP_SHARED, &map), 0);
	want_eq(peek_at(map, 0), 0);
	want(mprotect(map, SIZE, RW) < 0);
	want_eq(poke(map, 1), SIGSEGV);
	munmap(map, SIZE);
	want_eq(dev_unpin(fd, h), 0);
	close(fd);
}

/* Also where the driver chooses addresses, for large entries. */
static void fixed_at_zero(void)
{
	size_t size = 4ul << 20;
	uint64_t large = sim_alloc(size), h = dev_must_pin(dev, large, size);
	void *map = NULL;

	want_eq(dev_mmap(dev, h, size, RW, MAP_SHARED | MAP_FIXED, &map), 0);
	want(!map);
	munmap(map, size);
	want_eq(dev_unpin(dev, h), 0);
	sim_free(large);
}

int main(void)
{
	dev = dev_open();
	va = sim_alloc(SIZE);
	handle = dev_must_pin(dev, va, SIZE);
	RUN(unknown_offset_is_einval);
	RUN(core_refusals);
	RUN(lengths);
	RUN(length_goes_up_to_the_widened_size);
	RUN(unaligned_pin_cannot_be_mapped);
	RUN(second_mapping_is_einval);
	RUN(after_unpin_is_einval);
	RUN(protections);
	RUN(private_is_refused);
	RUN(fixed_over_itself);
	RUN(fixed_at_zero);
	RUN(a_mapping_stays_where_it_is);
	RUN(read_only_descriptor);
	return guest_end();
}
