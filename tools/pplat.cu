// SPDX-License-Identifier: MIT
//
// The GPU's side of gdrcopy_pplat; the protocol is in pplat_kernel.h.  With data,
// flags are acquired and released at system scope, so that whoever sees a flag sees
// the data before it; a flag alone has nothing to order, and is relaxed.
//
// pplat.ptx is made of this by clang, with no CUDA toolkit; CUDA drivers that know
// sm_70 or anything newer compile it for the GPU at hand:
//
//	{ echo '// SPDX-License-Identifier: MIT'
//	  clang -x cuda --cuda-device-only --cuda-gpu-arch=sm_70 -nocudainc \
//		-nocudalib -O2 -S -o - pplat.cu; } >pplat.ptx
//
#include "pplat_kernel.h"

typedef unsigned int u32;
typedef unsigned long long u64;

#define DEVICE static __attribute__((device)) inline
#define KERNEL extern "C" __attribute__((global, launch_bounds(1024))) void
#define UNROLL 2        /* pieces of 16 bytes a thread has under way */

struct quad {
	u32 w[4];
};

DEVICE u32 load_acquire(const u32 *p)
{
	u32 v;

	asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
	return v;
}

DEVICE void store_release(u32 *p, u32 v)
{
	asm volatile("st.release.sys.u32 [%0], %1;" :: "l"(p), "r"(v) : "memory");
}

DEVICE u32 load_relaxed(const u32 *p)
{
	u32 v;

	asm volatile("ld.relaxed.sys.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
	return v;
}

DEVICE void store_relaxed(u32 *p, u32 v)
{
	asm volatile("st.relaxed.sys.u32 [%0], %1;" :: "l"(p), "r"(v) : "memory");
}

DEVICE quad load_quad(const u32 *p)
{
	quad q;

	asm volatile("ld.relaxed.sys.v4.u32 {%0, %1, %2, %3}, [%4];"
		     : "=r"(q.w[0]), "=r"(q.w[1]), "=r"(q.w[2]), "=r"(q.w[3]) : "l"(p) : "memory");
	return q;
}

DEVICE void store_quad(u32 *p, u32 first, u32 step)
{
	asm volatile("st.relaxed.sys.v4.u32 [%0], {%1, %2, %3, %4};"
		     :: "l"(p), "r"(first), "r"(first + step), "r"(first + 2 * step),
			"r"(first + 3 * step) : "memory");
}

DEVICE u64 nanoseconds()
{
	u64 t;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t) :: "memory");
	return t;
}

DEVICE u64 ticks()
{
	u64 t;

	asm volatile("mov.u64 %0, %%clock64;" : "=l"(t) :: "memory");
	return t;
}

