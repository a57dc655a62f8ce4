/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * The part of NVIDIA's peer-to-peer interface that gdrdrv uses.  There are two
 * kinds of page table, which the version in it tells apart:
 *
 *	1	version 1.2, drivers before 580
 *	2	version 2.0, from 580 on: flags at the end
 *
 * gdrdrv is compiled with the second and looks at the version before it reads the
 * flags.  The first is for the checksums of symbols (CONFIG_MODVERSIONS), which are
 * made from these prototypes where there is no NVIDIA source: tags, members and
 * their spelling therefore are those of NVIDIA's own header.
 */
#ifndef GDRDRV_NV_P2P_H
#define GDRDRV_NV_P2P_H

#include <linux/types.h>

#ifndef GDRDRV_P2P_TABLE
#define GDRDRV_P2P_TABLE	2
#endif

#define NVIDIA_P2P_CAP_GET_PAGES_PERSISTENT_API	1
#define NVIDIA_P2P_CAP_PERSISTENT_PAGES		1

struct nvidia_p2p_page {
	uint64_t physical_address;
	union nvidia_p2p_request_registers {
		struct {
			uint32_t wreqmb_h;
			uint32_t rreqmb_h;
			uint32_t rreqmb_0;
			uint32_t reserved[3];
		} fermi;
	} registers;
};

struct nvidia_p2p_page_table {
	uint32_t version;
	uint32_t page_size;		/* an index: 0 is 4 KiB, 1 is 64 KiB, 2 is 128 KiB */
	struct nvidia_p2p_page **pages;
	uint32_t entries;
	uint8_t *gpu_uuid;
#if GDRDRV_P2P_TABLE >= 2
	uint32_t flags;
#endif
};

/* Set where a get without a callback gives persistent pages (before 525.105). */
extern int nvidia_p2p_cap_persistent_pages;

int nvidia_p2p_get_pages(uint64_t p2p_token, uint32_t va_space, uint64_t virtual_address,
			 uint64_t length, struct nvidia_p2p_page_table **page_table,
			 void (*free_callback)(void *data), void *data);
int nvidia_p2p_put_pages(uint64_t p2p_token, uint32_t va_space, uint64_t virtual_address,
			 struct nvidia_p2p_page_table *page_table);
int nvidia_p2p_get_pages_persistent(uint64_t virtual_address, uint64_t length,
				    struct nvidia_p2p_page_table **page_table, uint32_t flags);
int nvidia_p2p_put_pages_persistent(uint64_t virtual_address,
				    struct nvidia_p2p_page_table *page_table, uint32_t flags);
int nvidia_p2p_free_page_table(struct nvidia_p2p_page_table *page_table);

#endif
