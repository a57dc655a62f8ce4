/* SPDX-License-Identifier: MIT */
/*
 * Children: every control call is EACCES, no mapping is there, and closing what
 * was inherited reaches nothing of the parent's.  Then they exit, or become
 * another program, which has inherited no driver.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "forks.h"
#include "soak.h"

/* What is wrong in the child; 0: nothing. */
static int look(const struct soak_pin *p, gdr_t g)
{
	gdr_mh_t mh = p ? p->mh : (gdr_mh_t){ 1 };
	gdr_info_t info;
	char byte = 0;
	int flag;

	/* first: no call of ours has mapped anything there yet */
	if (p && p->map && (msync(p->map, 4096, MS_ASYNC) == 0 || errno != ENOMEM))
		return 2;
	if (gdr_get_callback_flag(g, mh, &flag) != EACCES ||
	    gdr_get_info(g, mh, &info) != EACCES)
		return 3;
	if (gdr_unpin_buffer(g, mh) != EACCES)
		return 4;
	if (p && p->map && (gdr_copy_to_mapping(mh, p->map, &byte, 1) != EINVAL ||
			    gdr_copy_from_mapping(mh, &byte, p->map, 1) != EINVAL))
		return 5;
	if (gdr_unmap(g, mh, NULL, 4096) != EACCES)
		return 6;
	if (gdr_close(g) != 0)
		return 7;
	return 0;
}

static void child(const struct soak_pin *p, gdr_t g, bool exec)
{
	int wrong = look(p, g);

	if (!wrong && exec) {
		execl("/proc/self/exe", "soak", FORKS_INHERITED, (char *)NULL);
		wrong = 8;
	}
	_exit(wrong);
}

static bool fork_one(struct soak_worker *w, bool exec)
{
	const struct soak_pin *p = soak_pick_pin(w, -1);
	int status = 0;
	pid_t pid;

	/* not a buffer's that CUDA has freed and the driver revoked: there it is another errno */
	if (p && !soak_is_good(p))
		p = NULL;
	pid = fork();
	if (pid == 0)
		child(p, p ? p->g : soak.shared[0], exec);
	CHECK(pid > 0);
	while (waitpid(pid, &status, 0) != pid)
		CHECK(errno == EINTR);
	if (status)
		FAIL("the child ended with status 0x%x", status);
	if (p)
		soak_look(w, p->buffer, 0, 4096);
	return true;
}

bool soak_op_fork(struct soak_worker *w)
{
	return fork_one(w, false);
}

bool soak_op_fork_exec(struct soak_worker *w)
{
	return fork_one(w, true);
}

int forks_look_at_inherited(void)
{
	DIR *dir = opendir("/proc/self/fd");
	char path[300], target[300];
	struct dirent *e;
	int wrong = 0;
	ssize_t n;

	while (dir && (e = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/fd/%s", e->d_name);
		n = readlink(path, target, sizeof(target) - 1);
		if (n < 0)
			continue;
		target[n] = '\0';
		if (!strcmp(target, "/dev/gdrdrv")) {
			fprintf(stderr, "descriptor %s of %s was inherited\n", e->d_name, target);
			wrong = 1;
		}
	}
	if (dir)
		closedir(dir);
	return wrong;
}
