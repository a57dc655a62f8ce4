/* SPDX-License-Identifier: MIT */
/*
 * What a machine and a process hold of GPU memory, so that two moments can be
 * compared.  What cannot be read here is -1.
 */
#ifndef SOAK_LEFT_H
#define SOAK_LEFT_H

#include <stdbool.h>

#define LEFT_MACHINE(X) \
	X(pins, "pins of gdrdrv") \
	X(pinned_bytes, "bytes pinned by gdrdrv") \
	X(mappings, "mappings of gdrdrv") \
	X(mapped_bytes, "bytes mapped by gdrdrv") \
	X(held, "pins not taken back from gdrdrv") \
	X(sim_pins, "pins of the simulated GPU") \
	X(sim_persistent, "persistent pins of the simulated GPU") \
	X(sim_memories, "memories of the simulated GPU") \
	X(sim_registrations, "addresses of the simulated GPU") \
	X(sim_damage, "free pages of the simulated GPU that were written to") \
	X(gpu_used, "bytes of GPU memory in use") \
	X(bar1_used, "bytes of BAR1 in use")

struct left_machine {
#define X(field, text) long long field;
	LEFT_MACHINE(X)
#undef X
};

struct left_process {
	int descriptors;
	int maps;
	long long free_bytes;           /* cuMemGetInfo */
};

/* soft: on softcuda, so that a real GPU is none of our concern. */
void left_machine_look(bool soft, struct left_machine *out);

/*
 * Number of figures of which there is more now than before, GPU memory and BAR1
 * by more than slack; each is said on stderr after who.  quiet: just count.
 */
int left_machine_more(const struct left_machine *before, const struct left_machine *now,
		      long long slack, const char *who, bool quiet);

/* The same once it is not so any more, or after 10 s; what there was last is in *now. */
int left_machine_settled(bool soft, const struct left_machine *before, long long slack,
			 const char *who, struct left_machine *now);

/* All that can be read here, in one line. */
void left_machine_print(const char *label, const struct left_machine *m);

/* Needs a current CUDA context. */
void left_process_look(struct left_process *out);
/* The number of figures that differ by more than may be: of bytes, and of files or mappings. */
int left_process_more(const struct left_process *before, const struct left_process *now,
		      long long bytes, int files, const char *who);

#endif
