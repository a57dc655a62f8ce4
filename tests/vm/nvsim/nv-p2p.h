/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The part of NVIDIA's peer-to-peer interface that nvsim offers, as its modules
 * declare it: page tables of version 1 (drivers 515 to 575) or 2 (from 580 on).
 * Kernels with CONFIG_MODVERSIONS compute the symbols' checksums from what stands
 * here, so that tags, member names, their order and the spelling of types count.
 */
#ifndef NVSIM_NV_P2P_H
#define NVSIM_NV_P2P_H

#include <linux/types.h>

#if NVSIM_TABLE == 2
#define NVIDIA_P2P_PAGE_TABLE_VERSION 0x00020000
#else
#define NVIDIA_P2P_PAGE_TABLE_VERSION 0x00010002
#endif

enum nvidia_p2p_page_size_type {
	NVIDIA_P2P_PAGE_SIZE_4KB = 0,
	NVIDIA_P2P_PAGE_SIZE_64KB,
	NVIDIA_P2P_PAGE_SIZE_128KB,
	NVIDIA_P2P_PAGE_SIZE_COUNT
};

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
	uint32_t page_size;
	struct nvidia_p2p_page **pages;
	uint32_t entries;
	uint8_t *gpu_uuid;
#if NVSIM_TABLE == 2
	uint32_t flags;
#endif
};

/* All return 0 or a negative errno, and may sleep. */
int nvidia_p2p_get_pages(uint64_t p2p_token, uint32_t va_space, uint64_t virtual_address,
			 uint64_t length, struct nvidia_p2p_page_table **page_table,
			 void (*free_callback)(void *data), void *data);
int nvidia_p2p_put_pages(uint64_t p2p_token, uint32_t va_space, uint64_t virtual_address,
			 struct nvidia_p2p_page_table *page_table);
int nvidia_p2p_free_page_table(struct nvidia_p2p_page_table *page_table);

#if NVSIM_PERSISTENT == 2
int nvidia_p2p_get_pages_persistent(uint64_t virtual_address, uint64_t length,
				    struct nvidia_p2p_page_table **page_table, uint32_t flags);
int nvidia_p2p_put_pages_persistent(uint64_t virtual_address,
				    struct nvidia_p2p_page_table *page_table, uint32_t flags);
#elif NVSIM_PERSISTENT == 1
/* Not 0: get_pages without a callback makes a persistent pin. */
extern int nvidia_p2p_cap_persistent_pages;
#endif

#endif
