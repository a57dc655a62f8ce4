/* SPDX-License-Identifier: MIT */
/* mmap and munmap of a backend's descriptor, with the fork rule; types of mappings. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend.h"
#include "context.h"
#include "log.h"

size_t gdr_page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

int gdr_mapping_create(int fd, uint64_t offset, size_t len, void *at, struct gdr_mapping *out,
		       bool *stuck)
{
	void *addr;
	int ret = 0;

	gdr_fork_hold();
	addr = mmap(at, len, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), fd,
		    (off_t)offset);
	if (addr == MAP_FAILED) {
		ret = -errno;
	} else if (madvise(addr, len, MADV_DONTFORK) != 0) {
		ret = -errno;
		if (munmap(addr, len) != 0 && stuck)
			*stuck = true;
	}
	gdr_fork_release();
	if (ret < 0)
		return ret;
	out->addr = addr;
	out->len = len;
	return 0;
}

int gdr_mapping_destroy(const struct gdr_mapping *m)
{
	int err;

	if (munmap(m->addr, m->len) == 0)
		return 0;
	err = errno;
	return gdr_log_fail(err, "munmap of the mapping at %p, 0x%zx bytes: %s", m->addr, m->len,
			    gdr_log_errstr(err));
}

void gdr_mapping_describe(const struct gdr_mapping *m, gdr_info_v2_t *info)
{
	info->mapping_type = m->addr ? m->type : GDR_MAPPING_TYPE_NONE;
	info->mapped = info->mapping_type != GDR_MAPPING_TYPE_NONE;
	info->wc_mapping = info->mapping_type == GDR_MAPPING_TYPE_WC;
}

const char *gdr_mapping_flag_name(int flags)
{
	static const char *const names[] = {
		[GDR_MAP_FLAG_DEFAULT] = "GDR_MAP_FLAG_DEFAULT",
		[GDR_MAP_FLAG_REQ_WC_MAPPING] = "GDR_MAP_FLAG_REQ_WC_MAPPING",
		[GDR_MAP_FLAG_REQ_CACHE_MAPPING] = "GDR_MAP_FLAG_REQ_CACHE_MAPPING",
		[GDR_MAP_FLAG_REQ_DEVICE_MAPPING] = "GDR_MAP_FLAG_REQ_DEVICE_MAPPING",
	};

	return names[flags];
}

const char *gdr_mapping_type_name(gdr_mapping_type_t type)
{
	static const char *const names[] = {
		[GDR_MAPPING_TYPE_NONE] = "GDR_MAPPING_TYPE_NONE",
		[GDR_MAPPING_TYPE_WC] = "GDR_MAPPING_TYPE_WC",
		[GDR_MAPPING_TYPE_CACHING] = "GDR_MAPPING_TYPE_CACHING",
		[GDR_MAPPING_TYPE_DEVICE] = "GDR_MAPPING_TYPE_DEVICE",
	};

	return names[type];
}

int gdr_mapping_check_flags(int flags, gdr_mapping_type_t type)
{
	if (flags == GDR_MAP_FLAG_DEFAULT || flags == (int)type)
		return 0;
	return gdr_log_fail(EINVAL, "gdr_map_v2: %s was asked for, and this memory can only be "
			    "mapped as %s; use GDR_MAP_FLAG_DEFAULT",
			    gdr_mapping_flag_name(flags), gdr_mapping_type_name(type));
}
