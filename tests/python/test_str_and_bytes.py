"""Strings and bytes as data: looked into by loops and by indices that only the run knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from tests.fuzz import strings
from tests.fuzz.framework import checked
from tests.support import oracle

CODES = {"A": 0, "C": 1, "G": 2, "T": 3}
SCORES = {"A": 0.5, "C": 0.25}
PAIRED = {"A": "T", "T": "A", "C": "G", "G": "C"}
GREEK = "αβγδ"


class Named(str):
    """A string of a class of its own."""

    def __getitem__(self, key: Any) -> str:
        return "A"


def edit_distance(a: str, b: str) -> int:
    rows = np.zeros((len(a) + 1, len(b) + 1), dtype=np.int64)
    for i in range(len(a) + 1):
        rows[i, 0] = i
    for j in range(len(b) + 1):
        rows[0, j] = j
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            rows[i, j] = min(rows[i - 1, j] + 1, rows[i, j - 1] + 1, rows[i - 1, j - 1] + cost)
    return rows[len(a), len(b)]


def common_subsequence(a: str, b: str) -> int:
    if len(a) < len(b):
        a, b = b, a
    row = [0] * (len(b) + 1)
    for first in a:
        diagonal = 0
        for j, second in enumerate(b):
            above = row[j + 1]
            row[j + 1] = diagonal + 1 if first == second else max(row[j], above)
            diagonal = above
    return row[-1]


def letters(s: str) -> dict[str, int]:
    found = {"A": 0, "C": 0, "G": 0, "T": 0}
    for letter in s:
        found[letter] += 1
    return found


def checksum(data: bytes) -> int:
    low, high = 1, 0
    for byte in data:
        low = (low + byte) % 65521
        high = (high + low) % 65521
    return high * 65536 + low


def encoded(s: str) -> np.ndarray:
    found = np.zeros(len(s), dtype=np.int64)
    for k, letter in enumerate(s):
        found[k] = CODES.get(letter, -1)
    return found


def written(s: str, out: np.ndarray) -> np.ndarray:
    for k in range(len(s)):
        out[k] = SCORES[s[k]]
    return out


def code_points(s: str) -> int:
    total = 0
    for k, letter in enumerate(reversed(s)):
        total += (k + 1) * ord(letter)
    return total


def first_capital(s: str) -> str | None:
    for letter in s:
        if "A" <= letter <= "Z":
            return letter
    return None


def at(s: str, k: int) -> str:
    last = s[0]
    for j in range(k):
        last = s[j * 2 - k]
    return last


def runs(s: str) -> int:
    longest = count = 0
    before = ""
    for letter in s:
        count = count + 1 if letter == before else 1
        longest = max(longest, count)
        before = letter
    return longest


def matches(s: str, pattern: str) -> int:
    found = 0
    for k in range(len(s) - len(pattern) + 1):
        if s[k : k + len(pattern)] == pattern:
            found += 1
    return found


def gaps(s: str, gap: str) -> int:
    found = 0
    for letter in s:
        if letter == gap:
            found += 1
    return found


def heads(s: str, t: str) -> int:
    found = 0
    for k in range(len(s)):
        if s[k:] == t or s[k] == t[:1]:
            found += k
    return found


def vowels(s: str) -> float:
    return sum(letter in "aeiou" for letter in s) / max(len(s), 1)


def number(s: str) -> int:
    found = 0
    for letter in s:
        found = found * 10 + int(letter)
    return found


def greek(a: np.ndarray) -> str:
    return GREEK[int(a.sum()) % 7]


def complement(s: str) -> str:
    last = "A"
    for letter in s:
        last = PAIRED[letter]
    return last


def rest(s: str, out: np.ndarray) -> str:
    for k, letter in enumerate(s):
        out[0] += 1.0
        if letter == "x":
            return s[k:]
        out[k] = ord(letter)
    return s


def repeated(s: str, out: np.ndarray) -> str:
    last = "-"
    for k, letter in enumerate(s):
        out[0] += 1.0
        if letter == last:
            print("again", letter, k)
        last = letter
    return last


def palindrome(s: str) -> bool:
    same = True
    for k in range(len(s) // 2):
        if s[k] != s[-1 - k]:
            same = False
    return same


ODD = ("", "a", "\x00", "a\U0001f600b\U0001f600", "\ud800\udc00", "é\u0663Ā", "AAaZ")
DNA = ("GATTACA", "ACGT", "", "A", "ACGTX", "TTTT")
PROGRAMS: list[tuple[Callable[..., Any], list[tuple[Any, ...]]]] = [
    (edit_distance, [("kitten", "sitting"), ("", "abc"), ("abc", ""), ("", ""), ODD[3:5], ODD[:2]]),
    (common_subsequence, [("GATTACA", "ACGT"), ("A", "GATC"), ("", ""), ("x", ""), ODD[3:5]]),
    (letters, [(s,) for s in DNA]),
    (checksum, [(b"",), (b"Wikipedia",), (bytes(range(256)),), (bytearray(b"ab"),), ("ab",)]),
    (encoded, [(s,) for s in (*DNA, *ODD)]),
    (written, [(s, np.zeros(4)) for s in ("ACCA", "A", "", "AXCA", "CCCCCC")]),
    (code_points, [(s,) for s in (*ODD, *DNA)]),
    (first_capital, [(s,) for s in (*ODD, "abcD", "ABC", "É")]),
    (at, [("abcd", 3), ("abcd", 4), ("abcd", 5), ("", 1), ("abcd", 0), ("a\U0001f600c", 2)]),
    (runs, [(s,) for s in (*ODD, *DNA, "aabbbc")]),
    (matches, [("abcabcab", "abc"), ("aaaa", "aa"), ("", "a"), ("ab", ""), ("abab", "ab")]),
    (gaps, [("A-C--", "-"), ("A-C--", ""), ("A-C--", "--"), ("", "-"), ("-", "-")]),
    (heads, [("abcab", "ab"), ("abcab", "b"), ("", ""), ("abc", ""), ODD[3:5]]),
    (vowels, [(s,) for s in (*ODD, "education")]),
    (number, [("123",), ("",), ("0042",), ("12a",), ("\u0663\u0664",), ("1" * 30,)]),
    (greek, [(np.arange(n) * 1.0,) for n in (1, 2, 3, 4, 7)]),
    (complement, [(s,) for s in DNA]),
    (rest, [(s, np.zeros(3)) for s in ("abx", "xab", "", "abc", "abcd", "a\U0001f600x")]),
    (repeated, [(s, np.zeros(2)) for s in ("abba", "", "--aa", *ODD)]),
    (palindrome, [(s,) for s in ("abba", "aba", "ab", "", "x", "a\U0001f600a")]),
]


@pytest.mark.parametrize(("function", "calls"), PROGRAMS, ids=lambda x: getattr(x, "__name__", ""))
def test_programs(function: Callable[..., Any], calls: list[tuple[Any, ...]]) -> None:
    compiled = jit(function)
    for args in calls:
        oracle.check_calls(compiled, function, *args)
    plain = [args for args in calls if bytearray not in map(type, args)]
    assert compiled.cache_info().compiled, compiled.explain(*plain[0])


@pytest.mark.parametrize("function", [edit_distance, common_subsequence, matches])
def test_one_compile_for_all_strings(function: Callable[..., Any]) -> None:
    compiled = jit(function)
    for pair in (("kitten", "kit"), ("sitting", "ten"), ("abcdefgh", "xyzabc")):
        long, other = pair[0] * 40, pair[1] * 30
        assert compiled(long, other) == function(long, other)
    assert compiled.cache_info()[:2] == (1, 0)


def test_keys_stay_static() -> None:
    def scaled(x: np.ndarray, mode: str) -> Any:
        return x * 2.0 if mode == "fast" else x + len(mode)

    compiled = jit(scaled)
    for mode in ("fast", "slow", "other"):
        assert np.array_equal(compiled(np.arange(3.0), mode), scaled(np.arange(3.0), mode))
    assert compiled.cache_info().compiled == 3


def test_letters_that_name_something_stay_static() -> None:
    def combined(x: np.ndarray, axes: str) -> Any:
        found = {}
        for k, name in enumerate(axes):
            found[name] = x[k]
        return found

    compiled = jit(combined)
    for axes in ("xyz", "zx"):
        want = combined(np.arange(3.0), axes)
        assert compiled(np.arange(3.0), axes) == want
    assert compiled.cache_info().refused == 0


def test_defaults_stay_static() -> None:
    def total(x: np.ndarray, order: str = "xy") -> Any:
        found = 0.0
        for name in order:
            found += x[0] if name == "x" else x[1]
        return found

    compiled = jit(total)
    x = np.array([1.0, 10.0])
    assert [compiled(x), compiled(x, "xx"), compiled(x, "yyy")] == [11.0, 2.0, 30.0]
    assert compiled.cache_info().refused == 0


@pytest.mark.parametrize("held", [Named("CCC"), np.str_("CCC"), bytearray(b"CCC"), ["C"], None])
def test_other_classes(held: Any) -> None:
    def count(s: Any) -> int:
        found = 0
        for k in range(len(s)):
            if s[k] == "A":
                found += 1
        return found

    compiled = jit(count)
    assert compiled("ABA") == 2
    oracle.check_calls(compiled, count, held)
    oracle.check_calls(compiled, count, "AAAA")


def test_a_string_that_is_returned_is_the_same_object() -> None:
    def last(s: str, t: str) -> tuple[str, str]:
        found = 0
        for letter in s:
            found += letter == "A"
        return (s, t) if found > 1 else (t, s)

    compiled = jit(last)
    for s in ("AA" * 300, "CC" * 300):
        t = s + "X"
        got, want = compiled(s, t), last(s, t)
        assert all(a is b for a, b in zip(got, want))


def test_in_attributes_and_items() -> None:
    class Thing:
        def __init__(self, text: str) -> None:
            self.text = text

    def count(thing: Thing, pair: tuple[str, str]) -> int:
        found = 0
        for letter in thing.text:
            for other in pair[1]:
                found += letter == other
        return found

    compiled = jit(count)
    for text in ("GATTACA", "AC", ""):
        args = Thing(text), ("", text[::-1])
        assert compiled(*args) == count(*args)
    assert compiled.cache_info()[:2] == (1, 0)


def test_iterators_that_were_run_are_at_their_end() -> None:
    def total(s: str) -> Any:
        found, rest = 0, iter(s)
        for letter in rest:
            found += ord(letter)
        return found, list(rest)

    compiled = jit(total)
    for s in ("abc", "", "abcdefgh"):
        assert compiled(s) == total(s)


def test_letters_of_one_iteration_are_nothing_to_the_next_attempt() -> None:
    """A loop that is traced again forgets values which belonged to the turn traced before."""

    def last(s: str, t: str) -> Any:
        c = p = "A"
        for _, (c, d) in enumerate(zip(s, t)):
            for d in "ACGT":
                if PAIRED[c] in {"G", "T", "x"}:
                    p = d
            for c in s[1:]:
                c = p
        return sum(c == d for d in t)

    def objects(x: np.ndarray, n: int) -> Any:
        y, found = x, 0.0
        for i in range(n):
            made = x * i
            y, z = made, [made, i]
            for j in range(n):
                if j % 3 == 1:
                    y = x
                if x[j] > 0.5:
                    z = None
            found += y[1] + (z is None)
        return found, y

    compiled, other = jit(last), jit(objects)
    for pair in (("GATTACA", "ACCGT"), ("", "A"), ("CAT", "CAT"), ("TAG", "")):
        assert compiled(*pair) == last(*pair)
    for n in (0, 1, 2, 7, 8):
        x = np.linspace(0, 1, 9)
        got, want = other(x, n), objects(x, n)
        assert got[0] == want[0] and got[1].tolist() == want[1].tolist()


@pytest.mark.parametrize("first", range(0, 40, 20))
def test_random_programs(first: int) -> None:
    checked(strings.GRAMMAR, range(first, first + 20))


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("first", range(1000, 3000, 200))
def test_many_random_programs(first: int) -> None:
    checked(strings.GRAMMAR, range(first, first + 200))
