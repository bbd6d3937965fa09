"""Plumbing: what applications are built on, reached in passing and rarely what anyone can change. Pure."""

from __future__ import annotations

import re

from evidence.analysis import layers
from evidence.tree.calltree import CallTree

PLUMBING_LAYERS = frozenset({"kernel", "runtime", "idle", "boundary", "root"})
PLUMBING = re.compile(
    r"^(_start|main|__main__|start_thread|__?clone3?|__libc_\w+|_?dl_\w+|\[?unknown\]?|\[[\w./+-]+\]|<module>.*"
    r"|0x[0-9a-f]+( \(.*)?"
    r"|finish_task_switch\S*|(__|io_)?schedule(_timeout\w*|_hrtimeout\w*)?|futex_wait\w*|(do|hrtimer)_nanosleep|ep_poll"
    r"|do_syscall_64|entry_SYSCALL_64\w*|x64_sys_call|__(x64|arm64)_sys_\w+"
    r"|mem(cpy|move|set|cmp|chr)\w*|__mem\w+|str(len|cmp|chr)\w*|_?_?(malloc|calloc|realloc|free|cfree|mmap|munmap)"
    r"|(std|core|alloc|tokio|hyper|futures\w*|tracing\w*|rayon)::.*|<(std|core|alloc|tokio|futures\w*|tracing\w*).*"
    r"|(runtime|sync|syscall|net|io|bufio|bytes|strings|strconv|sort|reflect|fmt|time|context|testing|math|regexp)"
    r"\.\(?[*\w].*"
    # Names that other languages use too count as Go's only with a receiver, a capital or a type.
    r"|(cmp|errors|expvar|flag|hash|html|image|iter|log|maps|mime|os|path|slices|unicode|unique|weak)"
    r"\.(\(\*|[A-Z]|\w+\[go\.).*"
    r"|(archive|compress|container|crypto|database|debug|encoding|go|hash|html|image|index|internal|io|log|math|mime|net|os"
    r"|path|regexp|runtime|sync|testing|text|unicode|vendor/golang\.org)(/[\w%~-]+)+\.\(?[*\w].*"
    r"|L?(java|javax|jdk|sun|kotlin|scala|groovy)[./].*|node:.*|(JS|LazyCompile|Function):\S* node:.*"
    r"|\((anonymous|program|root|garbage collector)\)|(thread|process) \(?[0-9a-fA-Fx]+\)?:.*"
    r"|.* \((libc|libpython|libpthread|ld-linux)[\w.+-]*\)"
    r"|[<{](built-in )?method .*|py::[^:]*:(<frozen |.*lib/python[\d.]+/(?!(site|dist)-packages)).*|php::.*"
    r"|(System|Microsoft)\.[\w.]+!.*"
    r"|.*\((<frozen [\w.]+>|<string>|.*lib/python[\d.]+/(?!(site|dist)-packages).*)\)?:?\d*\)?)$"
)
# Files that come with a language.
FILES = re.compile(
    r"node:|<frozen |<built-in>|<internal:|php:internal|.*/lib/ruby/\d[\d.]*/"
    r"|.*[/\\](lib/python[\d.]+|Python[\d.]+[/\\]Lib)[/\\](?!(site|dist)-packages[/\\])",
    re.IGNORECASE,
)


# What every Go program has, including closures within it.
EVERYWHERE = re.compile(r"main\.(main|init|run)(\.(func|gowrap|deferwrap)?\d+)*$")


def is_everywhere(name: str) -> bool:
    """Return whether a function's name is the same in every program."""
    return EVERYWHERE.match(name) is not None


def is_plumbing(tree: CallTree, code: int) -> bool:
    """Return whether a function is plumbing or stands for a thread."""
    name, hint = tree.names[code], tree.hints[code]
    if PLUMBING.match(layers.bare(name)) or layers.is_thread(name):
        return True
    place = tree.places.get(name)
    if place is not None and FILES.match(place.file):
        return True
    return layers.layer_of(name, hint) in PLUMBING_LAYERS
