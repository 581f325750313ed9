"""Sorting, heaps and sieves in arrays."""

import numpy as np

from benchmarks.programs.record import program


def quicksort(a):
    stack = np.empty((64, 2), dtype=np.int64)
    stack[0] = 0, len(a) - 1
    depth = 1
    while depth > 0:
        depth -= 1
        low, high = stack[depth]
        while low < high:
            pivot = a[(low + high) // 2]
            i, j = low, high
            while i <= j:
                while a[i] < pivot:
                    i += 1
                while a[j] > pivot:
                    j -= 1
                if i <= j:
                    a[i], a[j] = a[j], a[i]
                    i += 1
                    j -= 1
            if j - low > high - i:
                stack[depth] = low, j
                low = i
            else:
                stack[depth] = i, high
                high = j
            depth += 1


def heap_sort(a):
    def sift(start, end):
        root = start
        while 2 * root + 1 < end:
            child = 2 * root + 1
            if child + 1 < end and a[child] < a[child + 1]:
                child += 1
            if a[root] >= a[child]:
                break
            a[root], a[child] = a[child], a[root]
            root = child

    n = len(a)
    for start in range(n // 2 - 1, -1, -1):
        sift(start, n)
    for end in range(n - 1, 0, -1):
        a[0], a[end] = a[end], a[0]
        sift(0, end)


def insertion_sort(a):
    for i in range(1, len(a)):
        x = a[i]
        j = i
        while j > 0 and a[j - 1] > x:
            a[j] = a[j - 1]
            j -= 1
        a[j] = x
    return a


def merge_sort(a):
    n = len(a)
    width = 1
    source, target = a.copy(), np.empty_like(a)
    while width < n:
        for low in range(0, n, 2 * width):
            middle, high = min(low + width, n), min(low + 2 * width, n)
            i, j = low, middle
            for k in range(low, high):
                if i < middle and (j >= high or source[i] <= source[j]):
                    target[k] = source[i]
                    i += 1
                else:
                    target[k] = source[j]
                    j += 1
        source, target = target, source
        width *= 2
    return source


def radix_sort(a):
    for shift in range(0, 32, 8):
        digit = (a >> shift) & 255
        counts = np.zeros(257, dtype=np.int64)
        for d in digit:
            counts[d + 1] += 1
        starts = np.cumsum(counts)
        out = np.empty_like(a)
        for i in range(len(a)):
            d = digit[i]
            out[starts[d]] = a[i]
            starts[d] += 1
        a = out
    return a


def sieve_slices(n):
    prime = np.ones(n + 1, dtype=bool)
    prime[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if prime[i]:
            prime[i * i :: i] = False
    return np.flatnonzero(prime)


def sieve_loops(n):
    composite = np.zeros(n + 1, dtype=np.uint8)
    count = 0
    for i in range(2, n + 1):
        if composite[i]:
            continue
        count += 1
        j = i * i
        while j <= n:
            composite[j] = 1
            j += i
    return count


def binary_searches(table, keys):
    places = np.empty(len(keys), dtype=np.int64)
    for k, key in enumerate(keys):
        low, high = 0, len(table)
        while low < high:
            middle = (low + high) // 2
            if table[middle] < key:
                low = middle + 1
            else:
                high = middle
        places[k] = low
    return places


def collatz_longest(limit):
    best, longest = 0, 0
    for start in range(1, limit):
        n, steps = start, 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        if steps > longest:
            best, longest = start, steps
    return best, longest


def shortest_paths(indptr, targets, lengths, source):
    """Dijkstra with a binary heap kept in two arrays."""
    n = len(indptr) - 1
    distance = np.full(n, np.inf)
    distance[source] = 0.0
    keys = np.empty(len(targets) + 1)
    nodes = np.empty(len(targets) + 1, dtype=np.int64)
    keys[0], nodes[0] = 0.0, source
    size = 1
    while size > 0:
        key, node = keys[0], nodes[0]
        size -= 1
        last_key, last_node = keys[size], nodes[size]
        place = 0
        while 2 * place + 1 < size:
            child = 2 * place + 1
            if child + 1 < size and keys[child + 1] < keys[child]:
                child += 1
            if keys[child] >= last_key:
                break
            keys[place], nodes[place] = keys[child], nodes[child]
            place = child
        keys[place], nodes[place] = last_key, last_node
        if key > distance[node]:
            continue
        for e in range(indptr[node], indptr[node + 1]):
            reached = key + lengths[e]
            if reached < distance[targets[e]]:
                distance[targets[e]] = reached
                place = size
                size += 1
                while place > 0 and keys[(place - 1) // 2] > reached:
                    keys[place] = keys[(place - 1) // 2]
                    nodes[place] = nodes[(place - 1) // 2]
                    place = (place - 1) // 2
                keys[place], nodes[place] = reached, targets[e]
    return distance


def _numbers(n, rng):
    return (rng.random(n),)


def _keys(n, rng):
    return (rng.integers(0, 2**31, n),)


def _limit(n, rng):
    return (n + int(rng.integers(10)),)


def _searches(n, rng):
    return np.sort(rng.random(n)), rng.random(n)


def _roads(n, rng):
    counts = rng.integers(1, 8, n)
    indptr = np.concatenate(([0], np.cumsum(counts)))
    return indptr, rng.integers(0, n, indptr[-1]), rng.uniform(1.0, 10.0, indptr[-1]), 0


program(quicksort, _numbers, 100, 60_000, scalar=True, exact=True)
program(heap_sort, _numbers, 100, 25_000, scalar=True, exact=True)
program(insertion_sort, _numbers, 60, 1500, scalar=True, exact=True)
program(merge_sort, _numbers, 100, 60_000, scalar=True, exact=True)
program(radix_sort, _keys, 100, 100_000, scalar=True, exact=True)
program(sieve_slices, _limit, 500, 20_000_000, exact=True)
program(sieve_loops, _limit, 500, 1_000_000, scalar=True, exact=True)
program(binary_searches, _searches, 100, 50_000, scalar=True, exact=True)
program(collatz_longest, _limit, 60, 15_000, scalar=True, exact=True)
program(shortest_paths, _roads, 40, 20_000, scalar=True, exact=True)
