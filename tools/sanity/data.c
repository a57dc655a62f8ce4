/* SPDX-License-Identifier: MIT */
/*
 * Description: bytes written through the mapping are what CUDA reads, and what
 * the mapping gives back; at offsets of the mapping, of host memory and of both;
 * and no byte outside the range changes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fence.h"
#include "pattern.h"
#include "session.h"

#define FILL            0xa5
#define DIRECT_ROUNDS   1000

struct data {
	struct mapped p;
	char *map;
	char *init, *copy;      /* host: the pattern; what was read */
	char *device;           /* host: what CUDA reads of the whole buffer */
	unsigned errors;
};

static void reset(struct data *d)
{
	memset(d->copy, FILL, MEDIUM);
	session_fill(&d->p.mem, FILL);
}

static void compare(struct data *d, const char *want, const char *got, size_t n, const char *what)
{
	if (!pattern_compare(want, got, n, stdout))
		return;
	fprintf(stderr, "%s: differs in %zu bytes\n", what, n);
	d->errors++;
}

/* Everything in buf but [at, at + n) still has the fill. */
static void compare_rest(struct data *d, const char *buf, size_t at, size_t n, const char *what)
{
	size_t i;

	for (i = 0; i < MEDIUM; i++) {
		if (i == at)
			i += n;
		if (i < MEDIUM && (unsigned char)buf[i] != FILL) {
			fprintf(stderr, "%s: byte %zu is 0x%02x, outside of [%zu, %zu)\n", what,
				i, (unsigned char)buf[i], at, at + n);
			d->errors++;
			return;
		}
	}
}

/* Check 1: the CPU's own stores, a word at a time. */
static void check_direct(struct data *d)
{
	const uint32_t *words = (const void *)d->init;
	size_t i;
	int round;

	for (round = 0; round < DIRECT_ROUNDS; round++) {
		for (i = 0; i < MEDIUM / 4; i++)
			((volatile uint32_t *)d->map)[i] = words[i];
		fence_stores();
		CU(cu.MemcpyDtoH(d->copy, d->p.mem.ptr, MEDIUM));
		compare(d, d->init, d->copy, MEDIUM, "direct stores");
		reset(d);
		CHECK_INT(d->errors, 0);
	}
}

/* Check 2: copied to the mapping, read by CUDA. */
static void check_to(struct data *d)
{
	GDR(gdr_copy_to_mapping(d->p.mh, d->map, d->init, MEDIUM));
	CU(cu.MemcpyDtoH(d->copy, d->p.mem.ptr, MEDIUM));
	compare(d, d->init, d->copy, MEDIUM, "gdr_copy_to_mapping");
	reset(d);
}

/* The other way: written by CUDA, copied from the mapping. */
static void check_from(struct data *d)
{
	CU(cu.MemcpyHtoD(d->p.mem.ptr, d->init, MEDIUM));
	/* From pageable memory it may return before the bytes have arrived. */
	CU(cu.CtxSynchronize());
	GDR(gdr_copy_from_mapping(d->p.mh, d->copy, d->map, MEDIUM));
	compare(d, d->init, d->copy, MEDIUM, "gdr_copy_from_mapping");
	reset(d);
}

/* Checks 3 to 9: n bytes at offsets of the mapping and of host memory, there and back. */
static void check_at(struct data *d, size_t map_at, size_t host_at, size_t n)
{
	char what[96];

	snprintf(what, sizeof(what), "mapping + %zu, host + %zu, %zu bytes", map_at, host_at, n);
	GDR(gdr_copy_to_mapping(d->p.mh, d->map + map_at, d->init + host_at, n));
	GDR(gdr_copy_from_mapping(d->p.mh, d->copy + host_at, d->map + map_at, n));
	compare(d, d->init + host_at, d->copy + host_at, n, what);
	compare_rest(d, d->copy, host_at, n, what);
	CU(cu.MemcpyDtoH(d->device, d->p.mem.ptr, MEDIUM));
	compare(d, d->init + host_at, d->device + map_at, n, what);
	compare_rest(d, d->device, map_at, n, what);
	reset(d);
}

static void check_offsets(struct data *d)
{
	static const size_t offsets[] = { 1, 2, 3, 4, 5, 6, 7, 11, 129, 1023 };
	size_t i, k, words;

	check_at(d, 0, 0, MEDIUM);
	for (i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		k = offsets[i];
		words = 4 * k;
		check_at(d, words, 0, MEDIUM - words);
		check_at(d, k, 0, MEDIUM - k);
		check_at(d, 0, words, MEDIUM - words);
		check_at(d, 0, k, MEDIUM - k);
		check_at(d, words, words, MEDIUM - words);
		check_at(d, k, k, MEDIUM - k);
	}
}

static void open_and_map(struct data *d, const struct sanity_variant *v)
{
	const char *type;
	gdr_info_t info;

	d->p.g = session_open();
	if (v->pin == PIN_FORCE_PCIE)
		session_needs_force_pcie(d->p.g);
	d->p.mh = session_pin(d->p.g, v, d->p.mem.ptr, MEDIUM);
	GDR(gdr_get_info(d->p.g, d->p.mh, &info));
	CHECK(!info.mapped && info.mapping_type == GDR_MAPPING_TYPE_NONE);
	session_map_pinned(&d->p);
	GDR(gdr_get_info(d->p.g, d->p.mh, &info));
	CHECK(info.mapping_type != GDR_MAPPING_TYPE_NONE);
	GDR(gdr_get_mapping_type_string(info.mapping_type, &type));
	sanity_say("mapping type: %s", type);
	d->map = (char *)(uintptr_t)d->p.m;
}

static void run(const struct sanity_variant *v)
{
	struct data d = { 0 };

	session_cuda(v, false);
	d.p.mem = session_alloc(v, MEDIUM, FILL);
	d.init = malloc(MEDIUM);
	d.copy = malloc(MEDIUM);
	d.device = malloc(MEDIUM);
	CHECK(d.init && d.copy && d.device);
	pattern_fill(d.init, MEDIUM, 0);
	open_and_map(&d, v);
	reset(&d);
	check_direct(&d);
	check_to(&d);
	check_from(&d);
	check_offsets(&d);
	CHECK_INT(d.errors, 0);
	session_unmap(&d.p);
	GDR(gdr_close(d.p.g));
	session_free(&d.p.mem);
	free(d.init);
	free(d.copy);
	free(d.device);
	session_end();
}

static const struct sanity_test data[] = {
	{ "data_validation_cumemalloc", run, WITH(ALLOC, PIN_V1), SANITY_DEFAULT },
	{ "data_validation_vmmalloc", run, WITH(CREATE, PIN_V1), SANITY_DEFAULT },
	{ "data_validation_v2_cumemalloc", run, WITH(ALLOC, PIN_V2), SANITY_DEFAULT },
	{ "data_validation_v2_forcepci_cumemalloc", run, WITH(ALLOC, PIN_FORCE_PCIE),
	  SANITY_DEFAULT },
};
SANITY_TABLE(data);
