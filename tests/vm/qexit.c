/* SPDX-License-Identifier: MIT */
/*
 * qexit CODE: end the guest, so that QEMU exits with 33 + 2 * CODE.  With
 * isa-debug-exit a byte v written to its port makes QEMU exit with (v << 1) | 1;
 * 1 is also what QEMU says of its own errors, so v starts at 16.
 */
#include <stdlib.h>
#include <sys/io.h>
#include <sys/reboot.h>
#include <unistd.h>

#define PORT 0xf4
#define CODE_MAX 45

int main(int argc, char **argv)
{
	int code = argc > 1 ? atoi(argv[1]) : CODE_MAX;

	if (code < 0 || code > CODE_MAX)
		code = CODE_MAX;
	sync();
	if (ioperm(PORT, 1, 1) == 0)
		outb((unsigned char)(16 + code), PORT);
	reboot(RB_POWER_OFF);
	return 1;
}
