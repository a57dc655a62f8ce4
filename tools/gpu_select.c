/* SPDX-License-Identifier: MIT */
/* Which GPUs an option names: ordinals, UUIDs as nvidia-smi prints them, PCI addresses. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "gpu.h"
#include "opts.h"

#define ITEM_MAX 64

/* The next item of a list between commas; 0, or -EINVAL if it is empty or too long. */
static int next_item(const char **list, char item[ITEM_MAX])
{
	size_t len = strcspn(*list, ",");

	if (!len || len >= ITEM_MAX)
		return -EINVAL;
	memcpy(item, *list, len);
	item[len] = '\0';
	*list += len;
	if (!**list)
		return 0;
	/* A comma at the end announces another item. */
	return *++*list ? 0 : -EINVAL;
}

static bool is_ordinal(const char *item)
{
	return item[strspn(item, "0123456789")] == '\0';
}

static bool is_uuid(const char *item)
{
	return !strncasecmp(item, "GPU-", 4) && item[4] &&
	       item[4 + strspn(item + 4, "0123456789abcdefABCDEF-")] == '\0';
}

/* [domain:]bus:device[.0], in hexadecimal. */
static bool is_pci(const char *item, unsigned *domain, unsigned *bus, unsigned *slot)
{
	int end = 0;

	if (item[strspn(item, "0123456789abcdefABCDEF:.")] != '\0')
		return false;
	if (sscanf(item, "%8x:%2x:%2x%n", domain, bus, slot, &end) != 3) {
		*domain = 0;
		if (sscanf(item, "%2x:%2x%n", bus, slot, &end) != 2)
			return false;
	}
	return !item[end] || !strcmp(item + end, ".0");
}

int gpu_select_check(const char *list)
{
	const char *rest = list;
	char item[ITEM_MAX];
	unsigned d, b, s;

	if (!strcmp(list, "all"))
		return 0;
	do {
		if (next_item(&rest, item) ||
		    !(is_ordinal(item) || is_uuid(item) || is_pci(item, &d, &b, &s))) {
			fprintf(stderr, "ERROR: option -d, --device: \"%s\" is neither \"all\" nor "
				"a list of ordinals, UUIDs (GPU-...) or PCI addresses\n", list);
			return -EINVAL;
		}
	} while (*rest);
	return 0;
}

static int none_such(const char *item, int count)
{
	if (count == 1)
		fprintf(stderr, "ERROR: GPU %s: there is 1 GPU, number 0\n", item);
	else
		fprintf(stderr, "ERROR: GPU %s: there are %d GPUs, numbers 0 to %d\n", item, count,
			count - 1);
	return -ENODEV;
}

static int find_ordinal(const char *item, int count, int *out)
{
	uint64_t n;

	/* Not opts_number's octal: a leading zero means nothing here. */
	item += strspn(item, "0");
	if (opts_number(*item ? item : "0", false, &n) || n >= (uint64_t)count)
		return none_such(*item ? item : "0", count);
	*out = (int)n;
	return 0;
}

/* UUIDs may be cut short, as long as one GPU's alone starts so. */
static int find_named(const char *item, int count, int *out)
{
	bool by_uuid = is_uuid(item);
	unsigned domain = 0, bus = 0, slot = 0;
	int i, found = 0;
	struct gpu g;

	if (!by_uuid && !is_pci(item, &domain, &bus, &slot))
		return -EINVAL;
	for (i = 0; i < count; i++) {
		if (gpu_describe(i, &g))
			return -EIO;
		if (by_uuid ? strncasecmp(g.uuid, item, strlen(item)) != 0 :
			      g.domain != domain || g.bus != bus || g.slot != slot)
			continue;
		*out = i;
		found++;
	}
	if (found == 1)
		return 0;
	if (!found)
		return none_such(item, count);
	fprintf(stderr, "ERROR: GPU %s: the UUIDs of %d GPUs start so\n", item, found);
	return -EINVAL;
}

int gpu_select(const char *list, int *ordinal, size_t max, size_t *n)
{
	int count = gpu_count(), i, err;
	char item[ITEM_MAX];
	size_t used = 0, k;

	if (count < 0)
		return count;
	if (!strcmp(list, "all")) {
		for (i = 0; i < count && used < max; i++)
			ordinal[used++] = i;
		*n = used;
		return used ? 0 : none_such("all", 0);
	}
	do {
		err = next_item(&list, item);
		if (!err)
			err = is_ordinal(item) ? find_ordinal(item, count, &i) :
						 find_named(item, count, &i);
		if (err)
			return err;
		for (k = 0; k < used; k++)
			if (ordinal[k] == i)
				break;
		/* Named twice it is measured once. */
		if (k == used && used < max)
			ordinal[used++] = i;
	} while (*list);
	*n = used;
	return 0;
}
