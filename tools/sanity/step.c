/* SPDX-License-Identifier: MIT */
/* Single-stepping with the processor's trap flag; see step.h. */
#include "step.h"

#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "session.h"

#if defined(__x86_64__)

#define TRAP_FLAG 0x100

static struct step *stepping;
static uint64_t was[STEP_WORDS];

/* 0F AE F8 SFENCE, F0 MFENCE, E8 LFENCE; Intel SDM volume 2. */
static void look_at(const unsigned char *insn, struct step *s)
{
	if (insn[0] != 0x0f || insn[1] != 0xae)
		return;
	if (insn[2] == 0xf8 || insn[2] == 0xf0)
		s->fence_after = true;
	if (insn[2] == 0xe8 || insn[2] == 0xf0)
		s->load_fences++;
}

/* After every instruction; the next one is what the context points to. */
static void trapped(int sig, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;
	struct step *s = stepping;
	bool changed = false;
	unsigned i;

	if (!s)
		return;
	s->instructions++;
	for (i = 0; i < s->words; i++) {
		uint64_t word = s->at[i];

		if (word == was[i])
			continue;
		changed = true;
		s->seen[i] = word;
		s->at[i] = was[i];
	}
	if (changed) {
		s->stores++;
		s->fence_after = false;
	}
	look_at((const unsigned char *)uc->uc_mcontext.gregs[REG_RIP], s);
}

/* ThreadSanitizer holds signals back, and a step is a signal. */
#if defined(__SANITIZE_THREAD__)
#define STEPPING false
#elif defined(__has_feature)
#define STEPPING (!__has_feature(thread_sanitizer))
#else
#define STEPPING true
#endif

bool step_available(void)
{
	return STEPPING;
}

/* Not inlined, so that the flag is set and cleared just around the call. */
static __attribute__((noinline)) void trace(void (*fn)(void *arg), void *arg)
{
	/* Below the red zone of this function. */
	__asm__ volatile("leaq -128(%%rsp), %%rsp\n\t"
			 "pushfq\n\t"
			 "orq %0, (%%rsp)\n\t"
			 "popfq\n\t"
			 "leaq 128(%%rsp), %%rsp" :: "i"(TRAP_FLAG) : "cc", "memory");
	fn(arg);
	__asm__ volatile("leaq -128(%%rsp), %%rsp\n\t"
			 "pushfq\n\t"
			 "andq %0, (%%rsp)\n\t"
			 "popfq\n\t"
			 "leaq 128(%%rsp), %%rsp" :: "i"(~TRAP_FLAG) : "cc", "memory");
}

void step_call(struct step *s, void (*fn)(void *arg), void *arg)
{
	struct sigaction sa = { .sa_sigaction = trapped, .sa_flags = SA_SIGINFO }, old;
	unsigned i;

	CHECK(s->words <= STEP_WORDS);
	for (i = 0; i < s->words; i++)
		was[i] = s->at[i];
	sigemptyset(&sa.sa_mask);
	CHECK_SYS(sigaction(SIGTRAP, &sa, &old) == 0);
	stepping = s;
	trace(fn, arg);
	stepping = NULL;
	CHECK_SYS(sigaction(SIGTRAP, &old, NULL) == 0);
}

#else

bool step_available(void)
{
	return false;
}

void step_call(struct step *s, void (*fn)(void *arg), void *arg)
{
	fn(arg);
}

#endif
