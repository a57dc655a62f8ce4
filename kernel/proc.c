// SPDX-License-Identifier: (GPL-2.0-only OR MIT)
/*
 * /proc/driver/gdrdrv: params and nv_get_pages_refcount, which scripts and tests
 * read, and counters.
 */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#include "driver.h"
#include "p2p.h"

static int show_params(struct seq_file *m, void *v)
{
	seq_printf(m, "Version: %d.%d\n", GDRDRV_MAJOR_VERSION, GDRDRV_MINOR_VERSION);
	seq_printf(m, "Built for NVIDIA driver flavor: %s\n",
		   gdrdrv_p2p_open_flavour() ? "opensource" : "proprietary");
	seq_printf(m, "Use persistent mapping: %s\n", gdrdrv_p2p_persistent() ? "yes" : "no");
	seq_printf(m, "dbg_enabled: %d\n", gdrdrv_dbg_enabled);
	seq_printf(m, "info_enabled: %d\n", gdrdrv_info_enabled);
	return 0;
}

static int show_refcount(struct seq_file *m, void *v)
{
	seq_printf(m, "%lld\n", (s64)atomic64_read(&gdrdrv_counters.held));
	return 0;
}

static int show_counters(struct seq_file *m, void *v)
{
	static const struct {
		const char *name;
		const atomic64_t *value;
	} rows[] = {
		{ "pins", &gdrdrv_counters.pins },
		{ "pinned_bytes", &gdrdrv_counters.pinned_bytes },
		{ "mappings", &gdrdrv_counters.mappings },
		{ "mapped_bytes", &gdrdrv_counters.mapped_bytes },
		{ "held", &gdrdrv_counters.held },
		{ "revocations", &gdrdrv_counters.revocations },
		{ "faults", &gdrdrv_counters.faults },
		{ "put_failures", &gdrdrv_counters.put_failures },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		seq_printf(m, "%s: %lld\n", rows[i].name, (s64)atomic64_read(rows[i].value));
	return 0;
}

int gdrdrv_proc_init(void)
{
	struct proc_dir_entry *dir = proc_mkdir("driver/gdrdrv", NULL);

	if (!dir)
		return -ENOMEM;
	if (!proc_create_single("params", 0444, dir, show_params))
		goto remove;
	if (!proc_create_single("counters", 0444, dir, show_counters))
		goto remove;
	if (gdrdrv_dbg_enabled &&
	    !proc_create_single("nv_get_pages_refcount", 0440, dir, show_refcount))
		goto remove;
	return 0;

remove:
	gdrdrv_proc_exit();
	return -ENOMEM;
}

void gdrdrv_proc_exit(void)
{
	remove_proc_subtree("driver/gdrdrv", NULL);
}
