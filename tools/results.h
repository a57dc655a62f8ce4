/* SPDX-License-Identifier: MIT */
/*
 * What the rows of a tool mean, so that they can be compared with those of an
 * earlier run and drawn.
 */
#ifndef TOOLS_RESULTS_H
#define TOOLS_RESULTS_H

#include <stdbool.h>
#include <stddef.h>

#include "report.h"

#define RESULTS_PANELS 4

/* One diagram: the rows whose field "filter" is "equals", a curve per value of "series". */
struct results_panel {
	const char *title;
	const char *filter, *equals;    /* NULL: all rows */
	const char *y, *y_label;        /* field that is drawn, and its axis */
	double unit;                    /* of the axis in that of the field; 0 stands for 1 */
	bool linear;                    /* the axis starts at 0; else it is logarithmic */
};

struct results {
	/* Fields that tell one row from another; ends with NULL.  "gpu" is implied. */
	const char *const *keys;
	const char *value;              /* the figure that --baseline compares */
	bool more_is_better;
	/* --plot; without a title the tool draws nothing, and refuses the option. */
	const char *title;
	const char *x, *x_label;        /* on a logarithmic axis; bytes if x ends with "_bytes" */
	const char *series;             /* string field that names the curve */
	const char *subject;            /* the curve it is about: first and thickest; or NULL */
	struct results_panel panel[RESULTS_PANELS];
	size_t panels;
};

struct baseline;

/* Read a report that --json wrote.  0, or -errno with the reason on stderr. */
int baseline_open(const char *path, const char *tool, bool soft, struct baseline **out);
void baseline_close(struct baseline *b);

/*
 * Compare the rows that r kept: a line for each that is worse by more than
 * tolerance percent, and a sum.  The number of those, or -errno with the reason on stderr
 * if there was nothing to compare.
 */
int baseline_compare(const struct baseline *b, const struct results *what, double tolerance,
		     struct report *r);

/* 0, or -errno with the reason on stderr: no such format, no gnuplot, no place to write. */
int plot_check(const char *path);

/* Draw the rows that r kept into the file; caption: a line about where they were measured. */
int plot_write(const char *path, const struct results *what, const char *caption,
	       const struct report *r);

#endif
