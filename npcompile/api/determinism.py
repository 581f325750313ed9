"""Switches for deterministic results, as PyTorch has them and beyond."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from npcompile.core import config
from npcompile.core.config import Deterministic


def use_deterministic_algorithms(mode: Deterministic, warn_only: bool = False) -> None:
    """Sets the deterministic mode of this context (thread or task).

    Parameters
    ----------
    mode
        ``False``: libraries choose.  ``True``: the same bits on every run and thread count of
        this machine.  ``"portable"``: the same bits on every machine.
    warn_only
        Warn instead of raising where an operator can't promise it.

    Examples
    --------
    >>> import npcompile
    >>> npcompile.use_deterministic_algorithms(True)
    >>> npcompile.use_deterministic_algorithms(False)
    """
    config.set_deterministic_mode(mode, warn_only)
    config.modes.change(standing=bool(mode))


@contextmanager
def deterministic(mode: Deterministic = True, warn_only: bool = False) -> Iterator[None]:
    """A block in which results are deterministic; see :func:`use_deterministic_algorithms`.

    Raises
    ------
    DeterminismError
        In the block, by name, for what can't promise the mode.

    Examples
    --------
    >>> import npcompile
    >>> with npcompile.deterministic("portable"):
    ...     pass
    """
    token = config.set_deterministic_mode(mode, warn_only)
    config.modes.change(1 if mode else 0)
    try:
        yield
    finally:
        config.modes.change(-1 if mode else 0)
        config.reset_deterministic_mode(token)
