// SPDX-License-Identifier: MIT
/*
 * Description: the simulated GPU's memory: how it is laid out, who keeps it alive,
 * what becomes of it, and that a write to free memory is seen.
 */
#include "rig.h"

#define VA 0x7a0000000000ULL

static void arguments(void)
{
	int fd = rig_open(), other = rig_open();
	struct nvsim_gpu g = { .gpu = 0 }, none = { .gpu = 99 };
	struct nvsim_alloc skewed = { .size = MIB(1), .align = MIB(1), .skew = KIB(64) };
	struct nvsim_info i = { 0 };

	want(rig_free(fd), -ENODATA);
	want(ioctl(fd, NVSIM_IOC_INFO, &i), -1);
	want(errno, ENODATA);
	want(rig_register(fd, VA, 0, KIB(64)), -ENODATA);
	want(rig_alloc(fd, 0, 0), -EINVAL);
	want(rig_alloc(fd, KIB(32), 0), -EINVAL);
	want(rig_alloc(fd, KIB(64), 100), -EINVAL);
	want(rig_attach(fd, ~0ULL, 0, 0), -ENOENT);
	want(ioctl(fd, NVSIM_IOC_GPU, &none), -1);
	want(errno, ENODEV);
	want(ioctl(fd, NVSIM_IOC_GPU, &g), 0);
	want_true(g.size >= MIB(1) && g.phys);
	want(rig_alloc(fd, g.size + KIB(64), 0), -ENOMEM);
	want(rig_alloc(fd, KIB(64), 0), 0);
	want(rig_alloc(fd, KIB(64), 0), -EBUSY);
	want(rig_attach(other, rig_info(fd, 0).id, KIB(128), 0), -EINVAL);
	want(rig_attach(other, rig_info(fd, 0).id, KIB(64), 0), -EINVAL);
	want(rig_attach(other, rig_info(fd, 0).id, 1, 0), -EINVAL);
	want(rig_register(fd, VA + 4096, 0, KIB(64)), -EINVAL);
	want(rig_register(fd, VA, 0, KIB(128)), -EINVAL);
	want(rig_register(fd, -KIB(64), 0, KIB(64)), -EINVAL);
	want(rig_register(fd, VA, 0, KIB(64)), 0);
	want(rig_register(fd, VA, 0, KIB(64)), -EEXIST);
	want(rig_unregister(fd, VA + KIB(64)), -ENOENT);
	want(rig_unregister(other, VA), -ENOENT);
	want(ioctl(other, NVSIM_IOC_ALLOC, &skewed), 0);
	want(rig_info(other, 0).phys % MIB(1), KIB(64));
	want(ioctl(fd, 0xd5ff, &g), -1);
	want(errno, ENOTTY);
	close(other);
	close(fd);
}

static void layout(void)
{
	int one = rig_open(), many = rig_open();
	uint64_t last = 0;

	want(rig_alloc(one, MIB(2), 0), 0);
	want(rig_info(one, 0).run, MIB(2));
	want(rig_info(one, KIB(100)).run, MIB(2) - KIB(100));
	want(rig_alloc(many, MIB(2) + KIB(64), KIB(64)), 0);
	for (uint64_t at = 0; at < MIB(2) + KIB(64); at += KIB(64)) {
		struct nvsim_info i = rig_info(many, at);

		want(i.run, KIB(64));
		want_true(i.phys != last + KIB(64));
		last = i.phys;
	}
	want(rig_free(many), 0);
	want(rig_alloc(many, MIB(2) + KIB(64), MIB(1)), 0);
	want(rig_info(many, 0).run, MIB(1));
	want(rig_info(many, MIB(1)).run, MIB(1));
	want(rig_info(many, MIB(2)).run, KIB(64));
	close(one);
	close(many);
}

