/* SPDX-License-Identifier: MIT */
/* The gdrx_ functions, but for copies. */
#include "backend.h"
#include "context.h"
#include "copy.h"
#include "export.h"
#include "gdrapi_ext.h"
#include "log.h"

GDR_API const char *gdrx_backend_name(gdr_t g)
{
	const struct gdr_backend_ops *ops = gdr_context_ops(g);

	return ops ? ops->name : NULL;
}

GDR_API const char *gdrx_last_error(void)
{
	return gdr_log_last();
}

GDR_API const char *gdrx_open_report(void)
{
	return gdr_context_report();
}

GDR_API const char *gdrx_copy_routine(int direction)
{
	if (direction != GDR_COPY_TO_MAPPING && direction != GDR_COPY_FROM_MAPPING)
		return NULL;
	gdr_copy_init();
	return gdr_copy_name((enum gdr_copy_dir)direction);
}
