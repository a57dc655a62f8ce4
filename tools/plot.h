/* SPDX-License-Identifier: MIT */
/* The diagrams of a run between plot.c, which knows the points, and plot_script.c, which draws. */
#ifndef TOOLS_PLOT_H
#define TOOLS_PLOT_H

#include <stdio.h>

#include "results.h"

#define PLOT_SERIES 16

/* Names of curves, in the order in which they appear; the same in all panels. */
struct plot_series {
	char name[PLOT_SERIES][96];
	bool drawn[PLOT_SERIES];        /* in some panel */
	size_t n;
};

struct plot {
	const struct results *what;
	const struct report *r;
	struct plot_series series;
	bool gpus;                      /* of several GPUs: the curves' names tell */
	double x_min, x_max;
	/* plot_script.c */
	FILE *out;
	int columns, rows;              /* panels */
	int height, key;                /* pixels, of all and of the curves' names */
};

struct plot_point {
	double x, y;                    /* y in the unit of the axis */
};

/* The points of panel k that belong to curve s, or to any for -1, by x; their number. */
size_t plot_points(struct plot *p, size_t k, int s, struct plot_point *out);

/* For gnuplot, on p->out; format: "svg" or "png". */
void plot_script(struct plot *p, const char *format, const char *path, const char *caption);

#endif
