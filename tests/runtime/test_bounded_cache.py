"""A bounded cache keeps what was used last."""

from runtime.bounded_cache import BoundedCache


def test_what_was_used_longest_ago_is_given_up_first() -> None:
    kept: BoundedCache[str, int] = BoundedCache(10)
    for number, key in enumerate("abc"):
        kept.put(key, number, 3)
    assert kept.get("a") == 0  # used again, and so younger than b
    kept.put("d", 3, 3)
    assert [kept.get(key) for key in "abcd"] == [0, None, 2, 3]


def test_weight_counts_and_not_number() -> None:
    kept: BoundedCache[str, str] = BoundedCache(100)
    for key in "abcdefgh":
        kept.put(key, key, 10)
    kept.put("heavy", "heavy", 75)
    assert len(kept) == 3
    assert (kept.get("f"), kept.get("g"), kept.get("h")) == (None, "g", "h")


def test_what_is_too_heavy_alone_is_not_kept_and_drives_nothing_out() -> None:
    kept: BoundedCache[str, str] = BoundedCache(10)
    kept.put("light", "light", 5)
    kept.put("heavy", "heavy", 11)
    assert (kept.get("light"), kept.get("heavy")) == ("light", None)


def test_a_value_that_is_put_again_weighs_once() -> None:
    kept: BoundedCache[str, int] = BoundedCache(10)
    for number in range(100):
        kept.put("a", number, 6)
    kept.put("b", 1, 4)
    assert (kept.get("a"), kept.get("b")) == (99, 1)
