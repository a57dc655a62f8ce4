/* SPDX-License-Identifier: MIT */
/* The script that has gnuplot draw the panels. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"

/* Pixels */
#define PANEL_WIDTH  540
#define PANEL_HEIGHT 370
#define TITLE_HEIGHT 66
#define KEY_HEIGHT   20          /* a line of names */
#define KEY_COLUMNS  4
#define LABELS_MAX   7          /* along the axis of bytes */

/* Okabe and Ito's colours, told apart with any kind of colour vision; then marks of gnuplot. */
static const struct {
	const char *colour;
	int mark;
} styles[PLOT_SERIES] = {
	{ "#0072B2", 7 }, { "#D55E00", 5 }, { "#009E73", 9 }, { "#E69F00", 11 },
	{ "#CC79A7", 13 }, { "#56B4E9", 15 }, { "#000000", 6 }, { "#999999", 4 },
	{ "#0072B2", 8 }, { "#D55E00", 10 }, { "#009E73", 12 }, { "#E69F00", 14 },
	{ "#CC79A7", 6 }, { "#56B4E9", 4 }, { "#000000", 8 }, { "#999999", 10 },
};

/* Between single quotes nothing but the quote is special to gnuplot. */
static void quote(FILE *out, const char *s)
{
	fputc('\'', out);
	for (; *s; s++) {
		if (*s == '\'')
			fputc('\'', out);
		fputc((unsigned char)*s < ' ' ? ' ' : *s, out);
	}
	fputc('\'', out);
}

static void print_terminal(FILE *out, const char *format, const char *path, int width, int height)
{
	if (!strcmp(format, "svg"))
		fprintf(out, "set terminal svg size %d,%d font 'Helvetica,Arial,sans-serif,13' "
			"background 'white' dynamic\n", width, height);
	else
		/* Twice the size, for print. */
		fprintf(out, "if (strstrt(GPVAL_TERMINALS, 'pngcairo')) {\n"
			"set terminal pngcairo size %d,%d font 'Helvetica,13' fontscale 1.6 "
			"linewidth 2 pointscale 2\n"
			"} else {\n"
			"set terminal png size %d,%d font ',26' linewidth 4\n}\n",
			2 * width, 2 * height, 2 * width, 2 * height);
	/* It takes a name that starts with | for a command to run. */
	fputs(*path == '/' ? "set output " : "set output './'.", out);
	quote(out, path);
	fputc('\n', out);
}

/* Powers of two with their usual names; so many between two labels that they fit. */
static void print_byte_labels(const struct plot *p)
{
	static const char *const units[] = { "", "K", "M", "G", "T" };
	int low = (int)ceil(log2(p->x_min) - 1e-9), high = (int)floor(log2(p->x_max) + 1e-9);
	int step = 1, e;
	bool first = true;

	while ((high - low) / step >= LABELS_MAX)
		step *= 2;
	fputs("set xtics (", p->out);
	for (e = low; e <= high; e++) {
		/* Marks in between have no label. */
		if ((e - low) % step)
			fprintf(p->out, "%s'' %.0f 1", first ? "" : ", ", ldexp(1, e));
		else
			fprintf(p->out, "%s'%d%s' %.0f", first ? "" : ", ", 1 << e % 10,
				units[e / 10 < 5 ? e / 10 : 4], ldexp(1, e));
		first = false;
	}
	fputs(")\n", p->out);
}

static bool is_bytes(const char *name)
{
	size_t len = strlen(name);

	return len > 6 && !strcmp(name + len - 6, "_bytes");
}

static void print_x_axis(const struct plot *p)
{
	fputs("set xlabel ", p->out);
	quote(p->out, p->what->x_label);
	fprintf(p->out, "\nset logscale x 2\nset xrange [%.9g:%.9g]\n", p->x_min / 1.3,
		p->x_max * 1.3);
	if (is_bytes(p->what->x) && p->x_min >= 1 && p->x_max > p->x_min)
		print_byte_labels(p);
}

/*
 * Whole decades around the points, or from 0 on.  Panels whose axes are called the same
 * have the same decades, so that they can be compared at a glance.
 */
static void print_y_axis(struct plot *p, size_t k, struct plot_point *point)
{
	const struct results_panel *panel = p->what->panel;
	double low = INFINITY, high = 0;
	size_t other, i, n;

	if (panel[k].linear) {
		fputs("unset logscale y\nset yrange [0:*]\n", p->out);
		return;
	}
	for (other = 0; other < p->what->panels; other++) {
		if (panel[other].linear || strcmp(panel[other].y_label, panel[k].y_label))
			continue;
		n = plot_points(p, other, -1, point);
		for (i = 0; i < n; i++) {
			low = fmin(low, point[i].y);
			high = fmax(high, point[i].y);
		}
	}
	if (high > 0)
		fprintf(p->out, "set logscale y 10\nset yrange [%g:%g]\n",
			pow(10, floor(log10(low))), pow(10, floor(log10(high)) + 1));
}

