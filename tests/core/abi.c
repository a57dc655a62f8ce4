/* SPDX-License-Identifier: MIT */
/* The C half of abi.h, on the shared library; and the symbols found by name. */
#include "abi.h"

#include <dlfcn.h>
#include <stdio.h>

static const char *const names[] = {
	"gdr_open",
	"gdr_close",
	"gdr_pin_buffer",
	"gdr_pin_buffer_v2",
	"gdr_unpin_buffer",
	"gdr_get_callback_flag",
	"gdr_get_info",
	"gdr_get_info_v2",
	"gdr_map",
	"gdr_map_v2",
	"gdr_unmap",
	"gdr_copy_to_mapping",
	"gdr_copy_from_mapping",
	"gdr_runtime_get_version",
	"gdr_driver_get_version",
	"gdr_get_attribute",
	"gdr_get_mapping_type_string",
	"gdrx_backend_name",
	"gdrx_last_error",
	"gdrx_open_report",
	"gdrx_copy_routine",
	"gdrx_copy_to_mapping",
	"gdrx_copy_from_mapping",
	"gdrx_copy_iov",
};

/* argv[1]: the built library.  What this program links must be that very file. */
int main(int argc, char **argv)
{
	int failed = abi_check();
	void *lib = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW);

	if (!lib) {
		fprintf(stderr, "abi: %s\n", dlerror());
		return 1;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!dlsym(lib, names[i])) {
			fprintf(stderr, "abi: no symbol %s\n", names[i]);
			failed = 100;
		}
	}
	if (dlsym(lib, "gdr_get_info") == dlsym(lib, "gdr_get_info_v2")) {
		fprintf(stderr, "abi: the two info functions are one\n");
		failed = 101;
	}
	if (dlsym(lib, "gdr_close") != (void *)(uintptr_t)abi_calls.close) {
		fprintf(stderr, "abi: %s is not the library linked\n", argv[1]);
		failed = 102;
	}
	if (failed)
		fprintf(stderr, "abi: check %d failed\n", failed);
	return failed != 0;
}
