"""The layer and the package of a function, recognised from its name and its format's hint. Pure.

The suffixes ``_[k] _[j] _[i]`` come from Linux perf's stack collapsers, ``_[g] _[G] -`` from flame graphs of
accelerators. A name alone cannot always distinguish Rust from C++, or Go from others, so the language of most of the
profile decides.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from evidence.analysis import colours


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer: its name for people, and its hue, chroma and lift of lightness."""

    key: str
    label: str
    hue: float
    chroma: float
    lift: float = 0.0

    @property
    def shades(self) -> list[colours.Pair]:
        """The colours of its frames, for the light and the dark theme."""
        return colours.shades(self.hue, self.chroma, self.lift)


LAYERS = (
    Layer("root", "All frames", 80, 0.012, 0.02),
    Layer("kernel", "Kernel", 62, 0.135, -0.015),
    Layer("native", "C or plain name", 28, 0.115),
    Layer("cpp", "C++", 100, 0.125, 0.05),
    Layer("rust", "Rust", 45, 0.085, -0.045),
    Layer("go", "Go", 225, 0.095, 0.02),
    Layer("runtime", "Language runtime", 285, 0.075, -0.02),
    Layer("python", "Python", 350, 0.105, 0.015),
    Layer("java", "Java", 262, 0.1, -0.01),
    Layer("javascript", "JavaScript", 118, 0.125, 0.03),
    Layer("inlined", "Inlined", 195, 0.06, 0.03),
    Layer("gpu", "GPU instruction", 150, 0.13, -0.01),
    Layer("gpu-source", "GPU source", 180, 0.1, 0.045),
    Layer("boundary", "Boundary", 80, 0.0, -0.07),
    Layer("idle", "Idle or waiting", 80, 0.006, 0.055),
    Layer("unknown", "Other", 60, 0.02, -0.03),
)
PLACE = {layer.key: place for place, layer in enumerate(LAYERS)}
SUFFIX = re.compile(r"_\[([kjiwgG])\]$")
BOUNDARIES = {"-", "--"}
OF_SUFFIX = {"k": "kernel", "g": "gpu", "G": "gpu-source", "w": "kernel"}
OF_HINT = {
    "kernel": "kernel", "gpu": "gpu", "gpu-source": "gpu-source", "boundary": "boundary", "idle": "idle",
}  # fmt: skip

IDLE = re.compile(
    r"^(swapper(/\d+)?|\[?idle\]?|cpuidle_\w+|cpu_idle\w*|do_idle|default_idle\w*|intel_idle\w*|acpi_idle\w*"
    r"|mwait_idle\w*|native_safe_halt|poll_idle|arch_cpu_idle|pv_native_safe_halt|\(idle\)|<idle>)$"
)
THREAD = re.compile(r"^ThreadId\(\d+\)(-.*)?$")  # tracing-flame: its self time is the time between spans
GPU_SOURCE = re.compile(r"\bNEO\w*\b|\.cl$|\.spv$")
HEX = re.compile(r"^(0x[0-9a-f]+|\[unknown\]|\?\?+|unknown)$", re.IGNORECASE)
MODULE = re.compile(r"^\[?([\w.+-]+\.(?:so|dll|dylib|exe)[\w.]*|vdso|vsyscall|libc|kernel\.kallsyms)\]?$")