/* A curve as a data block; false if it has no points here. */
static bool print_points(struct plot *p, size_t k, size_t s, struct plot_point *point)
{
	size_t i, n = plot_points(p, k, (int)s, point);

	if (!n)
		return false;
	fprintf(p->out, "$d%zu_%zu << EOD\n", k, s);
	for (i = 0; i < n; i++)
		fprintf(p->out, "%.9g %.9g\n", point[i].x, point[i].y);
	fputs("EOD\n", p->out);
	p->series.drawn[s] = true;
	return true;
}

/* "with ..." of a curve; the subject's is thicker. */
static void print_style(const struct plot *p, size_t s)
{
	const char *about = p->what->subject;
	bool subject = about && !strncmp(p->series.name[s], about, strlen(about)) &&
		       strchr(",", p->series.name[s][strlen(about)]);

	fprintf(p->out,
		" with linespoints linewidth %s pointsize %s linecolor rgb '%s' pointtype %d ",
		subject ? "2.6" : "1.4", subject ? "0.8" : "0.6", styles[s].colour, styles[s].mark);
}

/* The names of all curves, once, in a strip below the panels. */
static void print_key(const struct plot *p)
{
	size_t s, n = 0;

	fprintf(p->out, "unset title\nunset tics\nunset border\nunset xlabel\nunset ylabel\n"
		"unset grid\nunset logscale\nset xrange [0:1]\nset yrange [0:1]\n"
		"set lmargin at screen 0.02\nset rmargin at screen 0.98\n"
		"set bmargin at screen 0\nset tmargin at screen %.4f\n"
		"set key center center horizontal Left reverse samplen 2.5 maxcols %d\n",
		(double)p->key / p->height, KEY_COLUMNS);
	for (s = 0; s < p->series.n; s++) {
		if (!p->series.drawn[s])
			continue;
		fprintf(p->out, "%s1/0", n++ ? ", \\\n  " : "plot ");
		print_style(p, s);
		fputs("title ", p->out);
		quote(p->out, p->series.name[s]);
	}
	fputc('\n', p->out);
}

static void print_panel(struct plot *p, size_t k, struct plot_point *point)
{
	const struct results_panel *panel = &p->what->panel[k];
	bool drawn[PLOT_SERIES] = { false };
	size_t s, n = 0;

	for (s = 0; s < p->series.n; s++)
		drawn[s] = print_points(p, k, s, point);
	fputs("set title ", p->out);
	quote(p->out, panel->title);
	fputs("\nset ylabel ", p->out);
	quote(p->out, panel->y_label);
	fputs(" offset 1,0\n", p->out);
	print_y_axis(p, k, point);
	/* What it is about goes over the others. */
	for (s = p->series.n; s-- > 0;) {
		if (!drawn[s])
			continue;
		fprintf(p->out, "%s$d%zu_%zu", n++ ? ", \\\n  " : "plot ", k, s);
		print_style(p, s);
		fputs("notitle", p->out);
	}
	fputs(n ? "\nunset label\n" : "set multiplot next\n", p->out);
}

void plot_script(struct plot *p, const char *format, const char *path, const char *caption)
{
	struct plot_point *point = calloc(p->r->n_kept, sizeof(*point));
	int lines;
	double h;
	size_t k;

	p->columns = p->what->panels > 1 ? 2 : 1;
	p->rows = ((int)p->what->panels + p->columns - 1) / p->columns;
	/* Long names leave room for one column less. */
	lines = p->series.n <= KEY_COLUMNS ? 1 : ((int)p->series.n + KEY_COLUMNS - 2) /
						 (KEY_COLUMNS - 1);
	p->key = KEY_HEIGHT * (1 + lines);
	p->height = p->rows * PANEL_HEIGHT + TITLE_HEIGHT + p->key;
	h = p->height;
	fputs("set encoding utf8\n", p->out);
	print_terminal(p->out, format, path, p->columns * PANEL_WIDTH, p->height);
	fputs("set termoption noenhanced\n"
	      "set border 3 linecolor rgb '#606060'\n"
	      "set tics nomirror textcolor rgb '#202020'\n"
	      "set style line 100 linecolor rgb '#d0d0d0' linewidth 0.6 dashtype solid\n"
	      "set grid xtics ytics back linestyle 100, linestyle 100\n"
	      "set format y '%g'\nset mytics 10\n"
	      "set title font ',15' offset 0,-0.3\n"
	      "unset key\n", p->out);
	print_x_axis(p);
	fprintf(p->out, "set multiplot layout %d,%d margins screen %.4f,%.4f,%.4f,%.4f spacing "
		"screen %.4f,%.4f\n", p->rows, p->columns, 84.0 / (p->columns * PANEL_WIDTH),
		1 - 20.0 / (p->columns * PANEL_WIDTH), (p->key + 54) / h,
		1 - (TITLE_HEIGHT + 30) / h, 100.0 / (p->columns * PANEL_WIDTH), 106 / h);
	fputs("set label 1 ", p->out);
	quote(p->out, p->what->title);
	fprintf(p->out, " at screen 0.5, %.4f center font ',19'\nset label 2 ", 1 - 20 / h);
	quote(p->out, caption);
	fprintf(p->out, " at screen 0.5, %.4f center font ',12' textcolor rgb '#505050'\n",
		1 - 44 / h);
	for (k = 0; k < p->what->panels && point; k++)
		print_panel(p, k, point);
	free(point);
	print_key(p);
	fputs("unset multiplot\nunset output\n", p->out);
}
