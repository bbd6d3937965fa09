from __future__ import annotations

import pytest

from evidence.formats.folded import folded

FOLDED = {
    "flamegraph.pl": b"main;work;spin 7\nmain;rest 3\n",
    "one line": b"main;work 7",
    "bpftrace": b"swapper;secondary_startup_64;do_idle 812\nbash;[unknown];read 3\n",
    "py-spy": b"MainThread: worker;run (app/main.py:12);<module> (x.py:1) 4\n",
    "async-profiler": b"java/lang/Thread.run_[j];com/x/Y$$Lambda$14.run_[1] 5\n",
    "tracing-flame": b"ThreadId(1)-main; app::run:src/main.rs:3 99\nThreadId(1)-main 4\n",
    "collapsed threads": b"all-threads; app::run:src/main.rs:3 99\n",
    "differential": b"a;b 1 2\na;c 0 4\n",
    "carriage returns": b"a;b 1\r\na;c 4\r\n",
    "UTF-16": "a;b 1\na;c 4\n".encode("utf-16"),
    "byte order mark": b"\xef\xbb\xbfa;b 1\n",
    "bad lines among them": b"# made by x\na;b 1\noops\nc;d 2\n",
    "some without frames": b" 12\nmain 3\nmain;x 4\n",
    "fractions": b"a;b 1.5\n",
    "accelerators": b"py::run;launch;-;matmul_[G];sbid_[g] 12\n",
    "one frame each": b"main 5\nstd::vector<int>::push_back 3\napp.py:12 4\n[unknown] 7\n",
    "one frame alone": b"main 5\n",
    "one frame each, with words": b"operator new(unsigned long, std::nothrow_t) 5\nvoid f(int) 3\n",
    "a very deep line": b"frame;" * 20_000,
    "C++": b"operator new(unsigned long); std::vector<int, A<int> >::push_back(int const&);x 3\n",
}
OTHERS = {
    "nothing": b"",
    "blank": b"\n\n",
    "perf script": b"perf 12 [000] 1.5: 250000 cycles: \n\tffffffff8104f45a native_write_msr ([kernel.kallsyms])\n\n",
    "perf script in a line": b"perf 12 1.5: 1 cycles:  ffff8104f45a native_write_msr ([kernel.kallsyms])\n",
    "JSON": b'{"a": [1, 2, 3], "b;c": 12}\n',
    "JSON over lines": b'{\n "a;b": 1,\n "c": [\n  1\n ]\n}\n',
    "CSV": b"peers,rtt,p99\n1,2,3\n4,5,6\n",
    "CSV with spaces": b"peers, rtt, p99\n1, 2, 3\n4, 5, 6\n",
    "CSV with semicolons": b"peers;rtt;p99\n1;2;3\n4;5;6\n",
    "a table": b"50% 415\n90% 431\n99% 435\n",
    "numbers": b"1\n2\n3\n",
    "prose": b"He came; he saw; it was the year 47\nAnd so it went on.\nSee chapter 12\n",
    "one sentence": b"The pool was full; nothing could be taken before 12\n",
    "a log": b"2026-11-21 03:00:01 worker started; pid 12\n2026-11-21 03:00:02 bound to port 8000\n",
    "a log of clauses": b"2026-11-21 03:00:01 WARN retry; attempt 3\n" * 3,
    "a log of pairs": b"[03:00:01] done;user=alice;took 15\n[03:00:02] done;user=bob;took 18\n",
    "a log of syslog": b"Nov 21 03:00:01 host sshd[12]: closed;by 7\n" * 3,
    "a log with one line alike": b"INFO request done; took 15\nINFO queue is long; size 7\nWARN retry; attempt 3\n",
    "code": b"int a = 1;\nint b = 2;\nreturn a + b;\n",
    "a sentence that ends in a number": b"They met in the year 1999\n",
    "a list": b"Requests: 5\nErrors: 3\n",
    "a table of words": b"alice 12 5\nbob 13 6\n",
    "an HTTP header": b"Content-Type: text/html;charset=utf-8\nContent-Length: 12\n",
    "benchmarks": b"BenchmarkSeal-8  100  5030 ns/op  73788 B/op  5 allocs/op\n",
    "binary": b"\x0a\x04\x08\x01\x10\x02a;b 1\n",
    "zeros": bytes(100),
    "one long line of JSON": b'{"a":"x;y;z",' * 6_000,
    "one long line of code": b"var a=1;b=f(2);" * 6_000,
    "one long line of words": b"word " * 20_000,
}


@pytest.mark.parametrize("kind", FOLDED)
def test_folded_stacks_are_known(kind: str) -> None:
    assert folded.claim(FOLDED[kind][: 1 << 16])


@pytest.mark.parametrize("kind", OTHERS)
def test_nothing_else_is_taken_for_them(kind: str) -> None:
    assert not folded.claim(OTHERS[kind][: 1 << 16])
