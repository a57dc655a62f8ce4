/* SPDX-License-Identifier: MIT */
/*
 * What gdrcopy_pplat and its kernels have in common: pplat.cu for a GPU, and
 * softcuda's.  Included by device code: no other header, no fixed-width names.
 *
 * Flags count up.  Each block says PPLAT_READY in its word of cpu_flags first.
 *   The CPU produces: in round r it puts r into gpu_flag, and each block answers
 *   with PPLAT_READY + r.
 *   The GPU produces: round r begins once gpu_flag is 2 r - 1 or more.  Each block
 *   then puts PPLAT_READY + r, and the CPU answers with 2 r, or with 2 r + 1, which
 *   lets the next round begin at once.
 */
#ifndef TOOLS_PPLAT_KERNEL_H
#define TOOLS_PPLAT_KERNEL_H

#define PPLAT_READY        1u
#define PPLAT_ROUNDS_MAX   (1u << 24)
/* Failed looks at the flag between two at the word that ends the kernel, and the clock. */
#define PPLAT_POLLS        1024u
/* What a kernel lasts at least, counted from the first timed round. */
#define PPLAT_SPAN_NS      1000000u

enum pplat_why {
	PPLAT_COMPLETE = 0,     /* all rounds were made */
	PPLAT_STOPPED,          /* the CPU asked for the end */
	PPLAT_PATIENCE,         /* the flag did not come */
};

/* The one argument of all kernels.  Addresses are the GPU's. */
struct pplat_args {
	unsigned long long gpu_flag;    /* a word: the CPU writes, all blocks poll */
	unsigned long long cpu_flags;   /* a word a block: it writes, the CPU polls */
	unsigned long long data;        /* words, in one share a block; 16-byte aligned */
	unsigned long long stop;        /* a word: not 0 ends the kernel */
	unsigned long long reports;     /* struct pplat_report a block, zeroed */
	unsigned long long samples;     /* the GPU produces: 8 bytes a round, block 0's */
	unsigned long long patience_ns; /* for one flag; 0: for ever */
	unsigned int rounds;            /* warm-up included; up to PPLAT_ROUNDS_MAX */
	unsigned int warmup;
	unsigned int words;             /* of data */
	unsigned int verify_every;      /* rounds; 0: the data never change */
};

struct pplat_report {
	/* At the first timed round and at the end, as the GPU's two clocks had it. */
	unsigned long long begin_ns, end_ns, begin_ticks, end_ticks;
	unsigned int rounds;            /* complete ones */
	unsigned int why;               /* enum pplat_why */
	unsigned int bad;               /* rounds in which its share had a wrong word */
	unsigned int bad_taken;         /* not 0: the next three are valid */
	/* Of one of them: the round, the first of the 4 words it looked at, and its value. */
	unsigned int bad_round, bad_word, bad_value;
	unsigned int put;               /* what it last put into its flag */
};

/* Words of a share.  The last block's may be shorter, or empty. */
#define PPLAT_SHARE(words, blocks) \
	((((words) + (blocks) - 1) / (blocks) + 3) / 4 * 4)

/* The number that the data of a round carry: that of the last round that is verified. */
#define PPLAT_SEED(round, every) ((every) ? (round) - (round) % (every) : 0u)

/* Word number w of data with a seed.  The factors are odd: another seed, another word. */
#define PPLAT_WORD(seed, w) ((seed) * 0x9e3779b1u + (w) * 0x85ebca6bu)

#endif
