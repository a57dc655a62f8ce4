// SPDX-License-Identifier: (GPL-2.0-only OR MIT)
/*
 * The handle table of an open file.  A handle is the first host page of an
 * interval of mmap offsets that belongs to one pin.  Handles stay below 2^32,
 * since libraries keep 32 bits of them; they grow and start anew at the end, so
 * that a stale one is unknown for as long as possible.
 */
#include "driver.h"

static struct gdrdrv_mr *mr_of(struct rb_node *node)
{
	return node ? rb_entry(node, struct gdrdrv_mr, node) : NULL;
}

/* The first pin that ends behind this offset. */
static struct gdrdrv_mr *first_behind(struct gdrdrv_file *file, u64 offset)
{
	struct rb_node *node = file->pins.rb_node;
	struct gdrdrv_mr *found = NULL;

	while (node) {
		struct gdrdrv_mr *mr = mr_of(node);

		if (mr->handle + mr->pages > offset) {
			found = mr;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return found;
}

/* The first free interval of so many pages at or behind start, below limit. */
static bool find_gap(struct gdrdrv_file *file, u64 start, u64 limit, u64 pages, u64 *handle)
{
	struct gdrdrv_mr *mr;

	for (mr = first_behind(file, start); mr; mr = mr_of(rb_next(&mr->node))) {
		if (mr->handle >= start + pages)
			break;
		start = mr->handle + mr->pages;
	}
	if (start > limit || pages > limit - start)
		return false;
	*handle = start;
	return true;
}

static void link_pin(struct gdrdrv_file *file, struct gdrdrv_mr *mr)
{
	struct rb_node **link = &file->pins.rb_node, *parent = NULL;

	while (*link) {
		parent = *link;
		link = mr->handle < mr_of(parent)->handle ? &parent->rb_left : &parent->rb_right;
	}
	rb_link_node(&mr->node, parent, link);
	rb_insert_color(&mr->node, &file->pins);
}

static struct gdrdrv_mr *find(struct gdrdrv_file *file, u64 handle)
{
	struct gdrdrv_mr *mr = first_behind(file, handle);

	return mr && mr->handle == handle ? mr : NULL;
}

/* The table takes over the caller's reference. */
int gdrdrv_handle_insert(struct gdrdrv_file *file, struct gdrdrv_mr *mr)
{
	u64 limit = (u64)gdrdrv_max_handle + 1;
	int ret = 0;

	mutex_lock(&file->lock);
	if (find_gap(file, file->next_handle, limit, mr->pages, &mr->handle) ||
	    find_gap(file, 0, limit, mr->pages, &mr->handle)) {
		file->next_handle = mr->handle + mr->pages;
		file->nr_pins++;
		link_pin(file, mr);
	} else {
		ret = -ENOMEM;
	}
	mutex_unlock(&file->lock);
	return ret;
}

struct gdrdrv_mr *gdrdrv_handle_get(struct gdrdrv_file *file, u64 handle)
{
	struct gdrdrv_mr *mr;

	mutex_lock(&file->lock);
	mr = find(file, handle);
	if (mr)
		gdrdrv_mr_get(mr);
	mutex_unlock(&file->lock);
	return mr;
}

static void unlink_pin(struct gdrdrv_file *file, struct gdrdrv_mr *mr)
{
	rb_erase(&mr->node, &file->pins);
	file->nr_pins--;
}

/* The caller takes over the table's reference; of several callers one gets it. */
struct gdrdrv_mr *gdrdrv_handle_remove(struct gdrdrv_file *file, u64 handle)
{
	struct gdrdrv_mr *mr;

	mutex_lock(&file->lock);
	mr = find(file, handle);
	if (mr)
		unlink_pin(file, mr);
	mutex_unlock(&file->lock);
	return mr;
}

struct gdrdrv_mr *gdrdrv_handle_remove_any(struct gdrdrv_file *file)
{
	struct gdrdrv_mr *mr;

	mutex_lock(&file->lock);
	mr = mr_of(rb_first(&file->pins));
	if (mr)
		unlink_pin(file, mr);
	mutex_unlock(&file->lock);
	return mr;
}