PYTHON = re.compile(r"^py::|\.pyx?(:\d+)?\)?$|\(<frozen [\w.]+>(:\d+)?\)$|^<module>\b|\(<string>(:\d+)?\)$")
JAVASCRIPT = re.compile(
    r"\.(m|c)?[jt]sx?(:\d+)*\)?$|\bnode:[\w/]+|^\(anonymous\)$|^(LazyCompile|Function|Script|Eval|RegExp|JS):"
)
JAVA = re.compile(r"^L?([a-z_][\w$]*[./])+[A-Z$][\w$.]*?([.:#]{1,2})[\w$<>]+(\(.*)?(_\[\w\])?$")
DOTTED = re.compile(r"^[a-z_]\w*(\.[a-z_<]\w*>?)+$")  # module.function, as Python samplers write it
GO = re.compile(r"^([\w~%-]+([./][\w~%-]+)*/)?[\w~%-]+(\.v\d+)?\.(\(\*?[\w\[\].,/*· ]+\)\.)?[\w\[\].·]+(-fm)?$")
GO_SURE = re.compile(
    r"\.\(\*\w|^(main|runtime|net|net/http|sync|syscall|internal|encoding|crypto|os|fmt|io)[./]|\.func\d|^[\w.-]+\.\w+/"
)
GO_TYPES = re.compile(r"\[go\.shape.*?\](?=\)|\.|$)")  # the type arguments of a generic function
RUST_SURE = re.compile(r"::h[0-9a-f]{16}$|^<.+>::|::<|\{\{|\{closure|\{impl#|^<.* as .*>::|<impl\b|^_R[A-Z]")
# Crates whose names C++ also uses for namespaces.
RUST_CRATE = re.compile(r"^(core|alloc|tokio|hyper|futures\w*|serde\w*|mio|rustls|quinn\w*|iroh\w*)::")
RUST_LIKE = re.compile(r"^[a-z_]\w*(::(<[^>]*>|\w+))+(:[\w./-]+\.rs(:\d+)?)?$")
RUST_FILE = re.compile(r"\.rs(:\d+)?$")
CPP = re.compile(r"::|^operator\b|^std::|\(anonymous namespace\)|^_Z[NTS]|^void .*\(|<.*>\(")
CPP_SURE = re.compile(
    r"^std::(__|basic_|vector|map|unordered_|function\b|shared_ptr|unique_ptr|allocator|chrono::|this_thread|thread::_)"
    r"|\(anonymous namespace\)|::~|\boperator\W|\(.*\)( const)?$|^(void|bool|int|char|float|double|unsigned|long|auto) "
    r"|^(boost|absl|folly|Eigen|llvm|clang|rocksdb|grpc|google|__gnu_cxx|cv|fmt|at|c10|torch)::|^_ZNK?S|^__cxa_"
)
RUNTIME = re.compile(
    r"^(runtime\.(?!main$)|runtime/|gcWriteBarrier|_?Py[A-Z_]\w+|_PyEval\w+|pymalloc_\w+|gc_collect\w*|v8::|Builtin(s_|:)"
    r"|node::|uv_\w+|std::rt::|std::panicking|std::sys|tokio::runtime|JVM_\w+|JavaCalls::|G1\w+|GCTaskThread|CompileBroker"
    r"|Unsafe_\w+|InterpreterRuntime|art::|rb_gc\w*|lua_\w+|luaJIT|rust_\w+|__libc_start\w*|_start$|start_thread$|__?clone3?$"
    r"|\((program|garbage collector)\)$)"
)
# Formats of profilers that see only one language, and how functions are called in it.
ONLY = {"cprofile": "python", "pyinstrument": "python", "memray": "python", "v8": "javascript"}
PLAIN = re.compile(r"^(<[a-z]+>|[A-Za-z_$#][\w$#]*)(\.(<[a-z]+>|[\w$#]+))*( \([^()]*\))?$")
NATIVE = re.compile(r"^[A-Za-z_$][\w$]*(@[\w.]+|\.(part|constprop|isra|cold|llvm|plt)[.\w]*)*$")


def bare(name: str) -> str:
    """Return a name without its layer's suffix."""
    return SUFFIX.sub("", name) if name.endswith("]") else name


def is_kernel(name: str, hint: str = "") -> bool:
    """Return whether ``layer_of`` would say kernel, without trying the other layers."""
    suffix = SUFFIX.search(name) if name.endswith("]") else None
    if suffix and suffix[1] in OF_SUFFIX:
        return OF_SUFFIX[suffix[1]] == "kernel"
    return hint == "kernel" and name not in BOUNDARIES and not is_idle(name)


def layer_of(name: str, hint: str = "", *, mostly: str = "") -> str:
    """Return the key of a function's layer; ``mostly`` is the language of the profile, if known."""
    suffix = SUFFIX.search(name)
    if suffix and suffix[1] in OF_SUFFIX:
        return OF_SUFFIX[suffix[1]]
    if name in BOUNDARIES:
        return "boundary"
    if is_idle(name, hint):
        return "idle"
    if hint in OF_HINT:
        return OF_HINT[hint]
    alone = bare(name)
    found = next((key for key, tells in RULES if tells(alone, mostly)), "unknown")
    if mostly in ONLY.values() and found in {"native", "java", "python", "unknown"} and PLAIN.match(alone):
        found = mostly
    inlined = hint == "inlined" or (suffix is not None and suffix[1] == "i")
    return "inlined" if inlined and found in {"java", "native", "unknown"} else found


def is_idle(name: str, hint: str = "") -> bool:
    """Return whether nothing runs while this frame is on a stack."""
    return hint == "idle" or IDLE.match(bare(name)) is not None


def is_thread(name: str) -> bool:
    """Return whether a frame stands for a thread; its self value is the time in which nothing was recorded."""
    return THREAD.match(name) is not None


def _go(name: str, mostly: str) -> bool:
    name = GO_TYPES.sub("", name)
    return GO.match(name) is not None and (mostly == "go" or GO_SURE.search(name) is not None)


def _rust(name: str, mostly: str) -> bool:
    if RUST_SURE.search(name) or RUST_FILE.search(name):
        return True
    if mostly != "cpp" and RUST_CRATE.match(name) and not CPP_SURE.search(name):
        return True
    return mostly == "rust" and RUST_LIKE.match(name) is not None and not CPP_SURE.search(name)