DEVICE u32 exchange(u32 *p, u32 v)
{
	u32 old;

	asm volatile("atom.global.exch.b32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(v) : "memory");
	return old;
}

DEVICE u32 thread()
{
	return __nvvm_read_ptx_sreg_tid_x();
}

DEVICE u32 threads()
{
	return __nvvm_read_ptx_sreg_ntid_x();
}

DEVICE u32 block()
{
	return __nvvm_read_ptx_sreg_ctaid_x();
}

// This block's words are [lo, hi); lo is a multiple of 4.
struct share {
	u32 lo, hi;
};

DEVICE share my_share(const pplat_args &a)
{
	u32 n = PPLAT_SHARE(a.words, __nvvm_read_ptx_sreg_nctaid_x());
	u32 lo = block() * n < a.words ? block() * n : a.words;

	return share{ lo, a.words - lo < n ? a.words : lo + n };
}

// Once the flag is want or beyond it, its value.  If it does not come, *why is set.
template <bool acquire>
DEVICE u32 wait(const pplat_args &a, u32 want, u32 *why)
{
	const u32 *flag = (const u32 *)a.gpu_flag;
	u64 since = 0;

	for (u32 polls = 1;; polls++) {
		u32 v = acquire ? load_acquire(flag) : load_relaxed(flag);

		if (v >= want)
			return v;
		if (polls % PPLAT_POLLS)
			continue;
		if (load_relaxed((const u32 *)a.stop)) {
			*why = PPLAT_STOPPED;
			return 0;
		}
		if (!since)
			since = nanoseconds();
		if (a.patience_ns && nanoseconds() - since > a.patience_ns) {
			*why = PPLAT_PATIENCE;
			return 0;
		}
	}
}

// Whether q is not what the data should have from word number w on; if so, tells.
DEVICE u32 differs(pplat_report *rep, quad q, u32 seed, u32 round, u32 w)
{
	u32 diff = 0;

#pragma unroll
	for (u32 j = 0; j < 4; j++)
		diff |= q.w[j] ^ PPLAT_WORD(seed, w + j);
	if (!diff)
		return 0;
	if (!exchange(&rep->bad_taken, 1)) {
		rep->bad_round = round;
		rep->bad_word = w;
		rep->bad_value = q.w[0];
	}
	return 1;
}

// Whether this thread saw a wrong word in its part of the block's share.
DEVICE u32 check(const pplat_args &a, share s, pplat_report *rep, u32 round)
{
	const u32 *data = (const u32 *)a.data + s.lo;
	u32 seed = PPLAT_SEED(round, a.verify_every);
	u32 quads = (s.hi - s.lo) / 4, stride = threads(), bad = 0;

	for (u32 i = thread(); i < quads; i += UNROLL * stride) {
		quad q[UNROLL];

#pragma unroll
		for (u32 k = 0; k < UNROLL; k++)
			if (i + k * stride < quads)
				q[k] = load_quad(data + 4 * (i + k * stride));
#pragma unroll
		for (u32 k = 0; k < UNROLL; k++)
			if (i + k * stride < quads)
				bad |= differs(rep, q[k], seed, round,
					       s.lo + 4 * (i + k * stride));
	}
	for (u32 i = 4 * quads + thread(); i < s.hi - s.lo; i += stride) {
		u32 w = s.lo + i;
		quad q = { { load_relaxed(data + i), PPLAT_WORD(seed, w + 1),
			     PPLAT_WORD(seed, w + 2), PPLAT_WORD(seed, w + 3) } };

		bad |= differs(rep, q, seed, round, w);
	}
	return bad;
}

DEVICE void fill(const pplat_args &a, share s, u32 round)
{
	u32 *data = (u32 *)a.data;
	u32 seed = PPLAT_SEED(round, a.verify_every);
	u32 quads = (s.hi - s.lo) / 4;

	for (u32 i = thread(); i < quads; i += threads()) {
		u32 w = s.lo + 4 * i;

		store_quad(data + w, PPLAT_WORD(seed, w), PPLAT_WORD(0, 1));
	}
	for (u32 w = s.lo + 4 * quads + thread(); w < s.hi; w += threads())
		store_relaxed(data + w, PPLAT_WORD(seed, w));
}

template <bool with_data>
DEVICE void put(const pplat_args &a, u32 value)
{
	u32 *flag = (u32 *)a.cpu_flags + block();

	if (with_data)
		store_release(flag, value);
	else
		store_relaxed(flag, value);
}

DEVICE void begin(pplat_report *rep)
{
	rep->begin_ns = nanoseconds();
	rep->begin_ticks = ticks();
}

DEVICE void end(pplat_report *rep, u32 rounds, u32 put, u32 why, u32 bad)
{
	// Long enough for the one clock to be measured by the other, whose steps may be
	// a microsecond.
	do {
		rep->end_ns = nanoseconds();
		rep->end_ticks = ticks();
	} while (rep->end_ns - rep->begin_ns < PPLAT_SPAN_NS);
	rep->rounds = rounds;
	rep->put = put;
	rep->why = why;
	rep->bad = bad;
}

// Only thread 0 of a block deals with flags.  The others learn of the end, as of
// everything, through the barriers; these also keep the answer behind the loads.
template <bool with_data>
DEVICE void consume(const pplat_args &a)
{
	pplat_report *rep = (pplat_report *)a.reports + block();
	share s = my_share(a);
	u32 r, why = 0, bad = 0;
	bool lead = !thread();

	if (lead)
		put<true>(a, PPLAT_READY);
	for (r = 1; r <= a.rounds; r++) {
		if (lead && r == a.warmup + 1)
			begin(rep);
		if (lead)
			wait<with_data>(a, r, &why);
		if (with_data ? __nvvm_bar0_or((int)why) : (int)why)
			break;
		if (with_data)
			bad += !!__nvvm_bar0_or((int)check(a, s, rep, r));
		if (lead)
			put<with_data>(a, PPLAT_READY + r);
	}
	if (lead)
		end(rep, r - 1, PPLAT_READY + r - 1, why, bad);
}

template <bool with_data>
DEVICE void produce(const pplat_args &a)
{
	pplat_report *rep = (pplat_report *)a.reports + block();
	share s = my_share(a);
	u32 seen = 0, done = 0, last = 0, why = 0;
	bool lead = !thread();

	if (lead)
		put<true>(a, PPLAT_READY);
	for (u32 r = 1; r <= a.rounds; r++) {
		u64 start = 0;

		if (lead && !why && seen < 2 * r - 1)
			wait<with_data>(a, 2 * r - 1, &why);
		if (lead && r == a.warmup + 1)
			begin(rep);
		if (lead)
			start = ticks();
		if (with_data ? __nvvm_bar0_or((int)why) : (int)why)
			break;
		if (with_data) {
			fill(a, s, r);
			__syncthreads();
		}
		if (!lead)
			continue;
		put<with_data>(a, PPLAT_READY + r);
		last = r;
		seen = wait<with_data>(a, 2 * r, &why);
		if (why)
			continue;
		if (!block())
			((u64 *)a.samples)[r - 1] = ticks() - start;
		done = r;
	}
	if (lead)
		end(rep, done, PPLAT_READY + last, why, 0);
}

KERNEL pplat_cpu_flag(pplat_args a)
{
	consume<false>(a);
}

KERNEL pplat_cpu_data(pplat_args a)
{
	consume<true>(a);
}

KERNEL pplat_gpu_flag(pplat_args a)
{
	produce<false>(a);
}

KERNEL pplat_gpu_data(pplat_args a)
{
	produce<true>(a);
}
