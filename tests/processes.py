"""Many processes at once, which cost one import of unmix together."""

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

SERVER = get_context("forkserver")
SERVER.set_forkserver_preload(["unmix"])


def in_processes(function: Callable, *arguments: Sequence) -> list:
    """What the function of a test module gives for each argument, or the error it raised, all at the same time."""
    count = len(arguments[0])
    with ProcessPoolExecutor(count, mp_context=SERVER) as pool:
        running = [pool.submit(function, *these) for these in zip(*arguments, strict=True)]
        return [r.exception() or r.result() for r in running]
