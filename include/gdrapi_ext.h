/* SPDX-License-Identifier: MIT */
/*
 * Additions to the GDRCopy interface, prefix gdrx_.  Programs that must also
 * run on other implementations look these symbols up with dlsym.
 * Thread-safe like everything in gdrapi.h.  Details: gdrx(3).
 */
#ifndef GDRAPI_EXT_H
#define GDRAPI_EXT_H

#include "gdrapi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "gdrdrv", "dmabuf" or "rm"; NULL if g is not open.  Static string. */
const char *gdrx_backend_name(gdr_t g);

/*
 * One sentence about the last call of this thread that failed: the step, the
 * object and the remedy.  "" if none has failed.  Valid until the next failure
 * in the same thread.
 */
const char *gdrx_last_error(void);

/*
 * What this thread's last gdr_open found, one line a backend: which was taken,
 * and why the others were not.  "" before the first gdr_open.
 */
const char *gdrx_open_report(void);

/*
 * Names of the copy routines in use, "avx512" for example; direction 0 is to
 * the mapping, 1 from it.  NULL for any other direction.  Static string.
 */
const char *gdrx_copy_routine(int direction);

#ifdef __cplusplus
}
#endif

#endif
