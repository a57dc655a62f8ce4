/* SPDX-License-Identifier: MIT */
/*
 * What fork does to the library.  Mappings are not inherited (MADV_DONTFORK);
 * the fork lock keeps a fork from falling between mmap and madvise.  The
 * registry is consistent in the child, because fork takes its lock, and the
 * child finds every inherited handle unmapped.
 */
#include <pthread.h>
#include <unistd.h>

#include "context.h"
#include "handle.h"
#include "parallel.h"
#include "rm_gpu.h"

/* Readers make mappings, the writer forks; writers first, so that fork never starves. */
static pthread_rwlock_t fork_lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;

/* Written by the one thread that a new child has. */
static unsigned forks;

static void before_fork(void)
{
	pthread_rwlock_wrlock(&fork_lock);
	pthread_mutex_lock(&registry_lock);
}

static void after_fork_parent(void)
{
	pthread_mutex_unlock(&registry_lock);
	pthread_rwlock_unlock(&fork_lock);
}

static void after_fork_child(void)
{
	forks++;
	gdr_handle_forget_mappings();
	gdr_rm_gpu_after_fork_child();
	gdr_parallel_after_fork_child();
	pthread_mutex_unlock(&registry_lock);
	/* Unlocking would be by another thread id than the one that locked. */
	fork_lock = (pthread_rwlock_t)PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
}

__attribute__((constructor)) static void register_handlers(void)
{
	pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

struct gdr_owner gdr_owner_self(void)
{
	return (struct gdr_owner){ .pid = getpid(), .forks = forks };
}

bool gdr_owner_is_self(const struct gdr_owner *owner)
{
	return owner->pid == getpid() && owner->forks == forks;
}

void gdr_fork_hold(void)
{
	pthread_rwlock_rdlock(&fork_lock);
}

void gdr_fork_release(void)
{
	pthread_rwlock_unlock(&fork_lock);
}

void gdr_registry_lock(void)
{
	pthread_mutex_lock(&registry_lock);
}

void gdr_registry_unlock(void)
{
	pthread_mutex_unlock(&registry_lock);
}
