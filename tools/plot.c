/* SPDX-License-Identifier: MIT */
/* What of the results is drawn, and gnuplot, which draws it. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plot.h"

static const char *format_of(const char *path)
{
	const char *dot = strrchr(path, '.');

	if (dot && !strcmp(dot, ".svg"))
		return "svg";
	return dot && !strcmp(dot, ".png") ? "png" : NULL;
}

static bool on_path(const char *program)
{
	const char *path = getenv("PATH"), *end;
	char file[4096];

	for (; path && *path; path = *end ? end + 1 : end) {
		end = path + strcspn(path, ":");
		snprintf(file, sizeof(file), "%.*s/%s", (int)(end - path), path, program);
		if (access(file, X_OK) == 0)
			return true;
	}
	return false;
}

/* Why the picture could not be written; 0 if it can. */
static int writable(const char *path)
{
	const char *slash = strrchr(path, '/'), *c;
	char dir[4096] = ".";
	struct stat st;

	/* What a line of gnuplot's script cannot have. */
	for (c = path; *c; c++)
		if ((unsigned char)*c < ' ')
			return EINVAL;
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
	if (access(path, F_OK) == 0)
		return access(path, W_OK) ? errno : 0;
	if (slash && (size_t)snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path + 1), path) >=
		     sizeof(dir))
		return ENAMETOOLONG;
	return access(dir, W_OK | X_OK) ? errno : 0;
}

int plot_check(const char *path)
{
	int err;

	if (!format_of(path)) {
		fprintf(stderr, "ERROR: option --plot: \"%s\" ends neither with .svg nor with "
			".png\n", path);
		return -EINVAL;
	}
	if (!on_path("gnuplot")) {
		fprintf(stderr, "ERROR: option --plot: gnuplot is not installed; without it --csv "
			"writes what could be drawn\n");
		return -ENOENT;
	}
	err = writable(path);
	if (err) {
		fprintf(stderr, "ERROR: option --plot: %s: %s\n", path, strerror(err));
		return -err;
	}
	return 0;
}

static double number(const struct report_row *row, const char *name)
{
	const struct report_field *f = report_find(row->field, row->n, name);

	if (!f)
		return NAN;
	return f->kind == REPORT_INTEGER ? (double)f->integer :
	       f->kind == REPORT_REAL ? f->real : NAN;
}

static const char *text(const struct report_row *row, const char *name)
{
	const struct report_field *f = report_find(row->field, row->n, name);

	return f && f->kind == REPORT_STRING && f->string ? f->string : "";
}

static void series_name(const struct plot *p, const struct report_row *row, char *buf, size_t len)
{
	int n = snprintf(buf, len, "%s", text(row, p->what->series));

	if (p->gpus && n >= 0 && (size_t)n < len)
		snprintf(buf + n, len - (size_t)n, ", GPU %.0f", number(row, "gpu"));
}

/* Index of a row's curve, made if need be; PLOT_SERIES: there are too many. */
static size_t series_of(struct plot *p, const struct report_row *row)
{
	char name[sizeof(p->series.name[0])];
	size_t i;

	series_name(p, row, name, sizeof(name));
	for (i = 0; i < p->series.n; i++)
		if (!strcmp(p->series.name[i], name))
			return i;
	if (i < PLOT_SERIES)
		strcpy(p->series.name[p->series.n++], name);
	return i;
}

static bool belongs(const struct results_panel *panel, const struct report_row *row)
{
	return !panel->filter || !strcmp(text(row, panel->filter), panel->equals);
}

/* A point that a logarithmic axis has a place for. */
static bool drawable(const struct results *what, const struct results_panel *panel,
		     const struct report_row *row)
{
	double x = number(row, what->x), y = number(row, panel->y);

	return isfinite(x) && x > 0 && isfinite(y) && (y > 0 || (panel->linear && y >= 0));
}

