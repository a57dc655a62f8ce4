/* SPDX-License-Identifier: MIT */
/*
 * The first calls of a process.  A process has only one first call of each, so all
 * but one are measured in processes made for it: this program with a hidden option,
 * which prints its times.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apiperf.h"
#include "window.h"

extern char **environ;

/* Everything from loading CUDA to the first close. */
static int child_measure(const struct apiperf_args *args, struct apiperf_set *set)
{
	const struct gpu_allocator *how = &gpu_allocators[args->tool.alloc];
	bool soft = args->tool.soft || cu_soft_wanted();
	struct apiperf_buffer b = {
		.size = gpu_round_up(args->size), .map_flags = (int)args->tool.mapping,
	};
	struct gpu_mem mem;
	struct gpu gpu;
	int err;

	err = cu_load(soft);
	if (!err)
		err = gpu_init(soft);
	if (!err)
		err = gpu_open(atoi(args->tool.device), &gpu);
	if (err)
		return err;
	err = cu_check(how->alloc(&mem, b.size, true, true), how->name);
	if (!err) {
		b.ptr = mem.ptr;
		err = apiperf_life(&b, set, NULL);
		if (cu_check(how->free(&mem), "freeing device memory") && !err)
			err = -EIO;
	}
	gpu_close(&gpu);
	return err;
}

int apiperf_first_child(const struct apiperf_args *args)
{
	struct apiperf_set set;
	size_t c;
	int err;

	apiperf_set_init(&set);
	err = child_measure(args, &set);
	for (c = 0; c < CALLS && !err; c++)
		printf("%.3f\n", set.of[c].us[0]);
	apiperf_set_free(&set);
	return err || fflush(stdout) ? 1 : 0;
}

/* This program once more, with standard output into the pipe. */
static int start(const struct apiperf *a, size_t size, int out, pid_t *pid)
{
	const struct apiperf_args *args = a->args;
	char device[16], bytes[24];
	char *argv[] = {
		(char *)(uintptr_t)a->tool.report.tool, (char *)(uintptr_t)"--first-calls-child",
		(char *)(uintptr_t)"-d", device, (char *)(uintptr_t)"-s", bytes,
		(char *)(uintptr_t)"-a",
		(char *)(uintptr_t)gpu_allocator_names[args->tool.alloc],
		(char *)(uintptr_t)"-M",
		(char *)(uintptr_t)window_mapping_names[args->tool.mapping],
		(char *)(uintptr_t)(args->tool.soft ? "--soft" : NULL), NULL,
	};
	posix_spawn_file_actions_t actions;
	int err;

	snprintf(device, sizeof(device), "%d", a->tool.gpu.ordinal);
	snprintf(bytes, sizeof(bytes), "%zu", size);
	err = posix_spawn_file_actions_init(&actions);
	if (err)
		return -err;
	err = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	if (!err)
		err = posix_spawn(pid, "/proc/self/exe", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return -err;
}

/* As many numbers as there are calls. */
static bool read_times(FILE *in, double *us)
{
	char line[64], *end;
	size_t c;

	for (c = 0; c < CALLS && fgets(line, sizeof(line), in); c++) {
		us[c] = strtod(line, &end);
		if (end == line || *end != '\n')
			break;
	}
	return c == CALLS;
}

static int end_of(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* Run one, and read what it prints.  0 or -errno. */
static int run_child(const struct apiperf *a, size_t size, double *us)
{
	int ends[2], err;
	bool complete;
	pid_t pid = -1;
	FILE *in;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	in = fdopen(ends[0], "r");
	if (!in) {
		err = -errno;
		close(ends[0]);
		close(ends[1]);
		return err;
	}
	err = start(a, size, ends[1], &pid);
	close(ends[1]);
	if (err) {
		fclose(in);
		return err;
	}
	complete = read_times(in, us);
	fclose(in);
	return end_of(pid) == 0 && complete ? 0 : -EIO;
}

static int one_process(struct apiperf *a, size_t size)
{
	double us[CALLS] = { 0 };
	size_t c;
	int err = run_child(a, size, us);

	if (err)
		return err;
	for (c = 0; c < CALLS; c++) {
		if (apiperf_samples_reserve(&a->set.of[c]))
			return -ENOMEM;
		apiperf_samples_add(&a->set.of[c], us[c]);
	}
	return 0;
}

int apiperf_first(struct apiperf *a, size_t size, gdr_info_t *info)
{
	struct apiperf_buffer b = {
		.ptr = a->dev.ptr, .size = size, .map_flags = (int)a->args->tool.mapping,
	};
	size_t i;
	int err;

	apiperf_set_clear(&a->set);
	/* For a later GPU these are no longer the first; they only tell what the mapping is. */
	err = apiperf_life(&b, a->tool.at ? NULL : &a->set, NULL);
	if (err)
		return err;
	*info = b.info;
	for (i = a->tool.at ? 0 : 1; i < a->args->first && !err && !bench_stopped(); i++)
		err = one_process(a, size);
	/* A signal goes to all processes of a terminal. */
	if (err && bench_stopped())
		return 0;
	if (err)
		fprintf(stderr, "ERROR: a process for the first calls (--first): %s\n",
			strerror(-err));
	return err;
}
