"""Numbers with units, for readers."""

from __future__ import annotations


def time_text(seconds: float) -> str:
    """Seconds with a unit that fits.

    >>> time_text(0.0123), time_text(4.5e-6), time_text(2.0)
    ('12.3 ms', '4.5 us', '2 s')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"
