"""``deque``: a growing list with two ends, of the same items as Python's own."""

from collections import deque

import numpy as np
import pytest

from npcompile import jit
from tests.support.oracle import as_python


def distances(grid):
    h, w = grid.shape
    dist = np.full((h, w), -1)
    dist[0, 0] = 0
    queue = deque([(0, 0)])
    while queue:
        i, j = queue.popleft()
        for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            a, b = i + di, j + dj
            if 0 <= a < h and 0 <= b < w and grid[a, b] == 0 and dist[a, b] < 0:
                dist[a, b] = dist[i, j] + 1
                queue.append((a, b))
    return dist


def window_maxima(x, k):
    queue, found = deque(), []
    for i in range(len(x)):
        while queue and x[queue[-1]] <= x[i]:
            queue.pop()
        queue.append(i)
        if queue[0] <= i - k:
            queue.popleft()
        if i >= k - 1:
            found.append(x[queue[0]])
    return np.array(found)


def flood(image, new):
    old, queue, count = image[0, 0], deque(), 1
    queue.append((0, 0))
    image[0, 0] = new
    while queue:
        i, j = queue.popleft()
        for a, b in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):
            if 0 <= a < image.shape[0] and 0 <= b < image.shape[1] and image[a, b] == old:
                image[a, b] = new
                count += 1
                queue.append((a, b))
    return count


def test_search_by_breadth() -> None:
    rng = np.random.default_rng(0)
    as_python(distances, (rng.random((7, 8)) < 0.2).astype(int) * (np.arange(8) > 0), compiled=True)


def test_a_sliding_geometry() -> None:
    as_python(window_maxima, np.random.default_rng(0).random(60).round(1), 7, compiled=True)


def test_filling_in_place() -> None:
    as_python(flood, (np.random.default_rng(0).random((6, 6)) < 0.3).astype(int), 7, compiled=True)


def test_both_ends() -> None:
    def ends(x):
        queue, found = deque([1.0] * 3), []
        for v in x:
            queue.append(float(v))
            queue.appendleft(queue.pop() * 2)
            queue.rotate(2)
            queue[1] = v + queue[-1]
            found.append(float(queue[0] + queue[-1]))
        return found, len(queue)

    as_python(ends, np.arange(9.0), compiled=True)


def test_room_that_is_got_back() -> None:
    def halves(n):
        queue, k = deque([0]), 0
        while queue and k < n:
            i = queue.popleft()
            k += 1
            queue.append(2 * i % 1001)
            queue.append((2 * i + 1) % 1001)
            if k % 3 == 0:
                queue.pop()
        return len(queue), queue[5], queue

    as_python(halves, 3000, compiled=True)


@pytest.mark.parametrize("most", [3, 1, 0, 40])
def test_a_bound(most: int) -> None:
    def means(x, k):
        queue, found = deque(maxlen=k), []
        for v in x:
            queue.append(float(v))
            found.append((queue[0] if queue else 0.5) + len(queue))
        return found, queue

    as_python(means, np.arange(9.0), most, compiled=True)


@pytest.mark.parametrize("method", ["pop", "popleft"])
def test_an_empty_queue(method: str) -> None:
    def too_many(x, left):
        queue = deque()
        for i in range(len(x)):
            queue.append(x[i])
        for _ in range(len(x) + 1):
            x[0] += queue.popleft() if left else queue.pop()

    for call in (jit(too_many), too_many):
        x = np.arange(4.0)
        with pytest.raises(IndexError, match="pop from an empty deque"):
            call(x, method == "popleft")
        assert x[0] == 6


def test_places_out_of_range() -> None:
    def past(x, k):
        queue = deque()
        for v in x:
            queue.append(v)
        return queue[k]

    as_python(past, np.arange(4.0), -4, compiled=True)
    for call in (jit(past), past):
        with pytest.raises(IndexError, match="deque index out of range"):
            call(np.arange(4.0), 4)


def test_its_class_and_its_items() -> None:
    def known(x):
        queue = deque([3, 1, 2])
        return (sum(queue), list(queue), max(queue), sorted(queue), len(queue), bool(queue),
                queue[1], isinstance(queue, deque), type(queue) is deque)

    as_python(known, np.arange(3.0), compiled=True)


def test_inner_attributes_are_not_seen() -> None:
    def inside(x):
        queue = deque()
        for v in x:
            queue.append(v)
        return queue._items

    for call in (jit(inside), inside):
        with pytest.raises(AttributeError, match="has no attribute '_items'"):
            call(np.arange(3.0))


def test_a_loop_over_a_queue_that_grows() -> None:
    def grows(x):
        queue = deque()
        for v in x:
            queue.append(v)
        for v in queue:
            queue.append(v)

    for call in (jit(grows), grows):
        with pytest.raises(RuntimeError, match="deque mutated during iteration"):
            call(np.arange(3.0))


def test_queues_from_outside_are_pythons() -> None:
    def shift(queue):
        queue.append(queue.popleft())
        return queue

    queue = deque([1, 2, 3])
    assert jit(shift)(queue) is queue and list(queue) == [2, 3, 1]
