/* SPDX-License-Identifier: MIT */
/* A libgdrapi of another version. */
__attribute__((visibility("default"))) void gdr_runtime_get_version(int *major, int *minor);
__attribute__((visibility("default"))) void gdr_runtime_get_version(int *major, int *minor)
{
	*major = 2;
	*minor = 4;
}
