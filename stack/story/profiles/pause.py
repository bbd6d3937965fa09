"""Five rounds with a pause: counts of calls, time off the CPU, arguments, the whole machine, both kinds of cores."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from stack.story.profiles import parts
from stack.story.profiles.perf import Sample, Task, text

VMM = Task("firecracker", 4127, "/usr/bin/firecracker")
IDLE = Task("swapper", 0)
CALL = ("entry_SYSCALL_64_after_hwframe_[k]", "do_syscall_64_[k]")
MAIN = ("_start", "main", "firecracker::run", "vmm::Vmm::pause_vm")
MSYNC = (*CALL, "__x64_sys_msync_[k]", "vfs_fsync_range_[k]", "ext4_sync_file_[k]", "file_write_and_wait_range_[k]")
WRITEBACK = (*MSYNC, "do_writepages_[k]", "ext4_writepages_[k]", "ext4_do_writepages_[k]")
SLEEP = ("futex_wait_queue_[k]", "schedule_[k]", "__schedule_[k]")

# Round 2: microseconds of one pause of 1.9 s, 94 % of them off the CPU.
PAUSE_US = 1_900_000
OFF = {
    ("firecracker", "on-CPU", *MAIN): 60,
    ("firecracker", "off-CPU", *MAIN, "crossbeam_channel::Receiver::recv", *CALL, "__x64_sys_futex_[k]", *SLEEP): 780,
    ("firecracker", "off-CPU", "fc_vcpu", "vmm::vstate::Vcpu::paused", *CALL, "__x64_sys_futex_[k]", *SLEEP): 160,
}

# Round 4: 99 samples a second on four processors for 3.8 s, of which 47 % are idle and one is ours.
MACHINE, IDLE_SAMPLES = 1_504, 707
IDLING = ("secondary_startup_64_[k]", "cpu_startup_entry_[k]", "do_idle_[k]", "cpuidle_idle_call_[k]", "intel_idle_[k]")
SERVER = Task("containerd", 911, "/usr/bin/containerd")
BUILD = Task("rustc", 20_433, "/usr/lib/librustc_driver.so")
OTHERS = {
    (BUILD, ("__libc_start_main", "rustc_driver::main", "rustc_codegen_llvm::write", "llvm::PassManager::run")): 441,
    (BUILD, ("__libc_start_main", "rustc_driver::main", "rustc_typeck::check_crate")): 207,
    (SERVER, ("runtime.goexit.abi0", "runtime.gcBgMarkWorker", "runtime.gcDrain", "runtime.scanobject")): 96,
    (SERVER, ("runtime.goexit.abi0", "net/http.(*conn).serve", "runtime.mallocgc")): 52,
}

# Round 5: only the process, each kind of core separately, 46 % of either in write-back; then the same on tmpfs.
CORE, ATOM = "cpu_core/cycles/P", "cpu_atom/cycles/P"
ON_EXT4 = {
    (
        *MAIN,
        "vmm::memory::dump",
        *WRITEBACK,
        "mpage_map_and_submit_extent_[k]",
        "ext4_map_blocks_[k]",
        "ext4_mb_new_blocks_[k]",
    ): 27,
    (*MAIN, "vmm::memory::dump", *WRITEBACK, "ext4_bio_write_folio_[k]"): 12,
    (*MAIN, "vmm::memory::dump", *WRITEBACK, "ext4_block_bitmap_csum_set_[k]", "crc32c_[k]"): 7,
    (*MAIN, "vmm::memory::dump", *CALL, "ksys_write_[k]", "generic_perform_write_[k]", "copy_page_from_iter_[k]"): 21,
    (*MAIN, "vmm::memory::dirty_pages", "__memcpy_avx_unaligned_erms"): 18,
    ("_start", "main", "firecracker::run", "event_manager::run", *CALL, "__x64_sys_epoll_wait_[k]"): 15,
}
ON_TMPFS = {
    (*MAIN, "vmm::memory::dump", *CALL, "ksys_write_[k]", "shmem_file_write_iter_[k]", "copy_page_from_iter_[k]"): 47,
    (*MAIN, "vmm::memory::dirty_pages", "__memcpy_avx_unaligned_erms"): 35,
    ("_start", "main", "firecracker::run", "event_manager::run", *CALL, "__x64_sys_epoll_wait_[k]"): 18,
}
SAMPLES = {CORE: 500, ATOM: 300}
# Milliseconds of eight pauses in a row.
PAUSES_MS = {
    "ext4": (1512, 1587, 1694, 1803, 1926, 2071, 2188, 2297),
    "tmpfs": (183, 111, 204, 147, 259, 162, 231, 126),
}
COUNTS = """\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 61.40    0.114902         536       214           futex
 17.93    0.033551          12      2796           write
 10.72    0.020063          34       590           ioctl
  6.01    0.011254         102       110           msync
  3.94    0.007366           9       818           epoll_wait
------ ----------- ----------- --------- --------- ----------------
100.00    0.187136                  4528           total
"""
ARGUMENTS = """\
futex calls of firecracker during one pause, by operation and who calls
FUTEX_WAIT_BITSET_PRIVATE  fc_api   woken by fc_vmm, after the pause
FUTEX_WAIT_BITSET_PRIVATE  fc_vcpu  woken by fc_vmm, after the pause
FUTEX_WAKE_PRIVATE         fc_vmm   once the pause is over
No one waits for a lock that another holds: all of them wait for the one that works.
"""


def off_cpu() -> bytes:
    """Write where the time of one pause went, folded, in microseconds."""
    shares = parts.of_thousand(OFF, total=PAUSE_US)
    return "".join(f"{';'.join(stack)} {us}\n" for stack, us in shares.items()).encode()


def machine() -> bytes:
    """Write samples of the whole machine during 3.8 s of pauses."""
    event = "cpu-clock:pppH"
    samples: dict[Sample, int] = {
        (event, IDLE, IDLING): IDLE_SAMPLES,
        (event, VMM, (*MAIN, "vmm::memory::dirty_pages")): 1,
    }
    samples |= {(event, task, stack): count for (task, stack), count in OTHERS.items()}
    return parts.packed(text(samples, chance=parts.chance("pause 4"), cpus=range(4)))


def process(hundredths: Mapping[tuple[str, ...], int]) -> bytes:
    """Write samples of only the process on both kinds of cores, from hundredths of either."""
    samples: dict[Sample, int] = {
        (event, VMM, stack): share * count // 100
        for event, count in SAMPLES.items()
        for stack, share in hundredths.items()
    }
    return parts.packed(text(samples, chance=parts.chance("pause 5"), cpus=range(12)))


def pauses() -> bytes:
    """Write how long each pause took on either file system."""
    rows = [f"{storage},{n},{ms}\n" for storage, times in PAUSES_MS.items() for n, ms in enumerate(times, start=1)]
    return "".join(("storage,nth,pause_ms\n", *rows)).encode()


FILES = {
    "syscalls.txt": COUNTS.encode,
    "off-cpu.folded": off_cpu,
    "futex.txt": ARGUMENTS.encode,
    "machine.perf.gz": machine,
    "ext4.perf.gz": partial(process, ON_EXT4),
    "tmpfs.perf.gz": partial(process, ON_TMPFS),
    "pauses.csv": pauses,
}
