"""The functions that docs/life_of_a_call.md follows; ``# line N`` in its texts counts from here."""

import numpy as np


def line(x):
    return x * 2 + 1


def tally(counts, places):
    for i in range(len(places)):
        counts[places[i]] += 1.0


def tag(x, names):
    y = np.sqrt(x)
    names.sort()
    return y + 1, names[0]
