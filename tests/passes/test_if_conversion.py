"""Branches whose arms are both computed, beside what reads numbers from memory."""

import numpy as np
import pytest

from npcompile import jit


def printed(n, m):
    k = 0
    for _ in range(n):
        k += 1
        if k < m:
            k += 1
        print(k)
    return k


def added(n, m):
    k, a = 0, np.zeros(40)
    for _ in range(n):
        k += 1
        if k < m:
            k += 1
        a += k
    return k, a


def nested(n, m):
    k = j = 0
    for i in range(n):
        k += 1
        if k < m:
            k += 2
            if i % 2:
                j += 1
        else:
            j -= 1
        print(j, k)
    return j, k


@pytest.mark.parametrize("function", [printed, added, nested])
def test_numbers_that_memory_holds(function, capsys) -> None:
    results = []
    for call in (jit(function), function):
        result = call(6, 4)
        results.append((repr(result), capsys.readouterr().out))
    assert results[0] == results[1]