RULES: tuple[tuple[str, Callable[[str, str], bool]], ...] = (
    ("unknown", lambda name, mostly: HEX.match(name) is not None),
    ("idle", lambda name, mostly: is_thread(name)),
    ("python", lambda name, mostly: PYTHON.search(name) is not None),
    ("gpu-source", lambda name, mostly: GPU_SOURCE.search(name) is not None),
    ("javascript", lambda name, mostly: JAVASCRIPT.search(name) is not None),
    ("runtime", lambda name, mostly: RUNTIME.match(name) is not None),
    ("java", lambda name, mostly: JAVA.match(name) is not None and not _go(name, mostly)),
    ("rust", _rust),
    ("cpp", lambda name, mostly: CPP.search(name) is not None),
    ("go", _go),
    ("python", lambda name, mostly: DOTTED.match(name) is not None),
    ("native", lambda name, mostly: NATIVE.match(name) is not None or MODULE.match(name) is not None),
)


def mostly(names: Iterable[str], *, format: str = "", look_at: int = 4000) -> str:
    """Return the language that decides doubtful names: the profiler's, or that of most certain names, if any."""
    if format in ONLY:
        return ONLY[format]
    votes: Counter[str] = Counter()
    for name, _ in zip(names, range(look_at), strict=False):
        if RUST_SURE.search(name) or RUST_FILE.search(name) or THREAD.match(name):
            votes["rust"] += 1
        elif GO.match(name) and GO_SURE.search(name):
            votes["go"] += 1
        elif "::" in name and CPP_SURE.search(name):
            votes["cpp"] += 1
        elif RUST_CRATE.match(name):
            votes["rust"] += 1
    return votes.most_common(1)[0][0] if votes else ""


def places(names: Sequence[str], hints: Sequence[str], *, mostly: str = "") -> list[int]:
    """Return for each name the index of its layer in ``LAYERS``."""
    return [PLACE[layer_of(name, hint, mostly=mostly)] for name, hint in zip(names, hints, strict=True)]


def package_of(name: str, layer: str) -> str:
    """Return a function's package: a crate, a Go or Java package, a Python or script file, a C++ namespace."""
    alone = bare(name)
    return PACKAGES.get(layer, _no_package)(alone) or _by_look(alone, layer)


def _no_package(name: str) -> str:
    return ""


def _by_look(name: str, layer: str) -> str:
    """Fall back to the layer's own word, so that kernel and native frames are grouped."""
    module = MODULE.match(name)
    if module:
        return module[1]
    return "" if layer in {"unknown", "root", "boundary", "idle"} else layer


def _crate(name: str) -> str:
    """Return the first module of a Rust or C++ path: ``<iroh::Node as Clone>::clone`` is in *iroh*."""
    head = re.sub(r"^[<&*\s]*(?:mut |dyn |impl |const |void |static )*", "", name)
    one, _, other = head.partition(" as ")
    path = one if "::" in one or not other else other
    return path.split("::", 1)[0].split("<", 1)[0].strip(" (") if "::" in path else ""


def _python_module(name: str) -> str:
    """Return the file that a sampler names, else the module of a dotted name."""
    return name.rsplit(".", 1)[0] if DOTTED.match(name) else _file(name)


def _go_package(name: str) -> str:
    path, _, last = GO_TYPES.sub("", name).rpartition("/")
    package = last.split(".(", 1)[0].split(".", 1)[0]
    return f"{path}/{package}" if path else package


def _java_package(name: str) -> str:
    parts = re.split(r"[./]", name.split("(", 1)[0].lstrip("L"))
    return ".".join(list(takewhile(lambda part: part[:1].islower(), parts))[:3])


def _file(name: str) -> str:
    """Return the file that a Python or JavaScript frame names in brackets, or after ``py::name:``."""
    if name.startswith("py::"):
        _, _, path = name[4:].partition(":")
    else:
        path = name[name.rfind("(") + 1 :].rstrip(")") if "(" in name else ""
    path = re.sub(r"(:\d+)+$", "", path).strip("<>").removeprefix("frozen ")
    return _library(path) or path.rsplit("/", 1)[-1]


def _library(path: str) -> str:
    found = re.search(r"(?:site-packages|node_modules)/((?:@[^/]+/)?[^/]+)", path)
    return found[1] if found else ""


PACKAGES: dict[str, Callable[[str], str]] = {
    "rust": _crate, "cpp": _crate, "go": _go_package, "java": _java_package, "python": _python_module,
    "javascript": _file,
    "runtime": lambda name: _crate(name) or ("runtime" if name.startswith("runtime") else ""),
}  # fmt: skip
