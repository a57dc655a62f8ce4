/* SPDX-License-Identifier: MIT */
/*
 * Fences, named for what they are used for.  All are also compiler barriers.
 *
 * A mapping is reached through write-combining or device memory, whose stores
 * may sit in buffers of the core and whose loads may be satisfied early.  The
 * ordinary acquire and release of the language say nothing about it, hence
 * these.  copy.c issues them around each copy (see copy.h); code that touches a
 * mapping by plain loads and stores needs them too.
 *
 * Sources: Intel SDM volume 1 section 12.10.3 (streaming loads) and volume 3
 * sections 9.2 and 12.3 (memory ordering, WC); Arm ARM section B2.3 (DMB, outer
 * shareable: a PCIe device is such an observer); Power ISA book II section 4.6.
 */
#ifndef GDR_BARRIER_H
#define GDR_BARRIER_H

#if defined(__x86_64__)
#define GDR_FENCE_STORES        "sfence"
#define GDR_FENCE_RELEASE       "sfence"
#define GDR_FENCE_LOADS         "lfence"
#define GDR_FENCE_STREAMING     "mfence"
#define GDR_FENCE_COHERENT      ""
#elif defined(__aarch64__)
#define GDR_FENCE_STORES        "dmb oshst"
#define GDR_FENCE_RELEASE       "dmb osh"
#define GDR_FENCE_LOADS         "dmb oshld"
#define GDR_FENCE_STREAMING     "dmb osh"
#define GDR_FENCE_COHERENT      "dmb osh"
#elif defined(__powerpc64__)
#define GDR_FENCE_STORES        "sync"
#define GDR_FENCE_RELEASE       "sync"
#define GDR_FENCE_LOADS         "sync"
#define GDR_FENCE_STREAMING     "sync"
#define GDR_FENCE_COHERENT      "sync"
#endif

#ifdef GDR_COPY_TRACE
/* A test, which provides this, sees where fences are and which. */
void gdr_fence_trace(const char *insn);
#else
#define gdr_fence_trace(insn)   ((void)0)
#endif

#ifdef GDR_FENCE_STORES
#define gdr_fence(insn) do {                            \
		gdr_fence_trace(insn);                  \
		__asm__ volatile(insn ::: "memory");    \
	} while (0)
#else
#define GDR_FENCE_STORES        "full"
#define GDR_FENCE_RELEASE       "full"
#define GDR_FENCE_LOADS         "full"
#define GDR_FENCE_STREAMING     "full"
#define GDR_FENCE_COHERENT      "full"
#define gdr_fence(insn) do {                            \
		gdr_fence_trace(insn);                  \
		__sync_synchronize();                   \
	} while (0)
#endif

/*
 * Everything this thread did before is visible to the device no later than any
 * store to the mapping that follows.
 *
 *	host_buffer[0] = 42;                    // pinned memory that the GPU reads
 *	gdr_fence_before_device_stores();
 *	*doorbell = 1;                          // mapping: the GPU polls it
 *
 * On x86 earlier loads are ordered by the architecture and loads of a mapping by
 * gdr_fence_after_device_loads, so that a store fence is enough.
 */
static inline void gdr_fence_before_device_stores(void)
{
	gdr_fence(GDR_FENCE_RELEASE);
}

/*
 * The stores to the mapping leave the write-combining buffers, and are visible
 * to the device no later than any store that follows.
 *
 *	mapping[0] = a;
 *	mapping[1] = b;
 *	gdr_fence_flush_device_stores();
 *	*flag = 1;                              // wherever it is
 *
 * x86 pushes the buffers out at once; Arm and POWER order them and drain them by
 * themselves.  Nothing waits for the arrival: stores to PCIe are posted.
 */
static inline void gdr_fence_flush_device_stores(void)
{
	gdr_fence(GDR_FENCE_STORES);
}

/*
 * Plain loads of the mapping that follow see the device no earlier than the
 * loads before this fence: memory of type WC may be read ahead of time.
 *
 *	while (!*(volatile int *)host_flag)     // pinned memory that the GPU writes
 *		;
 *	gdr_fence_before_device_loads();
 *	value = mapping[0];
 */
static inline void gdr_fence_before_device_loads(void)
{
	gdr_fence(GDR_FENCE_LOADS);
}

/*
 * The same for streaming loads (MOVNTDQA), which the architecture lets be served
 * from a buffer that an earlier streaming load of the same line filled and that
 * nobody snoops.  LFENCE would save 1 % of a load.  Also orders earlier stores
 * before the loads.
 *
 *	do {
 *		gdr_fence_before_streaming_loads();
 *		line = _mm512_stream_load_si512(mapping);
 *	} while (not_ready(line));
 */
static inline void gdr_fence_before_streaming_loads(void)
{
	gdr_fence(GDR_FENCE_STREAMING);
}

/*
 * The loads of the mapping have their values before any later load or store is
 * performed.
 *
 *	ready = mapping[0];
 *	gdr_fence_after_device_loads();
 *	data = mapping[1];                      // not older than ready
 */
static inline void gdr_fence_after_device_loads(void)
{
	gdr_fence(GDR_FENCE_LOADS);
}

/*
 * Orders accesses on both sides of it where the mapping is cached and coherent
 * (type CACHING), except that a load may pass an earlier store on x86.  There
 * the architecture does it and only the compiler is held.
 *
 *	coherent[0] = data;
 *	gdr_fence_coherent();
 *	coherent[1] = 1;
 */
static inline void gdr_fence_coherent(void)
{
	gdr_fence(GDR_FENCE_COHERENT);
}

#endif
