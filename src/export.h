/* SPDX-License-Identifier: MIT */
/* Everything is compiled with hidden visibility; GDR_API marks what is public. */
#ifndef GDR_EXPORT_H
#define GDR_EXPORT_H

#define GDR_API __attribute__((visibility("default")))

#endif
