"""Threads that answer requests, so that the event loop only ever passes bytes on.

At most so many requests are worked on at once; the others wait in order, and are told to come back where too many wait.
A request ends with its time, and when its client has gone.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, TypeVar

from runtime.deadline import deadline
from schema.errors import Busy, QueryTimeout

_Result = TypeVar("_Result")
Work = Callable[[], Coroutine[Any, Any, _Result]]


class ClientGone(Exception):
    """The client of a request left before it was answered."""


class _Job(Generic[_Result]):
    """One request in a thread, on an event loop that is the thread's own."""

    def __init__(self, work: Work[_Result], limit_s: float) -> None:
        self._work = work
        self._limit_s = limit_s
        self._lock = threading.Lock()
        self._task: asyncio.Task[_Result] | None = None
        self._cancelled = False

    def run(self, loop: asyncio.AbstractEventLoop) -> _Result:
        """Do the work."""
        with deadline(self._limit_s):
            with self._lock:
                if self._cancelled:
                    raise ClientGone
                self._task = loop.create_task(self._work())
            try:
                return loop.run_until_complete(self._task)
            except asyncio.CancelledError:
                raise ClientGone from None
            finally:
                _end(asyncio.all_tasks(loop), loop)

    def cancel(self) -> None:
        """End the work at its next step."""
        with self._lock:
            self._cancelled = True
            task = self._task
        if task is not None and not task.done():
            task.get_loop().call_soon_threadsafe(task.cancel)


class Workers:
    """A few threads, and a line of requests that wait for one.

    Args:
        at_once: Requests that are worked on at the same time.
        waiting: Requests that may wait; one more is refused.
        limit_s: Seconds that a request may take, waiting included.
    """

    def __init__(self, at_once: int, waiting: int, limit_s: float) -> None:
        self.limit_s = limit_s
        self._most_waiting = waiting
        self._free = asyncio.Semaphore(at_once)
        self._pool = ThreadPoolExecutor(at_once, "request")
        self._loops = threading.local()
        self.waiting = 0
        self.running = 0

    async def run(self, work: Work[_Result], gone: Callable[[], Coroutine[Any, Any, object]]) -> _Result:
        """Return the result of some work, done in a thread.

        Args:
            work: Gives a coroutine, which is run on an event loop of that thread.
            gone: Gives a coroutine that ends when the client has left.

        Raises:
            Busy: too many requests wait, or this one waited as long as it may take.
            QueryTimeout: the work took longer than the limit; the thread ends it at its next step.
            ClientGone: the client left; likewise.
        """
        if self._free.locked() and self.waiting >= self._most_waiting:
            raise Busy("too many requests wait already: ask again in a moment")
        loop = asyncio.get_running_loop()
        until = loop.time() + self.limit_s
        left = asyncio.ensure_future(gone())
        try:
            await self._wait_for_a_thread(left)
            job = _Job(work, max(until - loop.time(), 0))
            done = loop.run_in_executor(self._pool, self._in_thread, job)
            self.running += 1
            done.add_done_callback(self._ended)
            await asyncio.wait({done, left}, timeout=max(until - loop.time(), 0), return_when=asyncio.FIRST_COMPLETED)
            if done.done():
                return done.result()
            job.cancel()
            if left.done():
                raise ClientGone
            raise QueryTimeout(f"the request took longer than {self.limit_s:g} s (LEXGRAPH_REQUEST_TIMEOUT_S)")
        finally:
            left.cancel()

    async def _wait_for_a_thread(self, left: asyncio.Future[object]) -> None:
        if not self._free.locked():
            await self._free.acquire()
            return
        self.waiting += 1
        turn = asyncio.ensure_future(self._free.acquire())
        try:
            await asyncio.wait({turn, left}, timeout=self.limit_s, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._free.release()  # the turn came at the very moment: nobody would give it back
            raise
        finally:
            self.waiting -= 1
            if not turn.done():
                turn.cancel()
        if not turn.done():
            if left.done():
                raise ClientGone
            raise Busy(f"no thread was free within {self.limit_s:g} s: ask again in a moment")

    def _ended(self, done: asyncio.Future[Any]) -> None:
        self.running -= 1
        self._free.release()
        if not done.cancelled():
            done.exception()  # seen, even where whoever asked has gone

    def _in_thread(self, job: _Job[_Result]) -> _Result:
        loop = getattr(self._loops, "loop", None)
        if loop is None:
            loop = self._loops.loop = asyncio.new_event_loop()
        return job.run(loop)

    def close(self) -> None:
        """Let the threads end; what they do now is not waited for."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _end(begun: set[asyncio.Task[Any]], loop: asyncio.AbstractEventLoop) -> None:
    """End what a request began and left: the next one has the loop to itself."""
    for task in begun:
        task.cancel()
    if begun:
        loop.run_until_complete(asyncio.gather(*begun, return_exceptions=True))
