"""A call that runs while its caller goes on."""

import os
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Generic, TypeVar

_Result = TypeVar("_Result")

SPARE = 16
"""Threads that are kept for the next calls, at most."""


class Aside(Generic[_Result]):
    """A call in another thread; its result, or its error, when it is asked for.

    The threads are daemons: a call that hangs keeps no process from ending.
    """

    def __init__(self, name: str, work: Callable[[], _Result], limit_s: float) -> None:
        """Begin the call.

        Args:
            name: of the thread while it runs, for whoever looks at a process.
            limit_s: seconds from now on that `result` waits at most.
        """
        self._name, self._work = name, work
        self._until = time.monotonic() + limit_s
        self._done = threading.Event()
        self._answer: list[_Result] = []
        self._problem: list[BaseException] = []
        _spare_thread().put(self._run)

    def _run(self) -> None:
        threading.current_thread().name = self._name
        try:
            self._answer.append(self._work())
        except BaseException as error:  # raised again in the thread that asks
            self._problem.append(error)
        self._done.set()

    def result(self) -> _Result:
        """What the call gave, or its error, raised.

        Raises:
            TimeoutError: it is not done within the limit; it goes on.
        """
        self._done.wait(max(self._until - time.monotonic(), 0))
        if self._problem:
            raise self._problem[0]
        if not self._answer:
            raise TimeoutError
        return self._answer[0]


_Calls = SimpleQueue[Callable[[], None]]
_spare: list[_Calls] = []
_guard = threading.Lock()
os.register_at_fork(after_in_child=_spare.clear)  # a child has none of its parent's threads


def _spare_thread() -> _Calls:
    """The calls of a thread that has none; the one that was busy last, as a new one takes longer to get going."""
    with _guard:
        if _spare:
            return _spare.pop()
    calls: _Calls = SimpleQueue()
    threading.Thread(target=_serve, args=(calls,), daemon=True).start()
    return calls


def _serve(calls: _Calls) -> None:
    while True:
        calls.get()()
        threading.current_thread().name = "spare"
        with _guard:
            if len(_spare) >= SPARE:
                return
            _spare.append(calls)
