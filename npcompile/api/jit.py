"""``@jit``: a compiled function that behaves like the function it replaces."""

from __future__ import annotations

import atexit
import functools
import inspect
import os
import sys
import threading
import types
import weakref
from collections.abc import Callable
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    ParamSpec,
    TypeVar,
    Unpack,
    cast,
    overload,
)

import numpy as np

from npcompile.core.aside import load
from npcompile.core.config import Config, disabled, from_environment, modes, options
from npcompile.core.errors import CompileError, Refusal
from npcompile.core.paths import defer
from npcompile.core.sections import again, inside, section
from npcompile.core.surroundings import why
from npcompile.core.unseen import forget_frames, unseen
from npcompile.runtime.unsafe.native_functions import (
    FunctionBase,
    install,
    passes,
    stands_for,
)

if TYPE_CHECKING:
    from npcompile.api import pandas_engine, pickling
    from npcompile.api.decorator import Decorator, Options
    from npcompile.api.explain import Explanation
    from npcompile.api.lower import Lowered
    from npcompile.api.profile import Profile
    from npcompile.api.report import Report
    from npcompile.runtime.unsafe import gates
    from npcompile.runtime.versions.dispatch import Dispatcher
else:
    defer(globals(), "npcompile.api", "pandas_engine", "pickling")
    defer(globals(), "npcompile.runtime.unsafe", "gates")


P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R", covariant=True)
T = TypeVar("T")


class CacheInfo(tuple[int, int, int]):
    """``(compiled, refused, fallbacks)``: versions compiled, kinds of calls left to Python, and
    calls that ran in Python so far."""

    __slots__ = ()

    @property
    def compiled(self) -> int:
        """The number of compiled versions."""
        return self[0]

    @property
    def refused(self) -> int:
        """The number of kinds of calls that are left to Python."""
        return self[1]

    @property
    def fallbacks(self) -> int:
        """The number of calls that ran in Python."""
        return self[2]

    def __repr__(self) -> str:
        return f"CacheInfo(compiled={self[0]}, refused={self[1]}, fallbacks={self[2]})"


_lock = threading.RLock()


def _forked() -> None:
    """In a child: what another thread of the parent held is free."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def _prepare() -> None:
    """Imports most of what calls need, when the first function is decorated.  The compiler itself
    is imported by the first call that no earlier process has compiled."""
    try:
        if load("npcompile.runtime.cache.disk"):
            from npcompile.runtime.cache.disk import sources

            sources()  # before they are imported: what is changed later is another version
            load("npcompile.runtime.versions.native")
    except Exception as error:
        if why(error) is None:
            raise


def _prepared(function: Jit[..., Any]) -> bool:
    """Whether compiled functions can be called now; if not, the plain function is."""
    try:
        return load("npcompile.runtime.versions.dispatch") and function._dispatcher is not None
    except Exception as error:
        if why(error) is None:
            raise
        Jit.__call__ = _plainly  # type: ignore[method-assign]
        return False


@atexit.register
def _close() -> None:
    """At exit Python takes modules apart one after the other: calls run in Python from now on."""
    Jit.__call__ = _plainly  # type: ignore[method-assign]
    for function in modes.listening():
        install(function, 0)
    array = np.ones(1)  # NumPy imports parts of its methods when they are called: now is the time
    for name in _METHODS:
        getattr(array, name)()
    array.clip(0)


_METHODS = ("sum", "prod", "mean", "std", "var", "max", "min", "any", "all", "__repr__", "__str__")


@unseen
def _plainly(self: Jit[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    try:
        return self.__wrapped__(*args, **kwargs)
    except BaseException as error:
        forget_frames(error)
        raise


def _weakly(function: Jit[..., Any]) -> Callable[[], None]:
    """Calls ``modes_changed`` as long as the function lives, and does not keep it alive."""
    found = weakref.ref(function)

    def changed() -> None:
        living = found()
        if living is not None:
            living.modes_changed()

    return changed


def _kind(thing: object) -> str:
    """What somebody has put under ``jit``, and what else would do."""
    if isinstance(thing, type):
        return "classes: put it on their methods"
    if isinstance(thing, functools.partial):
        return "functools.partial: put it on the function inside"
    return f"{type(thing).__name__} objects"


def _of_plain(name: str) -> property:
    """An attribute of the plain function, for whoever looks at a function's parts."""
    return property(lambda self: getattr(self.__wrapped__, name),
                    lambda self, value: setattr(self.__wrapped__, name, value))


