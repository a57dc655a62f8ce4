#!/bin/sh
# SPDX-License-Identifier: MIT
# The library asks the environment as a set-uid program may, runs no program, opens no
# connection, makes and removes no file, changes no right of the process, and leaves
# other libraries loaded.
# Usage: imports.sh LIBRARY
set -u
found=$(readelf -W --dyn-syms "${1:?library}" | awk '$7 == "UND" { sub(/@.*/, "", $8); print $8 }' | sort -u)
bad=0
# what must be there, or this looks at nothing
for name in open mmap ioctl dlopen secure_getenv; do
	echo "$found" | grep -qxE "(__)?$name(64)?(_2)?" || { echo "does not import $name"; bad=1; }
done
for name in $found; do
	case $name in
	getenv | setenv | putenv | unsetenv | clearenv | \
	system | popen | exec* | posix_spawn* | fork | vfork | clone | \
	socket* | connect | bind | accept* | send* | recv* | getaddrinfo | gethostby* | \
	creat* | mkdir* | mknod* | mkfifo* | mkstemp* | mkdtemp | tmpfile* | tempnam | tmpnam | \
	unlink* | rmdir | rename* | link* | symlink* | truncate* | ftruncate* | chmod | fchmod* | \
	chown | fchown* | lchown | umask | chdir | chroot | kill | ptrace | \
	setuid | seteuid | setgid | setegid | setreuid | setresuid | setgroups | cap_* | prctl | \
	dlclose)
		echo "imports $name"
		bad=1 ;;
	esac
done
[ $bad = 1 ] || echo "$(echo "$found" | wc -l) imports"
exit $bad
