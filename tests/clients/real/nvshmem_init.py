#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""NVSHMEM's host side, two PEs, by each of the remote transports named as arguments.

Each pair of processes initialises the library that the nvidia-nvshmem package installs
(bootstrap by unique id over the loopback interface), puts a block into the other PE's
memory and checks what arrived.  Printed is what the log says of GDRCopy and, where the
initialisation fails, why.  libgdrapi.so.2 is found by LD_LIBRARY_PATH.

Exit status 1: a transport did not come up, did not take GDRCopy into use ("none" need
not), or moved wrong data; 77: there is no GPU, or no NVSHMEM."""
import ctypes
import glob
import multiprocessing as mp
import os
import re
import subprocess
import sys
import time

PES = 2
SIZE = 1 << 20
SECONDS = 30                # for one transport
WITH_UNIQUEID = 1 << 3      # NVSHMEMX_INIT_WITH_UNIQUEID


class UniqueId(ctypes.Structure):
    """nvshmemx_uniqueid_v1"""
    _fields_ = [("version", ctypes.c_int), ("internal", ctypes.c_char * 124)]


class UniqueIdArgs(ctypes.Structure):
    """nvshmemx_uniqueid_args_v1"""
    _fields_ = [("version", ctypes.c_int), ("id", ctypes.POINTER(UniqueId)),
                ("rank", ctypes.c_int), ("ranks", ctypes.c_int)]


class InitArgs(ctypes.Structure):
    """nvshmemx_init_args_v1"""
    _fields_ = [("version", ctypes.c_int), ("uid", UniqueIdArgs), ("pad", ctypes.c_char * 96)]


class InitAttr(ctypes.Structure):
    """nvshmemx_init_attr_v1"""
    _fields_ = [("version", ctypes.c_int), ("mpi_comm", ctypes.c_void_p), ("args", InitArgs)]


def versioned(kind):
    """A structure with its version word: 1 in the upper half, its size below."""
    return kind(version=(1 << 16) + ctypes.sizeof(kind))


def host_library():
    for folder in sys.path:
        for path in glob.glob(os.path.join(folder, "nvidia/nvshmem/lib/libnvshmem_host.so.*")):
            return path
    return None


def start(nvshmem, rank, given):
    """Initialise PE rank; rank 0 makes the unique id and hands it out."""
    uid = versioned(UniqueId)
    if rank == 0:
        if nvshmem.nvshmemx_get_uniqueid(ctypes.byref(uid)):
            sys.exit("nvshmemx_get_uniqueid failed")
        for _ in range(PES - 1):
            given.put(bytes(uid))
    else:
        uid = UniqueId.from_buffer_copy(given.get(timeout=SECONDS))
    attr = versioned(InitAttr)
    attr.args = versioned(InitArgs)
    attr.args.uid = versioned(UniqueIdArgs)
    attr.args.uid.id = ctypes.pointer(uid)
    attr.args.uid.rank = rank
    attr.args.uid.ranks = PES
    status = nvshmem.nvshmemx_hostlib_init_attr(WITH_UNIQUEID, ctypes.byref(attr))
    if status:
        sys.exit(f"nvshmemx_hostlib_init_attr: {status}")


def exchange(nvshmem, cuda, rank):
    """Put a block into the next PE; whether the right one came from the one before."""
    nvshmem.nvshmem_malloc.restype = ctypes.c_void_p
    nvshmem.nvshmem_malloc.argtypes = [ctypes.c_size_t]
    nvshmem.nvshmem_putmem.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t,
                                       ctypes.c_int]
    cuda.cuMemcpyHtoD_v2.argtypes = [ctypes.c_uint64, ctypes.c_char_p, ctypes.c_size_t]
    cuda.cuMemcpyDtoH_v2.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_size_t]
    blocks = [bytes((i * 7 + pe * 31 + (i >> 8)) & 255 for i in range(SIZE)) for pe in range(PES)]
    source, target = nvshmem.nvshmem_malloc(SIZE), nvshmem.nvshmem_malloc(SIZE)
    if not source or not target or cuda.cuMemcpyHtoD_v2(source, blocks[rank], SIZE):
        sys.exit("no symmetric memory, or CUDA cannot write to it")
    nvshmem.nvshmem_barrier_all()
    nvshmem.nvshmem_putmem(target, source, SIZE, (rank + 1) % PES)
    nvshmem.nvshmem_barrier_all()
    got = ctypes.create_string_buffer(SIZE)
    if cuda.cuMemcpyDtoH_v2(got, target, SIZE):
        sys.exit("CUDA cannot read the symmetric memory")
    return got.raw == blocks[(rank - 1) % PES]


def pe(rank, given):
    import torch  # for its CUDA runtime, current device and context
    torch.cuda.set_device(rank % torch.cuda.device_count())
    torch.zeros(1, device="cuda")
    nvshmem, cuda = ctypes.CDLL(host_library()), ctypes.CDLL("libcuda.so.1")
    start(nvshmem, rank, given)
    print(f"PE {rank}: initialised", flush=True)
    right = exchange(nvshmem, cuda, rank)
    print(f"PE {rank}: {SIZE} bytes put, {'right' if right else 'WRONG'}", flush=True)
    nvshmem.nvshmemx_hostlib_finalize()
    sys.exit(0 if right else 1)


def pair():
    """Both PEs, in processes of their own; how many failed."""
    context = mp.get_context("spawn")
    given = context.Queue()
    pes = [context.Process(target=pe, args=(rank, given)) for rank in range(PES)]
    for process in pes:
        process.start()
    deadline = time.monotonic() + SECONDS
    for process in pes:
        process.join(max(deadline - time.monotonic(), 0.1))
        if process.exitcode != 0:   # the others wait for it in vain, but may say so
            deadline = min(deadline, time.monotonic() + 3)
    for process in pes:
        process.kill()
        process.join()
    return sum(process.exitcode != 0 for process in pes)


def run(transport):
    """The pair by that transport, in a process whose output is kept; whether it passed."""
    path = os.environ.get("LD_LIBRARY_PATH", "") + ":" + os.path.dirname(host_library())
    env = dict(os.environ, NVSHMEM_REMOTE_TRANSPORT=transport, NVSHMEM_DEBUG="INFO",
               NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME="lo", NVSHMEM_DISABLE_NVLS="1",
               LD_LIBRARY_PATH=path.lstrip(":"), PYTHONUNBUFFERED="1")
    done = subprocess.run([sys.executable, __file__, "--pair"], env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    lines = done.stdout.splitlines()
    told = [line for line in lines if re.search(r"gdr(copy| driver)", line, re.IGNORECASE)]
    used = any("GDR driver version" in line for line in told)
    print(f"NVSHMEM_REMOTE_TRANSPORT={transport}: exit status {done.returncode}, GDRCopy "
          f"{'in use' if used else 'not in use'}")
    told += [line for line in lines if line.startswith("PE ")]
    for line in sorted(set(told)):
        print(f"  {line}")
    if done.returncode:
        for line in [line for line in lines if line not in told][-12:]:
            print(f"    {line}")
    sys.stdout.flush()
    return done.returncode == 0 and (used or transport == "none")


def main(transports):
    if not host_library():
        print("skipped: no NVSHMEM (nvidia-nvshmem-cu13)")
        return 77
    import torch  # not before it is known to be wanted: it takes seconds
    if not torch.cuda.is_available():
        print("skipped: no GPU")
        return 77
    passed = [run(transport) for transport in transports or ["none", "ibrc"]]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(min(pair(), 1) if sys.argv[1:] == ["--pair"] else main(sys.argv[1:]))
