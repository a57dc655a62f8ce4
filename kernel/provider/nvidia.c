// SPDX-License-Identifier: (GPL-2.0-only OR MIT)
/*
 * Never loaded and never installed.  Built under the name of NVIDIA's module so
 * that its Module.symvers tells modpost what gdrdrv imports from where, with the
 * checksums that the prototypes give.
 */
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/module.h>

#include <nv-p2p.h>

int nvidia_p2p_get_pages(uint64_t p2p_token, uint32_t va_space, uint64_t virtual_address,
			 uint64_t length, struct nvidia_p2p_page_table **page_table,
			 void (*free_callback)(void *data), void *data)
{
	return -ENODEV;
}
EXPORT_SYMBOL(nvidia_p2p_get_pages);

int nvidia_p2p_put_pages(uint64_t p2p_token, uint32_t va_space, uint64_t virtual_address,
			 struct nvidia_p2p_page_table *page_table)
{
	return -ENODEV;
}
EXPORT_SYMBOL(nvidia_p2p_put_pages);

int nvidia_p2p_free_page_table(struct nvidia_p2p_page_table *page_table)
{
	return -ENODEV;
}
EXPORT_SYMBOL(nvidia_p2p_free_page_table);

#ifdef NVIDIA_P2P_CAP_GET_PAGES_PERSISTENT_API
int nvidia_p2p_get_pages_persistent(uint64_t virtual_address, uint64_t length,
				    struct nvidia_p2p_page_table **page_table, uint32_t flags)
{
	return -ENODEV;
}
EXPORT_SYMBOL(nvidia_p2p_get_pages_persistent);

int nvidia_p2p_put_pages_persistent(uint64_t virtual_address,
				    struct nvidia_p2p_page_table *page_table, uint32_t flags)
{
	return -ENODEV;
}
EXPORT_SYMBOL(nvidia_p2p_put_pages_persistent);
#endif

#ifdef NVIDIA_P2P_CAP_PERSISTENT_PAGES
int nvidia_p2p_cap_persistent_pages;
EXPORT_SYMBOL(nvidia_p2p_cap_persistent_pages);
#endif

MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("Symbols of NVIDIA's module, for modpost only");
