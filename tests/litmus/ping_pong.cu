// SPDX-License-Identifier: MIT
//
// The GPU's side of the litmus tests: wait for a flag, check the data that it
// announces, write data of its own, then a flag.  All words have the number of
// the round.  A flag of ~0 ends it early.  What went wrong is left in result:
// violations, the first one's round, and what it saw.
//
// ping_pong.ptx is made of this by clang, with no CUDA toolkit:
//
//	{ echo '// SPDX-License-Identifier: MIT'
//	  clang -x cuda --cuda-device-only --cuda-gpu-arch=sm_70 -nocudainc \
//		-nocudalib -O2 -S -o - ping_pong.cu; } >ping_pong.ptx
//
typedef unsigned int u32;

#define DEVICE static __attribute__((device)) inline

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

extern "C" __attribute__((global)) void litmus_ping_pong(const u32 *flag_in, const u32 *data_in,
		u32 *flag_out, u32 *data_out, u32 *result, u32 words, u32 stride, u32 rounds)
{
	u32 bad = 0, bad_round = 0, bad_value = 0;

	for (u32 r = 1; r <= rounds; r++) {
		u32 flag;

		do {
			flag = load_acquire(flag_in);
		} while (flag != r && flag != ~0u);
		if (flag == ~0u)
			break;
		for (u32 i = 0; i < words; i += stride) {
			u32 v = load_relaxed(data_in + i);

			if (v != r && !bad++) {
				bad_round = r;
				bad_value = v;
			}
		}
		for (u32 i = 0; i < words; i += stride)
			store_relaxed(data_out + i, r);
		store_release(flag_out, r);
	}
	result[0] = bad;
	result[1] = bad_round;
	result[2] = bad_value;
}
