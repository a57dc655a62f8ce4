/* SPDX-License-Identifier: MIT */
/* gdr_open, gdr_pin_buffer, gdr_map_v2, gdr_get_info, and back. */
#include "window.h"

#include <errno.h>
#include <string.h>

#include "gdrapi_ext.h"
#include "provenance.h"

const char *const window_mapping_names[] = { "default", "wc", "cache", "device", NULL };

int window_error(const char *call, int err)
{
	const char *why = gdrx_last_error();
	size_t len = strlen(call);

	/* Some of the library's sentences start with the call, too. */
	if (!strncmp(why, call, len) && why[len] == ':')
		why += len + 1 + strspn(why + len + 1, " ");
	fprintf(stderr, "ERROR: %s: %s (%d)%s%s", call, strerror(err), err, *why ? ": " : "", why);
	if (!*why || why[strlen(why) - 1] != '\n')
		fputc('\n', stderr);
	return -err;
}

static int open_library(gdr_t *out)
{
	const char *report;
	int err;

	errno = 0;
	*out = gdr_open();
	if (*out)
		return 0;
	err = errno ? errno : EIO;
	window_error("gdr_open", err);
	report = gdrx_open_report();
	if (!strstr(gdrx_last_error(), report))
		fprintf(stderr, "%s", report);
	return -err;
}

int window_open(struct window *w, struct report *r, uint64_t ptr, size_t size, int map_flags)
{
	struct window n = { .size = size };
	const char *type = "unknown";
	int err;

	err = open_library(&n.g);
	if (err)
		return err;
	provenance_gdr(r, n.g);
	err = gdr_pin_buffer(n.g, ptr, size, 0, 0, &n.mh);
	if (err) {
		window_error("gdr_pin_buffer", err);
		goto close;
	}
	err = gdr_map_v2(n.g, n.mh, &n.map, size, map_flags);
	if (err) {
		window_error("gdr_map_v2", err);
		goto unpin;
	}
	err = gdr_get_info(n.g, n.mh, &n.info);
	if (err) {
		window_error("gdr_get_info", err);
		goto unmap;
	}
	gdr_get_mapping_type_string(n.info.mapping_type, &type);
	report_fact(r, "mapping_type", "%s", type);
	n.offset = ptr - n.info.va;
	n.ptr = (char *)n.map + n.offset;
	*w = n;
	return 0;

unmap:
	gdr_unmap(n.g, n.mh, n.map, size);
unpin:
	gdr_unpin_buffer(n.g, n.mh);
close:
	gdr_close(n.g);
	return -err;
}

void window_print(const struct window *w, const struct report *r, bool space_before_pointer)
{
	report_line(r, "map_d_ptr: %p", w->map);
	report_line(r, "info.va: %llx", (unsigned long long)w->info.va);
	report_line(r, "info.mapped_size: %llu", (unsigned long long)w->info.mapped_size);
	report_line(r, "info.page_size: %u", w->info.page_size);
	report_line(r, "info.mapped: %u", w->info.mapped);
	report_line(r, "info.wc_mapping: %u", w->info.wc_mapping);
	report_line(r, "page offset: %zu", w->offset);
	report_line(r, "user-space pointer:%s%p", space_before_pointer ? " " : "", (void *)w->ptr);
}

int window_close(const struct window *w, const struct report *r)
{
	int err, first;

	report_line(r, "unmapping buffer");
	first = gdr_unmap(w->g, w->mh, w->map, w->size);
	if (first)
		window_error("gdr_unmap", first);
	report_line(r, "unpinning buffer");
	err = gdr_unpin_buffer(w->g, w->mh);
	if (err)
		window_error("gdr_unpin_buffer", err);
	first = first ? first : err;
	report_line(r, "closing gdrdrv");
	err = gdr_close(w->g);
	if (err)
		window_error("gdr_close", err);
	first = first ? first : err;
	return -first;
}
