/* SPDX-License-Identifier: MIT */
/*
 * Description: processes that do what `soak` does are killed (SIGKILL) at random
 * moments, again and again; each time nothing of theirs stays pinned, mapped,
 * allocated or running.
 *
 * --planted leaves something on purpose, a process that holds a pin, and passes
 * only if that is noticed in everything that can be looked at here.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "left.h"
#include "victims.h"

/* Less than what the smallest pin on a GPU holds. */
#define GPU_SLACK (1LL << 20)
#define ORPHANS_MS 20000

static struct victims_plan plan = { .threads = 4, .window_ms = 20 };
static unsigned long kills = 20;
static unsigned at_once = 1;
static long long slack;
static bool soft, planted;

/* Once two looks agree: a GPU takes a while to take everything back. */
static void look(struct left_machine *out)
{
	struct left_machine last;
	int i;

	left_machine_look(soft, out);
	for (i = 0; i < 50; i++) {
		last = *out;
		usleep(200000);
		left_machine_look(soft, out);
		if (!memcmp(&last, out, sizeof(last)))
			return;
	}
}

static int run(void)
{
	unsigned long in[SOAK_OPS] = { 0 }, bad = 0, done, n;
	struct left_machine before, now;
	char who[64];
	int64_t start, took;
	unsigned i;

	/* What the driver makes once is made by the first ones. */
	victims_kill(&plan, at_once, in);
	victims_left(ORPHANS_MS);
	memset(in, 0, sizeof(in));
	look(&before);
	left_machine_print("before", &before);
	start = soak_ms();
	for (done = 0; done < kills; done += n) {
		n = kills - done < at_once ? kills - done : at_once;
		victims_kill(&plan, (unsigned)n, in);
		snprintf(who, sizeof(who), "kills %lu to %lu", done + 1, done + n);
		if (victims_left(ORPHANS_MS)) {
			fprintf(stderr, "%s: a process is left\n", who);
			return 1;
		}
		if (left_machine_settled(soft, &before, slack, who, &now)) {
			bad++;
			before = now; /* so that the next one is noticed */
		}
	}
	took = soak_ms() - start;
	left_machine_look(soft, &now);
	left_machine_print("after", &now);
	printf("threads were killed in:");
	for (i = 0; i < SOAK_OPS; i++)
		if (in[i])
			printf(" %s %lu", soak_names[i], in[i]);
	printf("\n%lu processes of %u threads killed, %u at once, %.0f ms each; something was left "
	       "%lu times; --seed %llu\n", done, plan.threads, at_once,
	       (double)took / (double)done, bad, (unsigned long long)plan.seed);
	return bad ? 1 : 0;
}

/* Figures that a pin whose memory was freed raises, where they can be read. */
static int missed(const struct left_machine *before, const struct left_machine *now)
{
	const struct {
		long long before, now;
		const char *what;
	} figures[] = {
		{ before->pins, now->pins, "the driver's pins" },
		{ before->pinned_bytes, now->pinned_bytes, "its pinned bytes" },
		{ before->mappings, now->mappings, "its mappings" },
		{ before->mapped_bytes, now->mapped_bytes, "its mapped bytes" },
		{ before->held, now->held, "what NVIDIA's driver has not taken back" },
		{ before->sim_pins + before->sim_persistent, now->sim_pins + now->sim_persistent,
		  "the simulated GPU's pins" },
		{ before->sim_memories, now->sim_memories, "its memories" },
		{ before->gpu_used, now->gpu_used - slack, "the GPU's memory" },
		{ before->bar1_used, now->bar1_used - slack, "its BAR1" },
	};
	int n = 0;
	size_t i;

	for (i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
		if (figures[i].before >= 0 && figures[i].now <= figures[i].before) {
			fprintf(stderr, "killed: not noticed in %s\n", figures[i].what);
			n++;
		}
	}
	return n;
}

static int run_planted(void)
{
	struct left_machine before, now;
	struct holder holder;
	int bad;

	holder_start(&holder);
	look(&before);
	holder_pin(&holder);
	look(&now);
	left_machine_print("before", &before);
	left_machine_print("with a pin", &now);
	bad = missed(&before, &now);
	if (!victims_left(500)) {
		fprintf(stderr, "killed: the process is not noticed\n");
		bad++;
	}
	holder_end(&holder);
	bad += left_machine_settled(soft, &before, slack, "killed: when it had gone", &now);
	bad += victims_left(0);
	printf("a process that holds a pin is %s\n", bad ? "NOT noticed" : "noticed");
	return bad ? 1 : 0;
}

static unsigned long number(const char *text, unsigned long least, unsigned long most)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(text, &end, 0);
	if (errno || end == text || *end || *text == '-' || v < least || v > most) {
		fprintf(stderr, "killed: %s: not a number from %lu to %lu\n", text, least, most);
		exit(2);
	}
	return v;
}

static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "at-once", required_argument, NULL, 'a' },
		{ "threads", required_argument, NULL, 't' },
		{ "window", required_argument, NULL, 'w' },
		{ "seed", required_argument, NULL, 'r' },
		{ "planted", no_argument, NULL, 'p' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'a':
			at_once = (unsigned)number(optarg, 1, VICTIMS_MAX);
			break;
		case 't':
			plan.threads = (unsigned)number(optarg, 1, SOAK_THREADS_MAX);
			break;
		case 'w':
			plan.window_ms = (double)number(optarg, 0, 10000);
			break;
		case 'r':
			plan.seed = number(optarg, 1, ULONG_MAX);
			break;
		case 'p':
			planted = true;
			break;
		default:
			fprintf(stderr, "usage: killed [--at-once N] [--threads N] [--window MS] "
				"[--seed N] [--planted] [KILLS]\n");
			exit(2);
		}
	}
	if (optind < argc)
		kills = number(argv[optind], 1, 1000000);
}

int main(int argc, char **argv)
{
	victims_main(argc, argv);
	plan.seed = (uint64_t)time(NULL);
	parse(argc, argv);
	soft = cu_soft_wanted();
	slack = soft ? 0 : GPU_SLACK;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1)) {
		perror("killed: prctl");
		return 1;
	}
	return planted ? run_planted() : run();
}
