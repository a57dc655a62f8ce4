/* SPDX-License-Identifier: MIT */
/* What the tests that pass a descriptor share. */
#ifndef SANITY_SOCK_H
#define SANITY_SOCK_H

/* Waives where there is no descriptor that only its opener may use. */
void sock_needs_descriptor(void);

#endif
