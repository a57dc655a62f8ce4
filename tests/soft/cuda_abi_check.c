/* SPDX-License-Identifier: MIT */
/*
 * Description: src/cuda_abi.h has the numbers and layouts of NVIDIA's cuda.h.
 * Usage: cuda_abi_check CUDA_ABI_H.  Every name that the header defines has to
 * be compared; 77 where there is no cuda.h of 13.0 or later to compare with.
 */
#include <stdlib.h>
#include <string.h>

#include "cuda_abi_dump.h"

static char *collect(void (*dump)(FILE *out))
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		abort();
	dump(f);
	fclose(f);
	return text;
}

/* Is there a line "name value"? */
static int compared(const char *text, const char *name, size_t n)
{
	for (const char *p = text; (p = strstr(p, name)); p++)
		if ((p == text || p[-1] == '\n') && p[n] == ' ')
			return 1;
	return 0;
}

/* Names of the header's enumerators and macros that no line is about. */
static int missing(const char *path, const char *text)
{
	char line[512], name[128];
	int count = 0, seen = 0;
	FILE *f = fopen(path, "r");

	if (!f) {
		perror(path);
		return 1;
	}
	while (fgets(line, sizeof(line), f)) {
		char eq = 0;

		if (sscanf(line, " CU%100[A-Z0-9_] %c", name + 2, &eq) != 2 || eq != '=')
			if (sscanf(line, "#define CU%100[A-Z0-9_] %c", name + 2, &eq) != 2)
				continue;
		memcpy(name, "CU", 2);
		seen++;
		if (!compared(text, name, strlen(name))) {
			fprintf(stderr, "%s is not compared\n", name);
			count++;
		}
	}
	fclose(f);
	if (seen < 50) {
		fprintf(stderr, "%s: only %d names recognised\n", path, seen);
		return 1;
	}
	return count;
}

#ifdef HAVE_REAL_CUDA
static int compare(const char *ours, const char *real)
{
	int bad = 0;

	while (*ours && *real) {
		size_t a = strcspn(ours, "\n"), b = strcspn(real, "\n");

		if (a != b || memcmp(ours, real, a)) {
			fprintf(stderr, "ours: %.*s, NVIDIA's: %.*s\n", (int)a, ours, (int)b, real);
			bad = 1;
		}
		ours += a + 1;
		real += b + 1;
	}
	return bad || *ours || *real;
}
#endif

int main(int argc, char **argv)
{
	char *ours = collect(dump_ours);
	int status = argc == 2 && !missing(argv[1], ours) ? 0 : 1;

#ifdef HAVE_REAL_CUDA
	char *real = collect(dump_real);

	if (compare(ours, real))
		status = 1;
	free(real);
#else
	if (!status) {
		puts("skipped: no cuda.h of CUDA 13.0 or later on this machine");
		status = 77;
	}
#endif
	free(ours);
	return status;
}
