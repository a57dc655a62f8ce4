/* SPDX-License-Identifier: MIT */
/*
 * Description: an IPC handle opens memory for a process of the same user, and for
 * one of another user, who may well know its words, it does not.
 */
#include <grp.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>

#include "soft.h"

#define NOBODY 65534
#define SECRET 0x5ec2e7u

struct peer {
	pid_t pid;
	int socket;
};

/* What opening gave, and the word that was seen. */
struct answer {
	CUresult res;
	uint32_t word;
};

static void run_peer(int socket, bool other_user)
{
	struct answer a = { .res = CUDA_ERROR_UNKNOWN };
	CUipcMemHandle handle;
	CUdeviceptr p;

	if (other_user && (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY)))
		_exit(2);
	with_context(NULL);
	if (read(socket, &handle, sizeof(handle)) != (ssize_t)sizeof(handle))
		_exit(3);
	a.res = cuIpcOpenMemHandle_v2(&p, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
	if (a.res == CUDA_SUCCESS) {
		a.word = peek(p);
		ok(cuIpcCloseMemHandle(p));
	}
	_exit(write(socket, &a, sizeof(a)) != (ssize_t)sizeof(a));
}

/* Before this process knows CUDA, which does not work in its children then. */
static struct peer start_peer(bool other_user)
{
	struct peer p;
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	p.pid = fork();
	assert_true(p.pid >= 0);
	if (!p.pid)
		run_peer(pair[1], other_user);
	close(pair[1]);
	p.socket = pair[0];
	return p;
}

static struct answer ask(struct peer p, CUdeviceptr ptr)
{
	CUipcMemHandle handle;
	struct answer a;
	int status;

	ok(cuIpcGetMemHandle(&handle, ptr));
	assert_int_equal(write(p.socket, &handle, sizeof(handle)), sizeof(handle));
	assert_int_equal(read(p.socket, &a, sizeof(a)), sizeof(a));
	assert_int_equal(waitpid(p.pid, &status, 0), p.pid);
	assert_int_equal(status, 0);
	close(p.socket);
	return a;
}

static struct peer same, other;

static int start_peers(void **state)
{
	same = start_peer(false);
	other = start_peer(true);
	return with_context(state);
}

static void handles_are_of_one_user(void **state)
{
	CUdeviceptr p = alloc(4096);
	struct answer a;

	poke(p, SECRET);
	a = ask(same, p);
	assert_int_equal(a.res, CUDA_SUCCESS);
	assert_int_equal(a.word, SECRET);
	a = ask(other, p);
	assert_int_equal(a.res, CUDA_ERROR_MAP_FAILED);
	assert_int_equal(a.word, 0);
	assert_int_equal(peek(p), SECRET);
	ok(cuMemFree_v2(p));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(handles_are_of_one_user, start_peers,
						without_context),
	};

	if (geteuid() != 0) {
		puts("skipped: only root has another user at hand");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
