"""Threads that answer requests: so many at once, the others in order, none longer than it may."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any

import pytest

from api.workers import ClientGone, Workers
from runtime.deadline import within
from schema.errors import Busy, QueryTimeout


async def stays() -> None:
    """A client that waits for its answer."""
    await asyncio.Event().wait()


def waiting_for(event: threading.Event, result: int) -> Any:
    async def work() -> int:
        event.wait()
        return result

    return work


def scenario(play: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(play, 20))


def test_work_is_done_off_the_event_loop_and_knows_its_time() -> None:
    async def play() -> None:
        async def work() -> tuple[str, float]:
            await asyncio.sleep(0)
            return threading.current_thread().name, within(0)

        thread, left_s = await Workers(1, 0, 5).run(work, stays)
        assert thread != threading.current_thread().name
        assert 0 < left_s <= 5

    scenario(play())


def test_what_work_raises_reaches_whoever_asked_and_the_thread_goes_on() -> None:
    async def play() -> None:
        workers = Workers(1, 0, 5)

        async def broken() -> None:
            raise KeyError("pain")

        async def whole() -> int:
            return 1

        with pytest.raises(KeyError, match="pain"):
            await workers.run(broken, stays)
        assert await workers.run(whole, stays) == 1
        assert (workers.running, workers.waiting) == (0, 0)

    scenario(play())


def test_more_than_can_be_worked_on_wait_in_order_and_more_than_can_wait_are_refused() -> None:
    async def play() -> None:
        workers = Workers(1, 2, 10)
        go_on = threading.Event()
        ended: list[int] = []

        async def ask(n: int) -> None:
            ended.append(await workers.run(waiting_for(go_on, n), stays))

        asked = []
        for n in range(3):
            asked.append(asyncio.create_task(ask(n)))
            await asyncio.sleep(0.01)
        assert (workers.running, workers.waiting) == (1, 2)
        with pytest.raises(Busy, match="ask again"):
            await workers.run(waiting_for(go_on, 3), stays)
        go_on.set()
        await asyncio.gather(*asked)
        assert ended == [0, 1, 2]

    scenario(play())


def test_work_that_takes_too_long_is_given_up_and_its_thread_comes_back_when_it_ends() -> None:
    async def play() -> None:
        workers = Workers(1, 1, 0.2)
        go_on = threading.Event()
        with pytest.raises(QueryTimeout, match=r"longer than 0\.2 s"):
            await workers.run(waiting_for(go_on, 1), stays)
        with pytest.raises(Busy, match="no thread was free"):
            await workers.run(waiting_for(go_on, 2), stays)
        go_on.set()
        while workers.running:
            await asyncio.sleep(0.01)
        assert await workers.run(waiting_for(go_on, 3), stays) == 3

    scenario(play())


def test_work_ends_at_its_next_step_when_the_client_leaves() -> None:
    async def play() -> None:
        workers = Workers(1, 1, 10)
        gone, begun = asyncio.Event(), threading.Event()
        steps: list[str] = []

        async def work() -> None:
            steps.append("first")
            begun.set()
            try:
                await asyncio.sleep(10)
            finally:
                steps.append("ended")

        async def leave() -> None:
            await asyncio.to_thread(begun.wait)
            gone.set()

        leaving = asyncio.create_task(leave())
        with pytest.raises(ClientGone):
            await workers.run(work, gone.wait)
        await leaving
        while workers.running:
            await asyncio.sleep(0.01)
        assert steps == ["first", "ended"]

    scenario(play())


def test_a_client_that_leaves_the_line_is_not_worked_for() -> None:
    async def play() -> None:
        workers = Workers(1, 1, 10)
        go_on, gone = threading.Event(), asyncio.Event()
        first = asyncio.create_task(workers.run(waiting_for(go_on, 1), stays))
        await asyncio.sleep(0.01)
        second = asyncio.create_task(workers.run(waiting_for(go_on, 2), gone.wait))
        await asyncio.sleep(0.01)
        gone.set()
        with pytest.raises(ClientGone):
            await second
        go_on.set()
        assert await first == 1
        assert (workers.running, workers.waiting) == (0, 0)

    scenario(play())


def test_what_a_request_leaves_undone_does_not_go_on_in_the_next() -> None:
    async def play() -> None:
        workers = Workers(1, 1, 10)
        left: list[asyncio.Task[None]] = []

        async def forgetful() -> None:
            left.append(asyncio.create_task(asyncio.sleep(10)))

        async def next_one() -> bool:
            await asyncio.sleep(0)
            return left[0].cancelled()

        await workers.run(forgetful, stays)
        assert await workers.run(next_one, stays)

    scenario(play())