/* Curves, the range of x; how many points there are. */
static size_t survey(struct plot *p)
{
	const struct results *what = p->what;
	size_t i, k, points = 0;
	double x;

	for (i = 0; i < p->r->n_kept; i++)
		if (number(&p->r->kept[i], "gpu") != number(&p->r->kept[0], "gpu") &&
		    isfinite(number(&p->r->kept[0], "gpu")))
			p->gpus = true;
	/* Its place comes before that of whatever was measured first. */
	if (what->subject && !p->gpus)
		snprintf(p->series.name[p->series.n++], sizeof(p->series.name[0]), "%s",
			 what->subject);
	for (i = 0; i < p->r->n_kept; i++) {
		for (k = 0; k < what->panels; k++) {
			if (!belongs(&what->panel[k], &p->r->kept[i]) ||
			    !drawable(what, &what->panel[k], &p->r->kept[i]))
				continue;
			series_of(p, &p->r->kept[i]);
			x = number(&p->r->kept[i], what->x);
			p->x_min = points ? fmin(p->x_min, x) : x;
			p->x_max = points ? fmax(p->x_max, x) : x;
			points++;
		}
	}
	return points;
}

static int by_x(const void *a, const void *b)
{
	const struct plot_point *p = a, *q = b;

	return (p->x > q->x) - (p->x < q->x);
}

size_t plot_points(struct plot *p, size_t k, int s, struct plot_point *out)
{
	const struct results_panel *panel = &p->what->panel[k];
	size_t i, n = 0;

	for (i = 0; i < p->r->n_kept; i++) {
		const struct report_row *row = &p->r->kept[i];

		if (!belongs(panel, row) || !drawable(p->what, panel, row) ||
		    (s >= 0 && series_of(p, row) != (size_t)s))
			continue;
		out[n++] = (struct plot_point){
			number(row, p->what->x),
			number(row, panel->y) / (panel->unit ? panel->unit : 1),
		};
	}
	qsort(out, n, sizeof(*out), by_x);
	return n;
}

/*
 * A group of its own: Ctrl-C asks for what has been measured, not for less of it.  That
 * is one in the background, which a terminal may stop when it writes.
 */
static void set_group(posix_spawnattr_t *attr)
{
	sigset_t blocked;

	sigprocmask(SIG_SETMASK, NULL, &blocked);
	sigaddset(&blocked, SIGTTOU);
	posix_spawnattr_setsigmask(attr, &blocked);
	posix_spawnattr_setpgroup(attr, 0);
	posix_spawnattr_setflags(attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
}

/* gnuplot with the script on its standard input; 0 or -errno. */
static int start_gnuplot(FILE **script, pid_t *pid)
{
	static const char name[] = "gnuplot";
	char *argv[] = { strdup(name), NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int ends[2], err;

	if (!argv[0])
		return -ENOMEM;
	if (pipe2(ends, O_CLOEXEC)) {
		err = errno;
		goto free;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
	/* What it has to say is not part of a report. */
	posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
	posix_spawnattr_init(&attr);
	set_group(&attr);
	err = posix_spawnp(pid, name, &actions, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[0]);
	*script = err ? NULL : fdopen(ends[1], "w");
	if (!*script)
		close(ends[1]);
free:
	free(argv[0]);
	return -err;
}

/* Its exit status: 0 if it drew. */
static int draw(struct plot *p, const char *path, const char *caption)
{
	void (*old)(int) = signal(SIGPIPE, SIG_IGN);    /* one that ends early has a status */
	int status = -1;
	pid_t pid = 0;

	/* In a locale without UTF-8 it complains about its own degree sign. */
	setenv("LC_ALL", "C.UTF-8", 1);
	if (start_gnuplot(&p->out, &pid) == 0) {
		if (p->out) {
			plot_script(p, format_of(path), path, caption);
			fclose(p->out);
		}
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	signal(SIGPIPE, old);
	return status;
}

int plot_write(const char *path, const struct results *what, const char *caption,
	       const struct report *r)
{
	struct plot p = { .what = what, .r = r };
	struct stat st;
	int fd, err;

	if (!survey(&p)) {
		fprintf(stderr, "ERROR: option --plot: there is nothing to draw\n");
		return -ENODATA;
	}
	if (p.series.n == PLOT_SERIES)
		fprintf(stderr, "NOTE: %s shows %d curves at most\n", path, PLOT_SERIES);
	/* What is in it after that is new. */
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0) {
		err = errno;
		fprintf(stderr, "ERROR: option --plot: %s: %s\n", path, strerror(err));
		return -err;
	}
	close(fd);
	if (draw(&p, path, caption) == 0 && stat(path, &st) == 0 && st.st_size)
		return 0;
	unlink(path);
	fprintf(stderr, "ERROR: option --plot: gnuplot did not draw %s\n", path);
	return -EIO;
}