/* Memory begins as zeros, is shared by ATTACH, and outlives the file that made it. */
static void sharing(void)
{
	int fd = rig_open(), second = rig_open();
	uint64_t *a, *b;
	struct nvsim_stats s;

	want(rig_alloc(fd, KIB(256), KIB(64)), 0);
	a = rig_map(fd, 0, KIB(256), 0);
	want_true(a);
	for (unsigned int i = 0; i < KIB(256) / 8; i += 509)
		want(a[i], 0);
	a[KIB(64) / 8 + 512] = 42;
	want(rig_attach(second, rig_info(fd, 0).id, KIB(68), KIB(8)), 0);
	want_true(!rig_map(second, 0, KIB(12), 0));
	b = rig_map(second, 0, KIB(8), 0);
	want_true(b);
	want(b[0], 42);
	want(rig_info(second, 0).phys, rig_info(fd, KIB(68)).phys);
	want(rig_free(fd), 0);
	want_true(!rig_map(fd, 0, KIB(64), 0));
	close(fd);
	want(munmap(a, KIB(256)), 0);
	want(b[0], 42);
	b[0] = 43;
	want(b[0], 43);
	close(second);
	s = rig_stats();
	want(s.memories, 1);
	want(munmap(b, KIB(8)), 0);
	s = rig_stats();
	want(s.memories, 0);
	want(rig_check().damaged, 0);
}

static void poke(uint64_t phys, uint64_t value)
{
	struct nvsim_poke p = { .phys = phys, .value = value };
	int fd = rig_open();

	want(ioctl(fd, NVSIM_IOC_POKE, &p), 0);
	close(fd);
}

static uint64_t peek(uint64_t phys)
{
	struct nvsim_poke p = { .phys = phys };
	int fd = rig_open();

	want(ioctl(fd, NVSIM_IOC_PEEK, &p), 0);
	close(fd);
	return p.value;
}

static void damage(void)
{
	uint64_t phys, before = rig_stats().damaged;
	struct nvsim_check c;
	int fd = rig_open();

	want(rig_alloc(fd, KIB(128), 0), 0);
	phys = rig_info(fd, 0).phys;
	want(peek(phys), 0);
	want(rig_free(fd), 0);
	want(rig_check().damaged, 0);
	want(peek(phys), NVSIM_POISON);
	want(peek(phys + KIB(128) - 8), NVSIM_POISON);
	poke(phys + 8, 7);
	poke(phys + 24, 8);
	poke(phys + 4096, 9);
	c = rig_check();
	want(c.damaged, 2);
	want(c.first, phys + 8);
	want(c.found, 7);
	want(rig_check().damaged, 0);
	want(peek(phys + 8), NVSIM_POISON);
	/* seen as well when the memory is given out again */
	poke(phys + KIB(64), 1);
	want(rig_alloc(fd, KIB(128), 0), 0);
	want(rig_info(fd, 0).phys, phys);
	want(peek(phys + KIB(64)), 0);
	want(rig_stats().damaged - before, 3);
	want(ioctl(fd, NVSIM_IOC_POKE, &(struct nvsim_poke){ .phys = 8 }), -1);
	want(errno, EINVAL);
	close(fd);
}

static void probing(void)
{
	int fd = rig_open();
	struct nvsim_probe p;
	uint64_t *m;

	want(rig_alloc(fd, KIB(256), KIB(128)), 0);
	m = rig_map(fd, 0, KIB(256), 0);
	p = rig_probe(m, KIB(256));
	want(p.present, 0);
	want(p.phys, 0);
	m[0] = 1;
	p = rig_probe(m, KIB(256));
	want(p.phys, rig_info(fd, 0).phys);
	want(p.present, KIB(64));
	want(p.level_4k, KIB(64));
	want(p.writable, KIB(64));
	want(p.type[NVSIM_TYPE_WC], 0);
	munmap(m, KIB(256));
	m = rig_map(fd, 0, KIB(128), NVSIM_MMAP_EAGER);
	p = rig_probe(m, KIB(128));
	want(p.present, KIB(128));
	want(p.level_4k, KIB(128));
	want_true(p.type[NVSIM_TYPE_WC] == KIB(128) || p.type[NVSIM_TYPE_WT] == KIB(128));
	munmap(m, KIB(128));
	want(ioctl(fd, NVSIM_IOC_PROBE, &(struct nvsim_probe){ .va = 1, .size = 4096 }), -1);
	want(errno, EINVAL);
	close(fd);
}

int main(void)
{
	arguments();
	layout();
	sharing();
	damage();
	probing();
	want(rig_stats().memories, 0);
	want(rig_stats().registrations, 0);
	return rig_end();
}
