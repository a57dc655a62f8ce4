/* SPDX-License-Identifier: MIT */
/* Names the architecture; exactly one of the three macros is defined. */
#ifndef __GDRCONFIG_H__
#define __GDRCONFIG_H__

#if defined(__x86_64__) || defined(__i386__)
#define GDRAPI_X86 1
#elif defined(__aarch64__)
#define GDRAPI_ARM64 1
#elif defined(__powerpc64__)
#define GDRAPI_POWER 1
#else
#error "GDRCopy supports x86, arm64 and ppc64le"
#endif

#endif
