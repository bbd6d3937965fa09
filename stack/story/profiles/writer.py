"""Heap profiles of a message writer in four variants, and the benchmark of the final change."""

from __future__ import annotations

from functools import partial
from statistics import median

from stack.story.profiles import parts, pprof

MESSAGES, PEERS = 20_000, 100
TYPES = (("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"), ("inuse_space", "bytes"))
WRITE = ("runtime.goexit", "peer.(*Peer).writeHandler", "peer.(*Peer).writeMessage", "wire.WriteMessage")
# What one message allocates, in bytes, and where: 5 times, 73,788 bytes.
BUFFER = (*WRITE, "bytes.(*Buffer).Write", "bytes.growSlice")
EACH = {
    BUFFER: 65_536,
    (*WRITE, "noise.(*Machine).WriteMessage", "chacha20poly1305.(*aead).Seal", "alias.SliceForAppend"): 8_192,
    (*WRITE, "bytes.NewBuffer"): 48,
    (*WRITE, "wire.writeHeader"): 8,
    (*WRITE, "noise.(*Machine).WriteMessage", "encoding/binary.Write"): 4,
}
# What the rest of the process allocates: objects and bytes in all, objects and bytes in use.
REST = {
    ("runtime.goexit", "graph.(*Builder).handleUpdate", "graph.(*DB).UpdateEdge"): (
        410_000,
        118_400_000,
        9_200,
        6_900_000,
    ),
    ("runtime.goexit", "peer.(*Peer).readHandler", "wire.ReadMessage"): (160_000, 61_700_000, 140, 96_000),
    ("runtime.goexit", "server.(*Server).listen", "net.newFD"): (1_200, 480_000, 100, 41_000),
    ("runtime.mstart", "runtime.malg"): (900, 7_300_000, 420, 3_400_000),
}
# How many messages need new buffers, and how many buffers are held at the moment of the profile.
FRESH = {"as-is": MESSAGES, "pooled": 17_800, "bounded": 4_300, "dropped": MESSAGES}
HELD = {"as-is": 12, "pooled": 4 * PEERS, "bounded": PEERS, "dropped": 6}

OLD_NS, NEW_NS, RUNS = 50_340, 46_460, 10


def heap(variant: str) -> bytes:
    """Write the heap profile of one variant, with all four sample types."""
    fresh, held = FRESH[variant], HELD[variant]
    ours = {stack: (fresh, fresh * size, held, held * size) for stack, size in EACH.items()}
    return pprof.written(TYPES, {**ours, **REST}, default="alloc_space")


def benchmark(ns: int, *, bytes_: int, allocs: int) -> bytes:
    """Write the output of `go test -bench -benchmem -count 10`, with exactly that median."""
    chance = parts.chance(f"writer {ns}")
    half = sorted(chance.randrange(20, 460) for _ in range(RUNS // 2))
    times = [*(ns - one for one in half), *(ns + one for one in half)]
    chance.shuffle(times)
    assert median(times) == ns, "as many runs above as below, equally far"
    head = "goos: linux\ngoarch: amd64\npkg: example.com/node/noise\ncpu: Reconstruction, 8 threads\n"
    memory = f"{bytes_:>8} B/op\t{allocs:>8} allocs/op"
    rows = [f"BenchmarkWriteMessage-8   \t{1_200_000_000 // one:>8}\t{one:>10} ns/op\t{memory}\n" for one in times]
    return "".join((head, *rows, "PASS\nok  \texample.com/node/noise\t14.812s\n")).encode()


FILES = {
    **{f"{variant}.pb.gz": partial(heap, variant) for variant in FRESH},
    "old.txt": partial(benchmark, OLD_NS, bytes_=sum(EACH.values()), allocs=len(EACH)),
    "new.txt": partial(benchmark, NEW_NS, bytes_=2, allocs=0),
}
