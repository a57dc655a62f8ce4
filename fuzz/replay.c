/* SPDX-License-Identifier: MIT */
/* Runs a target on files, or on all files of directories: its corpus as a test. */
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#include "input.h"

static unsigned runs;

/* In memory of exactly its size, so that a byte too far is seen. */
static void run_file(const char *path)
{
	FILE *f = fopen(path, "re");
	uint8_t *data;
	struct stat st;

	if (!f || fstat(fileno(f), &st) != 0) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(EXIT_FAILURE);
	}
	data = malloc((size_t)st.st_size + !st.st_size);
	if (!data || fread(data, 1, (size_t)st.st_size, f) != (size_t)st.st_size)
		abort();
	fclose(f);
	fprintf(stderr, "%s\n", path);
	LLVMFuzzerTestOneInput(data, (size_t)st.st_size);
	free(data);
	runs++;
}

static void run_all(const char *path)
{
	struct dirent **names;
	int i, n = scandir(path, &names, NULL, alphasort);
	char file[4096];

	if (n < 0) {
		run_file(path);
		return;
	}
	for (i = 0; i < n; i++) {
		snprintf(file, sizeof(file), "%s/%s", path, names[i]->d_name);
		if (names[i]->d_name[0] != '.')
			run_file(file);
		free(names[i]);
	}
	free(names);
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		run_all(argv[i]);
	fprintf(stderr, "%u inputs\n", runs);
	return runs ? EXIT_SUCCESS : EXIT_FAILURE;
}
