/* SPDX-License-Identifier: MIT */
/* The program that a child of forks.c becomes: the same one, with this argument. */
#ifndef SOAK_FORKS_H
#define SOAK_FORKS_H

#define FORKS_INHERITED "--look-at-inherited"

/* Exit status: 0 if no descriptor of a driver came along. */
int forks_look_at_inherited(void);

#endif
