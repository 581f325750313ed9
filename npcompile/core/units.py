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


def bytes_text(count: int) -> str:
    """A number of bytes with a unit that fits.

    >>> bytes_text(160), bytes_text(2_400_008), bytes_text(80_000)
    ('160 bytes', '2.4 MB', '80 kB')
    """
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} bytes"
