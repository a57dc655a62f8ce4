/* SPDX-License-Identifier: MIT */
/* The two fences that the measurements are made of. */
#ifndef TOOLS_FENCE_H
#define TOOLS_FENCE_H

/* Earlier stores, write-combined ones included, leave before later stores. */
static inline void fence_stores(void)
{
#if defined(__x86_64__)
	__asm__ volatile("sfence" ::: "memory");
#elif defined(__aarch64__)
	__asm__ volatile("dmb st" ::: "memory");
#elif defined(__powerpc64__)
	__asm__ volatile("sync" ::: "memory");
#else
	__sync_synchronize();
#endif
}

/* Earlier loads are complete before later accesses. */
static inline void fence_loads(void)
{
#if defined(__x86_64__)
	__asm__ volatile("lfence" ::: "memory");
#elif defined(__aarch64__)
	__asm__ volatile("dmb sy" ::: "memory");
#elif defined(__powerpc64__)
	__asm__ volatile("sync" ::: "memory");
#else
	__sync_synchronize();
#endif
}

#endif
