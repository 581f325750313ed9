"""What tests need to know of the machine that runs them."""

from __future__ import annotations

import os

SLOWER = int(os.environ.get("NPCOMPILE_TEST_SLOWER", "1"))  #: than usual: that of an emulator


def casts_are_even() -> bool:
    """Whether NumPy gives a number out of an integer's range the same integer everywhere.

    On machines whose instructions saturate, what its compiler made of a loop decides: the middle
    of a contiguous array has another result than its last elements and arrays with strides.
    """
    from npcompile.backends.target import here  # some tests import it while signals come

    return not here().saturates
