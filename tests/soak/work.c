/* SPDX-License-Identifier: MIT */
/* Which operation comes next, and the account of it. */
#include "soak.h"

static const struct {
	bool (*run)(struct soak_worker *w);
	unsigned weight;
} operations[SOAK_OPS] = {
#define X(name, weight) { soak_op_##name, weight },
	SOAK_OPERATIONS(X)
#undef X
};

const char *const soak_names[SOAK_OPS] = {
#define X(name, weight) #name,
	SOAK_OPERATIONS(X)
#undef X
};

static int choose(struct soak_worker *w)
{
	static const unsigned total = 0
#define X(name, weight) + (weight)
		SOAK_OPERATIONS(X)
#undef X
		;
	size_t at = soak_below(w, total);
	int op = 0;

	while (at >= operations[op].weight)
		at -= operations[op++].weight;
	return op;
}

bool soak_op_idle(struct soak_worker *w)
{
	return false;
}

void soak_operation(struct soak_worker *w)
{
	int op = choose(w);

	w->seen->doing = op;
	w->seen->since = soak_ms();
	if (operations[op].run(w))
		w->seen->count[op]++;
	w->done++;
}

/* In an order that differs each time: memory, pins and contexts may go first or last. */
void soak_drop(struct soak_worker *w)
{
	unsigned i;

	w->seen->doing = OP_unpin;
	if (soak_below(w, 2))
		while (soak_op_close(w))
			;
	for (i = 0; i < SOAK_BUFFERS_MAX; i++) {
		struct soak_buffer *b = &w->buffers[i];
		unsigned p;

		w->seen->since = soak_ms();
		if (b->ptr && !b->freed && soak_below(w, 2))
			soak_release(b);
		for (p = 0; p < SOAK_PINS; p++)
			if (b->pins[p].buffer)
				soak_unpin(&b->pins[p]);
		if (b->ptr && !b->freed)
			soak_release(b);
		soak_forget(b);
	}
	while (soak_op_close(w))
		;
	w->seen->doing = OP_idle;
}