class Jit(FunctionBase, Generic[P, R]):
    """A function under :func:`jit`.

    Calls behave exactly as the plain function's, in results, mutation and exceptions.  The plain
    function is ``__wrapped__``.  Checkers of types know its parameters ``P`` and its result ``R``.
    """

    __name__: str
    __qualname__: str
    __wrapped__: Callable[P, R]
    config: Config

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: None, owner: type | None = None) -> Jit[P, R]: ...
        @overload
        def __get__(
            self: Jit[Concatenate[Any, Q], R], instance: object, owner: type | None = None
        ) -> Callable[Q, R]: ...
        def __get__(self, instance: Any, owner: Any = None) -> Any: ...

    __code__ = _of_plain("__code__")
    __globals__ = _of_plain("__globals__")
    __closure__ = _of_plain("__closure__")
    __defaults__ = _of_plain("__defaults__")
    __kwdefaults__ = _of_plain("__kwdefaults__")
    __builtins__ = _of_plain("__builtins__")

    #: what is in ``__dict__`` is handed on by ``functools.wraps`` and pickled
    __slots__ = ("_binder", "_function", "_made", "_pickled", "_seen", "_unchained", "config")

    def __init__(self, function: Callable[P, R], config: Config) -> None:
        functools.update_wrapper(self, function)
        self.__wrapped__ = function
        self.config = config
        self._function = function  # the gate reads it
        stands_for(self, function)
        self._seen: Callable[P, R] | None = None
        self._binder: Any = None
        self._made: Dispatcher | None = None
        self._pickled: pickling.Twins | None = None
        self._unchained = False  # whether ``modes_changed`` has begun and was not finished
        modes.listen(self)

    def _plain(self) -> types.FunctionType:
        return cast(types.FunctionType, self.__wrapped__)

    @property
    def _dispatcher(self) -> Dispatcher:
        """Made at the first call."""
        if self._made is None:
            load("npcompile.runtime.versions.dispatch")
            self._make()
        assert self._made is not None
        return self._made

    @section
    def _make(self) -> None:
        from npcompile.runtime.entry.state import spread
        from npcompile.runtime.versions.dispatch import Dispatcher

        gates.profile_with(spread(Jit.profiled))
        with _lock:
            if self._made is None:
                self._made = Dispatcher.of(self._plain(), self.config, _weakly(self))

    @unseen
    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            if inside() or (self._made is None and not _prepared(self)):
                return self.__wrapped__(*args, **kwargs)
            looked = gates.looked_at()
            if looked == gates.CALLS and not passes(self):
                return self.profiled(*args, **kwargs)
            if looked == gates.LINES:
                return self.__wrapped__(*args, **kwargs)
            if self._unchained:
                self.modes_changed()
            taker = modes.taker_here()
            if taker is not None:
                return cast(R, taker(self, args, kwargs))
            dispatcher = self._made or self._dispatcher
            given, wanted = len(args), len(dispatcher.served.parameters.positional)
            if self._binder is None and (kwargs or given < wanted) and dispatcher.versions:
                self._bind()
            called = dispatcher if self.config.check else dispatcher.call
            return cast(R, called(*args, **kwargs))
        except BaseException as error:
            forget_frames(error)
            raise

    @section
    def _bind(self) -> None:
        """Has keywords and defaults bound by machine code from now on, if that can be."""
        from npcompile.runtime.entry.argument_binding import Binder
        from npcompile.runtime.versions.native import in_python

        dispatcher = self._dispatcher
        with dispatcher.served.lock:
            if self._binder is None and dispatcher.served.parameters.plain:
                Binder(self, self._plain(), in_python)
                self.modes_changed()

    @section
    def modes_changed(self) -> None:
        """Chains the entries of the versions that may be called directly, the newest first."""
        dispatcher = self._made
        if dispatcher is None or self.config.check:
            return
        self._unchained = True
        with dispatcher.served.lock:
            careful = bool(modes or self.config.deterministic)
            chain = [] if modes.taker is not None else dispatcher.installable(careful)
            last = 0
            if self._binder is not None and self._binder.outdated:
                self._binder = None
            if dispatcher.left.forwarder is not None:
                dispatcher.left.forwarder.withdraw()
                if modes.taker is None:
                    last = dispatcher.left.forwarder.serve(self)
            first = self._binder.address if self._binder is not None and chain else last
            for version in reversed(chain):
                first = version.precede(first)
            if self._binder is None:
                install(self, first)
            else:
                self._binder.install(first, last)
        self._unchained = False

    @unseen
    def profiled(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """A call that a profiler sees under the function's name."""
        if not load("npcompile.runtime.entry.profiled_calls"):
            return cast(R, self._plain()(*args, **kwargs))
        from npcompile.runtime.entry.profiled_calls import named

        if self._seen is None:
            self._seen = named(self, self._plain())
        return cast(R, self._seen(*args, **kwargs))

    def explain(self, /, *args: Any, **kwargs: Any) -> Explanation:
        """What becomes of a call with these arguments: captured, left, fused, guarded.

        The arguments are looked at, not changed; nothing is run.  Of a method, the object is the
        first: ``Filter.update.explain(low, x)``.  Without arguments: what happened so far.
        """
        from npcompile.api.explain import explain

        return explain(self._dispatcher, args, kwargs)

    def lower(self, /, *args: Any, **kwargs: Any) -> Lowered:
        """The stages of compiling a call: ``.graph .program .llvm .asm``."""
        from npcompile.api.lower import lower

        return lower(self, self._dispatcher, args, kwargs)

    def profile(self, /, *args: Any, **kwargs: Any) -> Profile:
        """Where the time of a call goes: by line, kernel, library call and graph break.

        The function is called several times, compiled and plain, each time on copies of the
        arguments (``copy.deepcopy``) and with the same random numbers; other effects, as on globals
        or files, happen each time.  Calls that are left to Python because it is faster are profiled
        as compiled code; the plain function's time stands beside.  Printable, and a page in
        notebooks; ``save(path)`` writes a page (``.html``) or a trace for Chrome and Perfetto
        (``.json``).

        Raises
        ------
        Exception
            What the call raises.
        """
        from npcompile.api.profile import profile

        return profile(self._dispatcher, args, kwargs)

    def report(self, /, *args: Any, **kwargs: Any) -> Report:
        """A page about a call: the source with its times and reasons, kernels, memory, and what
        :meth:`explain` says.  It runs what :meth:`profile` runs.

        ``str(report)`` is the page, ``save(path)`` writes it; notebooks show it.
        """
        from npcompile.api.report import report

        return report(self._dispatcher, args, kwargs)

    def clear_cache(self) -> None:
        """Forgets all compiled versions of this process."""
        self._dispatcher.clear()

    def cache_info(self) -> CacheInfo:
        """Numbers of compiled versions, refused kinds of calls, and calls run in Python."""
        d = self._dispatcher
        return CacheInfo((len(d.versions), len(d.policy.refused), sum(d.fallbacks.values())))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return pickling.reduced(self, _arrived, protocol)

    def __setstate__(self, state: types.FunctionType | pickling.Contents) -> None:
        """Makes a function that came by value one that can be called."""
        if self.__dict__:  # one of this process
            return
        contents = state.__defaults__ if isinstance(state, types.FunctionType) else state
        function, config, attributes = cast(pickling.Contents, contents)
        type(self).__init__(self, function, config)
        self.__dict__.update(attributes)

    @property
    def _twins(self) -> pickling.Twins:
        """The object that pickle writes for this function; the first pickling makes it."""
        with _lock:
            if self._pickled is None:
                self._pickled = pickling.Twins(self)
            return self._pickled

    def __copy__(self) -> Jit[..., Any]:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Jit[..., Any]:
        return self

    def __dask_tokenize__(self) -> tuple[str, ...]:
        from npcompile.api.tokens import token

        return token(self)

    def __repr__(self) -> str:
        return f"<npcompile.jit {self.__module__}.{self.__qualname__}>"


class Nested(Jit[P, R]):
    """A function that another one makes, maybe anew at each of its calls."""

    __slots__ = ("_alive",)

    def __init__(self, function: types.FunctionType, config: Config) -> None:
        super().__init__(function, config)
        self._alive = weakref.ref(self)

    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        """What was compiled for it serves the next one of its code.

        The garbage collector clears weak references before it calls this, and frees what else
        belongs to the cycle, machine code too; without it, they are cleared afterwards.
        """
        try:
            made = getattr(self, "_made", None)
            if made is not None and self._alive() is self and not finalizing():
                made.leave_behind()
        except BaseException as error:  # a signal handler's
            again(error)


class Disabled(Jit[P, R]):
    """A function under :func:`jit` while ``NPCOMPILE_DISABLE=1``: calls run the plain function."""

    __slots__ = ("_calls",)

    def __init__(self, function: types.FunctionType, config: Config) -> None:
        super().__init__(function, config)
        self._calls = 0

    @unseen
    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        self._calls += 1
        return cast(R, _plainly(self, *args, **kwargs))

    def explain(self, /, *args: Any, **kwargs: Any) -> Explanation:
        """Says that the function runs in Python."""
        from npcompile.api.explain import Explanation

        return Explanation(self.__qualname__, False, _OFF, compiled=False, in_python=self._calls)

    def lower(self, /, *args: Any, **kwargs: Any) -> Lowered:
        """Raises :class:`CompileError`: nothing is compiled."""
        raise CompileError(f"{self.__qualname__}: {_OFF}")

    def profile(self, /, *args: Any, **kwargs: Any) -> Profile:
        """Raises :class:`CompileError`: nothing is compiled."""
        raise CompileError(f"{self.__qualname__}: {_OFF}")

    def report(self, /, *args: Any, **kwargs: Any) -> Report:
        """Raises :class:`CompileError`: nothing is compiled."""
        raise CompileError(f"{self.__qualname__}: {_OFF}")

    def clear_cache(self) -> None:
        """Forgets nothing: there are no versions."""

    def cache_info(self) -> CacheInfo:
        """No compiled versions, and all calls run in Python."""
        return CacheInfo((0, 0, self._calls))


_OFF = Refusal("disabled", "NPCOMPILE_DISABLE is set")


def _arrived(mark: types.FunctionType | None) -> Jit[..., Any]:
    """The function that was pickled, if it is one of this process, or one without contents."""
    known = pickling.marked(mark) if mark is not None else None
    if isinstance(known, Jit):
        return known
    kind = _kind_made()
    return kind.__new__(kind)


def _kind_made(code: types.CodeType | None = None) -> type[Jit[..., Any]]:
    """The class of functions of this code that are made now."""
    if disabled():
        return Disabled
    _prepare()
    return Nested if code is not None and code.co_flags & inspect.CO_NESTED else Jit


@overload
def jit(  # type: ignore[overload-overlap]
    fn: staticmethod[P, T], **options: Unpack[Options]
) -> staticmethod[P, T]: ...
@overload
def jit(
    fn: classmethod[Any, P, T], **options: Unpack[Options]
) -> classmethod[Any, P, T]: ...
@overload
def jit(fn: Callable[P, T], **options: Unpack[Options]) -> Jit[P, T]: ...
@overload
def jit(fn: None = None, **options: Unpack[Options]) -> Decorator: ...
def jit(fn: Any = None, **given: Any) -> Any:
    """Compiles a NumPy function to machine code when it is first called.

    The function is used as it is: results, mutated arguments, exceptions and warnings are those
    of the plain function.  What can't be compiled runs in Python, and ``f.explain()`` says why.

    Parameters
    ----------
    fn : function, optional
        The function.  Left out, ``jit(...)`` is a decorator with options.
    fullgraph : bool, default: False
        Raise :class:`CompileError` where Python would run the function, or statements of it.
        Library functions may be called between compiled pieces all the same.
    dynamic : bool, default: True
        One compile for all sizes; ``False`` compiles anew for each size.
    static : str or tuple of str, default: ()
        Names of parameters whose values become part of the compiled code.
    check : bool, default: False
        Run every call also in Python, on copies, and compare (``NPCOMPILE_CHECK=1``).
    check_rtol : float, default: None
        The relative tolerance of floats there: 0 wants the same bits.  By default functions
        without elementary functions, products of matrices and the like must have the same bits,
        and others agree to 1e-9 in float64, 1e-4 in float32, 1e-2 in float16.
    fastmath, reassociate : bool, default: False
        Permit forms that change the last bits (``reassociate``: of sums only).  Permission, not
        a promise: no rule of this version makes use of it.
    deterministic : bool or "portable", default: False
        ``True``: same bits on every run and thread count; ``"portable"``: on every machine.
        Operators that can't promise it raise :class:`DeterminismError`.
    parallel : bool, default: True
        Use all threads for large arrays.  Results never depend on it.
    cache : bool, default: True
        Keep machine code on disk for the next process.
    backend : str, default: "cpu"
        ``"cpu"`` or ``"reference"`` (NumPy, for tests).
    device : str, default: "cpu"
        ``"cuda"`` runs kernels on an NVIDIA GPU, with arrays of NumPy in and out;
        ``"interpreter"`` runs the same kernels on Triton's interpreter, slowly.  Neither warns of
        floating-point exceptions.

    Raises
    ------
    RuntimeError
        ``device="cuda"`` without CuPy, Triton or a GPU.
    TypeError, ValueError
        ``fn`` is no Python function, there is no such option, or it has no such value.

    Returns
    -------
    Jit
        A callable with the name, doc and signature of ``fn``.

    Examples
    --------
    >>> import numpy as np
    >>> from npcompile import jit
    >>> @jit
    ... def line(x):
    ...     return x * 2 + 1
    >>> line(np.arange(4.0))
    array([1., 3., 5., 7.])
    """
    if fn is None:
        decorator: Any = functools.partial(cast(Any, jit), **given)
        vars(decorator)["__pandas_udf__"] = pandas_engine
        return decorator
    config = from_environment(**given)
    if not config.capabilities.host_memory and not disabled():
        from npcompile.backends.gpu.cuda import require

        require(config.device)
    if isinstance(fn, Jit):
        fn = fn.__wrapped__
    if isinstance(fn, (staticmethod, classmethod)):
        return type(fn)(jit(fn.__func__, **given))
    if isinstance(fn, functools._lru_cache_wrapper):  # the cache stays outermost
        return functools.lru_cache(**fn.cache_parameters())(jit(fn.__wrapped__, **given))
    if type(fn) is not types.FunctionType:
        raise TypeError(f"jit compiles Python functions, not {_kind(fn)}")
    code = fn.__code__
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    for name in config.static:
        if name not in parameters:
            raise ValueError(f"static: {fn.__qualname__} has no parameter {name!r}")
    return _kind_made(code)(fn, config)


vars(jit)["__pandas_udf__"] = pandas_engine  # DataFrame.apply(..., engine=npcompile.jit)
vars(jit)["__signature__"] = inspect.Signature([  # `inspect` reads it, and `help`
    inspect.Parameter("fn", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None),
    *(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
      for name, default in options().items()),
])
