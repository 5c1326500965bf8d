"""A cache of bounded size: what was used last is kept, by weight and not by number."""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


class BoundedCache(Generic[_Key, _Value]):
    """The values that were used last, up to a weight in all. For any number of threads.

    Args:
        most: weight of all values together, in whatever unit `put` is told them.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._kept: OrderedDict[_Key, tuple[_Value, int]] = OrderedDict()
        self._weight = 0

    def __len__(self) -> int:
        """Return the number of values that are kept."""
        return len(self._kept)

    def get(self, key: _Key) -> _Value | None:
        """Return the value of a key; None where there is none, or none any more."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def put(self, key: _Key, value: _Value, weight: int) -> None:
        """Keep a value, and give up those that were not used for longest; one that is too heavy alone is not kept."""
        with self._lock:
            _, old = self._kept.pop(key, (None, 0))
            self._weight -= old
            if weight > self._most:
                return
            self._kept[key] = value, weight
            self._weight += weight
            while self._weight > self._most:
                _, (_, given_up) = self._kept.popitem(last=False)
                self._weight -= given_up
