#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""All-reduce of NCCL over sockets, one process a GPU: sums checked, times printed.
Run it with and without NCCL_GDRCOPY_ENABLE=1, and with NCCL_P2P_DISABLE=1
NCCL_SHM_DISABLE=1 NCCL_NET=Socket NCCL_SOCKET_IFNAME=lo NCCL_DEBUG=INFO."""
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

SIZES = [2, 256, 4096, 65536, 1 << 20, 16 << 20]  # floats


def work(rank, world):
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29511")
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=world)
    wrong = 0
    for n in SIZES:
        rounds = 500 if n <= 65536 else 20
        times = []
        for i in range(rounds + 5):
            x = torch.arange(n, device="cuda", dtype=torch.float32) % 1024 + rank + i
            torch.cuda.synchronize()
            t = time.perf_counter()
            dist.all_reduce(x)
            torch.cuda.synchronize()
            if i >= 5:
                times.append(time.perf_counter() - t)
            want = (torch.arange(n, device="cuda", dtype=torch.float32) % 1024 + i) * world
            want += sum(range(world))
            wrong += int(not torch.equal(x, want))
        if rank == 0:
            times.sort()
            print(f"{n * 4:>10} bytes: median {times[len(times) // 2] * 1e6:9.1f} us, "
                  f"{rounds} rounds, {wrong} wrong", flush=True)
    dist.barrier()
    dist.destroy_process_group()
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    mp.spawn(work, args=(torch.cuda.device_count(),), nprocs=torch.cuda.device_count())
