#!/bin/sh
# SPDX-License-Identifier: MIT
# --cpu, --numa, --no-affinity: where the program then runs, and what its header says.
# shellcheck source=/dev/null
. "${SRC:?}/check.sh"
set -- "${TOOLS:?}/gdrcopy_copylat" --soft --sizes 4 -w 2 -r 2

# A CPU that may be used, from whatever set this test was given.
allowed=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
cpu=$(echo "$allowed" | sed 's/.*[,-]//')

expect 0 "$@" --cpu "$cpu"
said "^# cpus: $cpu\$"
said '^# cpus_chosen: as asked for$'
said "^# running_on_cpu: $cpu\$"
# What is not there is left out, as long as something stays.
expect 0 "$@" --cpu "$cpu,1000-1023"
said "^# cpus: $cpu\$"
expect 0 "$@" --no-affinity
said "^# cpus: $allowed\$"
said '^# cpus_chosen: no: --no-affinity$'
expect 0 "$@"
said "^# cpus: $allowed\$"
said "^# cpus_chosen: no: the GPU's NUMA node is not known\$"
if [ -r /sys/devices/system/node/node0/cpulist ]; then
	expect 0 "$@" --numa 0
	said '^# cpus_chosen: as asked for$'
	said '^# running_on_numa_node: 0$'
fi
expect 1 "$@" --numa 65535
complained '^ERROR: option --numa: this machine has no node 65535$'

for bad in x 1- -1 2-1 1,,2 '1,' 0x1 99999; do
	expect 1 "$@" --cpu "$bad"
	complained "^ERROR: option --cpu: \"$bad\" is not a list of CPUs"
done
expect 1 "$@" --cpu 1000-1023
complained '^ERROR: option --cpu: this process may use none of these CPUs$'
for more in '--numa 0' --no-affinity; do
	# shellcheck disable=SC2086
	expect 1 "$@" --cpu "$cpu" $more
	complained '^ERROR: --cpu, --numa and --no-affinity exclude each other$'
done
if command -v taskset >/dev/null; then
	expect 0 taskset -c "$cpu" "$@"
	said "^# cpus: $cpu\$"
fi
