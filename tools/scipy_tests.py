"""SciPy's own tests on SciPy's own functions, each a compiled function: which pass in Python alone.

    python -m tools.scipy_tests [--write] [--every N] [--check] [--keep FILE] [parts, as fft._basic]

A part of ``PARTS`` is modules of a package and the files with their tests.  It runs twice, each
time in a process of its own: as it is, and with all functions and methods of its modules under
``jit``.  ``--every N`` takes each N-th test, ``--check`` compares every call with Python.
``--keep`` adds what came out to a file, and ``--write`` writes the page of all that is in it.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import json
import os
import platform
import re
import resource
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest
import scipy

import npcompile
from npcompile.api.jit import Jit
from npcompile.backends.cpu.loader.compile import target
from npcompile.guards import class_hooks

HOME = Path(scipy.__file__).parent
PAGE = Path(__file__).parent.parent / "docs" / "measurements" / "scipy_tests.md"
PARTS = {
    "cluster": "hierarchy: hierarchy; vq: vq",
    "constants": "_codata _constants: codata constants",
    "differentiate": "_differentiate /_lib._elementwise_iterative_method: differentiate",
    "fft": """
        _pocketfft.basic _pocketfft.helper: _pocketfft/basic; _pocketfft.realtransforms
        _realtransforms: _pocketfft/real_transforms real_transforms; _basic _basic_backend
        _helper _fftlog _fftlog_backend: basic helper fftlog
    """,
    "integrate": """
        _bvp: bvp; _cubature: cubature; _ivp.base _ivp.common _ivp.rk _ivp.radau _ivp.bdf
        _ivp.ivp: _ivp/ivp _ivp/rk; _ode _odepack_py: integrate banded_ode_solvers; _quad_vec:
        _quad_vec; _quadpack_py: quadpack; _quadrature: quadrature; _tanhsinh
        /_lib._elementwise_iterative_method: tanhsinh
    """,
    "interpolate": """
        _bary_rational: bary_rational; _bsplines: bsplines; _cubic _interpolate: interpolate;
        _fitpack_impl _fitpack_py _fitpack2 _fitpack_repro: fitpack fitpack2; _ndgriddata _rgi
        _ndbspline: ndgriddata rgi; _polyint _pade: polyint pade; _rbf _rbfinterp _rbfinterp_np
        _rbfinterp_common: rbf rbfinterp
    """,
    "io": """
        _fortran _mmio _netcdf wavfile: fortran mmio netcdf wavfile; arff._arffread:
        arff/arffread; _harwell_boeing.hb _harwell_boeing._fortran_format_parser:
        _harwell_boeing/hb _harwell_boeing/fortran_format; matlab._mio matlab._mio4 matlab._mio5
        matlab._miobase: matlab/mio matlab/miobase
    """,
    "linalg": """
        _basic: basic; _decomp _decomp_svd _decomp_qr _decomp_schur _decomp_qz: decomp;
        _decomp_cholesky _decomp_lu _decomp_polar: decomp_cholesky decomp_lu decomp_polar;
        _expm_frechet _matfuncs _matfuncs_inv_ssq _matfuncs_sqrtm: matfuncs; _solvers _sketches
        interpolative: solvers sketches interpolative; _special_matrices _decomp_cossin
        _decomp_ldl _procrustes: special_matrices decomp_cossin decomp_ldl procrustes
    """,
    "ndimage": """
        _filters _ni_support: filters ni_support; _fourier _interpolation: fourier interpolation
        splines; _measurements: measurements; _morphology: morphology
    """,
    "optimize": """
        _basinhopping _dual_annealing _direct_py: _basinhopping _dual_annealing direct; _bracket
        _chandrupatla _elementwise: bracket chandrupatla; _constraints _differentiable_functions
        _hessian_update_strategy: constraints differentiable_functions hessian_update_strategy
        constraint_conversion; _differentialevolution: _differential_evolution; _linprog
        _linprog_util _linprog_simplex _linprog_ip _linprog_rs: linprog _linprog_clean_inputs;
        _lsq.common _lsq.least_squares _lsq.trf _lsq.dogbox _lsq.lsq_linear _lsq.bvls
        _lsq.trf_linear _lsq.givens_elimination: least_squares lsq_common lsq_linear; _minimize
        _lbfgsb_py _slsqp_py _tnc _cobyla_py: slsqp tnc cobyla lbfgsb_hessinv; _minpack_py _root
        _spectral: minpack _root _spectral; _nonlin _numdiff _linesearch _dcsrch: nonlin
        _numdiff linesearch; _optimize: optimize; _qap _isotonic _nnls _milp _remove_redundancy:
        quadratic_assignment isotonic_regression nnls milp _remove_redundancy; _shgo
        _shgo_lib._complex _shgo_lib._vertex: _shgo; _trustregion _trustregion_dogleg
        _trustregion_exact _trustregion_krylov _trustregion_ncg: trustregion trustregion_exact
        trustregion_krylov; _trustregion_constr.minimize_trustregion_constr
        _trustregion_constr.tr_interior_point _trustregion_constr.qp_subproblem
        _trustregion_constr.projections _trustregion_constr.canonical_constraint
        _trustregion_constr.equality_constrained_sqp: minimize_constrained
        _trustregion_constr/qp_subproblem _trustregion_constr/projections
        _trustregion_constr/canonical_constraint; _zeros_py _root_scalar: zeros
    """,
    "signal": """
        _czt _upfirdn _savitzky_golay: czt upfirdn savitzky_golay; _filter_design:
        filter_design; _fir_filter_design: fir_filter_design; _ltisys _lti_conversion
        _max_len_seq: ltisys dltisys cont2discrete max_len_seq; _peak_finding _wavelets:
        peak_finding wavelets; _short_time_fft: short_time_fft; _signaltools _arraytools:
        signaltools array_tools result_type; _spectral_py: spectral; _spline_filters: bsplines
        splines; windows._windows _waveforms: windows waveforms
    """,
    "sparse": """
        _base _compressed _csr _csc _data _index: csr csc common1d minmax1d arithmetic1d
        indexing1d; _construct _extract _sputils _spfuncs: construct extract sputils spfuncs
        matrix_io; _coo _dok _dia _lil _bsr: coo dok; csgraph._laplacian csgraph._validation:
        csgraph/graph_laplacian csgraph/shortest_path csgraph/conversions;
        linalg._eigen.arpack.arpack linalg._eigen._svds: linalg/_eigen/arpack/arpack;
        linalg._eigen.lobpcg.lobpcg: linalg/_eigen/lobpcg/lobpcg; linalg._expm_multiply
        linalg._matfuncs linalg._onenormest linalg._norm: linalg/expm_multiply linalg/matfuncs
        linalg/onenormest linalg/norm; linalg._interface linalg._special_sparse_arrays
        linalg._dsolve.linsolve: linalg/interface linalg/special_sparse_arrays
        linalg/_dsolve/linsolve; linalg._isolve.iterative linalg._isolve._gcrotmk
        linalg._isolve.lgmres linalg._isolve.lsmr linalg._isolve.lsqr linalg._isolve.minres
        linalg._isolve.tfqmr linalg._isolve.utils: linalg/_isolve/iterative
        linalg/_isolve/gcrotmk linalg/_isolve/lgmres linalg/_isolve/lsmr linalg/_isolve/lsqr
        linalg/_isolve/minres linalg/_isolve/utils
    """,
    "spatial": """
        _geometric_slerp _procrustes _spherical_voronoi _plotutils: slerp _procrustes
        spherical_voronoi _plotutils; distance: distance hausdorff; transform._rotation
        transform._rotation_xp transform._rotation_spline transform._rotation_groups:
        transform/rotation transform/rotation_spline transform/rotation_groups
    """,
    "special": """
        _basic: basic; _logsumexp _spherical_bessel _ellip_harm _spfun_stats _lambertw:
        logsumexp spherical_bessel ellip_harm spfun_stats lambertw log1mexp; _multiufuncs
        _input_validation: legendre sph_harm; _orthogonal: orthogonal orthogonal_eval
    """,
    "stats": """
        _axis_nan_policy: axis_nan_policy; _binned_statistic contingency _crosstab
        _relative_risk _odds_ratio: binned_statistic contingency crosstab relative_risk
        odds_ratio; _censored_data _survival _fit: censored_data survival fit;
        _continuous_distns _distn_infrastructure: distributions; _correlation _variation
        _entropy _quantile: correlation variation entropy quantile; _covariance _multivariate
        _qmvnt: multivariate; _discrete_distns: discrete_distns discrete_basic;
        _distribution_infrastructure _new_distributions: continuous new_distributions;
        _hypotests _mgc _multicomp _bws_test _page_trend_test: hypotests mgc multicomp; _kde
        _tukeylambda_stats _continued_fraction _sensitivity_analysis: kdeoth tukeylambda_stats
        continued_fraction sensitivity_analysis; _morestats _ansari_swilk_statistics _wilcoxon
        _mannwhitneyu: morestats; _mstats_basic _mstats_extras: mstats_basic mstats_extras;
        _qmc: qmc; _resampling: resampling; _sampling: sampling fast_gen_inversion; _stats_py
        _common _stats_mstats_common: stats rank
    """,
}
OPTIONS = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "ignore",
           "-m", "not slow and not xslow", "--tb=short", "-c", os.devnull]
SECONDS = 1500  # of a part
LONGEST = 60  # seconds of a test
LATE = 1.0  # seconds of compiling that are told
LRU = type(functools.lru_cache(len))
SHOWN = 30  # reasons
COUNTS = ("pass in Python", "pass compiled", "differ", "hung")
COLUMNS = ("functions", "called", "compiled", "versions", "refused")
#: what came out of a process that has crashed or was ended
NOTHING: dict[str, Any] = {"outcomes": {}, "failures": {}, "reasons": {}, "late": [],
                           **dict.fromkeys(COLUMNS, 0)}
NOT_COMPILED = CO_COROUTINE | CO_GENERATOR | CO_ASYNC_GENERATOR
PACKAGES = ("scipy", "numpy")
#: differences that are none of the compiled code: part of a test's name or of its failure, and why
KNOWN = {
    "test_factorial_scalar_corner_cases": "compares our gamma with SciPy's bit by bit",
    "Remaining reference(s) to object": "compiling leaves cycles to the garbage collector",
    "test_cdist_refcount": "the first call keeps its arguments until the garbage collector runs",
    "TestVonMises_Fisher::test_entropy_accuracy": "one place of ive is 40 of its tolerances",
    "TimeoutError: a test of more than": f"took more than {LONGEST} s with its compiling",
}
HEAD = """# SciPy's own tests, its functions compiled

All functions and methods of the modules named under `jit`; `python -m tools.scipy_tests --write`.
{date}, Python {python}, NumPy {numpy}, SciPy {scipy}, CPU {cpu}.

Of {all} tests that pass in Python, {passed} pass compiled.  *every*: each so-many-th test was run;
*hung*: tests that took more than {longest} s with their compiling, which are among those that
differ; *compiled*: functions with compiled versions; *refused*: kinds of arguments for which a
function runs in Python.
"""


class Functions:
    """The functions and methods of some modules, and what stands for them."""

    def __init__(self, names: list[str], check: bool) -> None:
        self.check = check
        self.made: dict[Any, Any] = dict(_kinds_of_arrays())
        libraries = class_hooks._LIBRARIES - {"scipy"}
        # SciPy's functions are followed as a user's are
        vars(class_hooks)["_LIBRARIES"] = libraries
        for name in names:
            module = importlib.import_module(f"scipy.{name}")
            self._module(module)
        for module in list(sys.modules.values()):
            if getattr(module, "__name__", "").startswith(PACKAGES):
                self._others(module)
        self._capabilities()

    def _jitted(self, plain: FunctionType) -> Any:
        if plain.__code__.co_flags & NOT_COMPILED:
            return plain
        if plain not in self.made:
            self.made[plain] = npcompile.jit(check=self.check)(plain)
        return self.made[plain]

    def _module(self, module: ModuleType) -> None:
        for name, value in list(vars(module).items()):
            if getattr(value, "__module__", None) != module.__name__:
                continue
            if type(value) is FunctionType:
                setattr(module, name, self._jitted(value))
                self._inner(value, module.__name__)
            elif isinstance(value, type) and not issubclass(value, (tuple, Exception)):
                self._methods(value, module.__name__)

    def _methods(self, owner: type, module: str) -> None:
        for name, value in list(vars(owner).items()):
            if name.startswith("__") and name not in {"__init__", "__call__"}:
                continue
            if type(value) is FunctionType:
                setattr(owner, name, self._jitted(value))
                self._inner(value, module)
            elif isinstance(value, (staticmethod, classmethod)) and (
                type(value.__func__) is FunctionType
            ):
                setattr(owner, name, type(value)(self._jitted(value.__func__)))

    def _inner(self, outer: FunctionType, module: str) -> None:
        """What a decorator keeps of a function."""
        for cell in outer.__closure__ or ():
            try:
                value = cell.cell_contents
            except ValueError:  # nothing yet
                continue
            if type(value) is FunctionType and value.__module__ == module:
                if value not in self.made:
                    self._inner(value, module)
                cell.cell_contents = self._jitted(value)

    def _others(self, module: ModuleType) -> None:
        """Modules that have imported plain ones, and their tables of functions."""
        for name, value in list(vars(module).items()):
            if name.startswith("__"):
                continue
            new = self._instead(value)
            if new is not value:
                vars(module)[name] = new
            elif type(value) is FunctionType:
                for cell in value.__closure__ or ():
                    try:
                        cell.cell_contents = self._instead(cell.cell_contents)
                    except ValueError:  # nothing yet
                        continue

    def _instead(self, value: Any, depth: int = 3) -> Any:
        """What stands for a function, or a container with such (the same one, where it can be)."""
        if type(value) is FunctionType:
            return self.made.get(value, value)
        if isinstance(value, LRU):
            return self.made.get(value, value)
        if not depth:
            return value
        if type(value) is dict:
            for key, old in list(value.items()):
                new = self._instead(old, depth - 1)
                if new is not old:
                    value[key] = new
        elif type(value) is list:
            for place, old in enumerate(value):
                if type(old) in (FunctionType, tuple):
                    value[place] = self._instead(old, depth - 1)
        elif type(value) is tuple:
            made = [self._instead(old, depth - 1) for old in value]
            if any(new is not old for new, old in zip(made, value)):
                return tuple(made)
        return value

    def _capabilities(self) -> None:
        """SciPy's tests look functions up in a table of which arrays they take."""
        from scipy._lib._array_api import xp_capabilities_table as table

        table.update({jitted: table[f] for f, jitted in self.made.items() if f in table})

    def report(self) -> dict[str, Any]:
        """What became of them."""
        made = [j for j in self.made.values() if isinstance(j, Jit)]
        called = [j._made for j in made if j._made is not None]
        refused = Counter(_reason(r) for d in called for r in d.policy.refused.values())
        paused = Counter(_reason(r) for d in called for v in d.versions
                         for r in v.trace.graph_breaks.values())
        exits: Counter[str] = Counter()
        for dispatcher in called:
            for version in dispatcher.versions:
                exits.update(version.exits)
        late = [(d.served.function.__qualname__, sum(v.executable.times.values()))
                for d in called for v in d.versions]
        return {
            "functions": len(made), "called": len(called),
            "compiled": sum(bool(d.versions) for d in called),
            "versions": sum(len(d.versions) for d in called),
            "refused": sum(len(d.policy.refused) for d in called),
            "reasons": refused, "pauses": paused, "exits": exits,
            "late": [(n, round(ms / 1e3, 2)) for n, ms in late if ms > LATE * 1e3],
        }


def _kinds_of_arrays() -> Iterator[tuple[Any, Any]]:
    """What stands for SciPy's questions of which library an array is: of NumPy's.

    They are answered by sets and caches, which would leave most functions to Python.
    """
    room = "_external" if importlib.util.find_spec("scipy._external") else "_lib"
    _helpers = importlib.import_module(f"scipy.{room}.array_api_compat.common._helpers")
    for name, function in list(vars(_helpers).items()):
        found = re.fullmatch(r"is_(\w+)_namespace", name)
        if found is not None:
            yield function, _is_namespace(found[1])
    yield _helpers._issubclass_fast, _is_of_numpy


def _is_namespace(name: str) -> Callable[[Any], bool]:
    def asks(xp: Any) -> bool:
        return name == "numpy" and bool(xp.__name__.rpartition(".")[2] == name)

    return asks


def _is_of_numpy(kind: type, module: str, name: str) -> bool:
    return module == "numpy" and issubclass(kind, getattr(np, name))


def _reason(refusal: Any) -> str:
    return f"{refusal.construct}: {refusal.reason}"


class Outcomes:
    """A plugin of pytest that compiles the modules and notes outcomes."""

    def __init__(self, names: list[str], compiled: bool, check: bool, every: int) -> None:
        self.functions = Functions(names, check) if compiled else None
        self.every = every
        self.outcomes: dict[str, str] = {}
        self.failures: dict[str, str] = {}
        self.seconds: dict[str, float] = {}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Each N-th test, of those that take no other library's arrays."""
        items[:] = items[:: self.every]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: Any) -> Iterator[None]:
        """A test that takes too long is stopped."""
        signal.signal(signal.SIGALRM, _too_long)
        signal.alarm(LONGEST)
        yield
        signal.alarm(0)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Failures of any phase, else what the call came to."""
        if report.when == "call" or report.outcome != "passed":
            name = f"{Path(report.fspath).name}::{report.nodeid.split('::', 1)[-1]}"
            self.outcomes[name] = report.outcome
            self.seconds[name] = report.duration
            if report.outcome == "failed":
                self.failures[name] = report.longreprtext[-3000:]


def _too_long(*_: Any) -> None:
    raise TimeoutError(f"a test of more than {LONGEST} s")


def one(part: str, compiled: bool, check: bool, every: int) -> None:
    """Runs a part in this process and prints what came out."""
    modules, files = parts()[part]
    plugin = Outcomes(modules, compiled, check, every)
    with open(os.devnull, "w") as nowhere:
        kept, sys.stdout = sys.stdout, nowhere
        try:
            pytest.main([*OPTIONS, "--rootdir", str(HOME), *files], plugins=[plugin])
        finally:
            sys.stdout = kept
    found = {
        "outcomes": plugin.outcomes, "failures": plugin.failures, "seconds": plugin.seconds,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
        **(plugin.functions.report() if plugin.functions else {}),
    }
    print(json.dumps(found))


def parts() -> dict[str, tuple[list[str], list[str]]]:
    """Modules and files of tests by the first module's name."""
    found = {}
    for room, text in PARTS.items():
        for entry in text.split(";"):
            left, right = map(str.split, entry.split(":"))
            names = [name[1:] if name.startswith("/") else f"{room}.{name}" for name in left]
            files = []
            for name in right:
                *inner, last = name.split("/")
                files.append(HOME.joinpath(room, *inner, "tests", f"test_{last}.py"))
            there = [str(file) for file in files if file.exists()]  # in this release of SciPy
            if there:
                found[names[0]] = names, there
    return found


def run(part: str, compiled: bool, check: bool, every: int) -> dict[str, Any]:
    """The same in a process of its own, which may crash."""
    command = [sys.executable, "-X", "faulthandler", "-m", "tools.scipy_tests", part, "--one",
               "compiled" if compiled else "plain", "--every", str(every)]
    environment = {**os.environ, "NPCOMPILE_STRICT": "1"}
    try:
        done = subprocess.run([*command, *["--check"] * check], capture_output=True, text=True,
                              timeout=SECONDS, check=False, env=environment)
    except subprocess.TimeoutExpired:
        return {**NOTHING, "broken": f"more than {SECONDS} s"}
    if done.returncode:
        return {**NOTHING, "broken": f"exit code {done.returncode}: {_stderr(done.stderr)}"}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {**found, "broken": ""}


def _stderr(text: str) -> str:
    """Where a process has crashed, or else what it has said at last."""
    crashed = text.find("Fatal Python error")
    return text[crashed : crashed + 1000] if crashed >= 0 else text[-1000:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(parts()))
    parser.add_argument("--one", choices=["plain", "compiled"])
    parser.add_argument("--write", action="store_true", help=f"to {PAGE.name}")
    parser.add_argument("--every", type=int, default=1, help="take each N-th test")
    parser.add_argument("--check", action="store_true", help="compare every call with Python")
    parser.add_argument("--keep", type=Path, help="file for what came out, line by line")
    given = parser.parse_args()
    if given.one:
        one(given.parts[0], given.one == "compiled", given.check, given.every)
        return
    kept = []
    for part in given.parts:
        plain = run(part, False, False, given.every)
        compiled = run(part, True, given.check, given.every)
        found = differences(part, plain, compiled)
        line = row(part, given.every, plain, compiled, found)
        kept.append({"row": line, "different": found, "reasons": compiled["reasons"]})
        print(*line, *compiled["late"], *found, sep="\n    ", flush=True)
        if given.keep:
            with given.keep.open("a") as out:
                out.write(json.dumps(kept[-1]) + "\n")
    if given.write:
        if given.keep:
            kept = list(map(json.loads, given.keep.read_text().splitlines()))
        PAGE.write_text(page(kept))


def differences(part: str, plain: dict[str, Any], compiled: dict[str, Any]) -> list[str]:
    """Tests that pass in Python alone, and why."""
    found = [f"`{part}` {x['broken']}" for x in (plain, compiled) if x.get("broken")]
    if found:  # none has an outcome
        return found
    for name, outcome in plain["outcomes"].items():
        if outcome == "passed" and compiled["outcomes"].get(name) != "passed":
            text = compiled["failures"].get(name, "not run")
            why = [words for sign, words in KNOWN.items() if sign in name + text]
            errors = [line[2:].strip() for line in text.splitlines() if line.startswith("E ")]
            found.append(f"`{part}` `{name}`: " + (why or errors or [text[-200:]])[0])
    return found


def row(
    part: str, every: int, plain: dict[str, Any], compiled: dict[str, Any], different: list[str]
) -> list[Any]:
    """A line of the table of parts."""
    outcomes = Counter(plain["outcomes"].values())
    same = sum(compiled["outcomes"].get(name) == "passed" for name, outcome
               in plain["outcomes"].items() if outcome == "passed")
    hung = sum("TimeoutError: a test of" in text for text in compiled["failures"].values())
    return [part, every, outcomes["passed"], same, len(different), hung,
            *(compiled[name] for name in COLUMNS)]


def page(kept: list[dict[str, Any]]) -> str:
    """The table of parts, the tests that differ, and why calls are left to Python."""
    rows = [one["row"] for one in kept]
    different = [line for one in kept for line in one["different"]]
    reasons = Counter[str]()
    for one in kept:
        reasons.update(one["reasons"])
    sums = [sum(column) for column in list(zip(*rows))[2:]]
    lines = [HEAD.format(date=date.today(), python=platform.python_version(), numpy=np.__version__,
                         scipy=scipy.__version__, cpu=target().cpu, all=sums[0], passed=sums[1],
                         longest=LONGEST),
             "| modules | every | " + " | ".join((*COUNTS, *COLUMNS)) + " |",
             "|---" * (2 + len(COUNTS) + len(COLUMNS)) + "|"]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in (*rows, ("all", "", *sums))]
    lines += ["", "Different:", "", *(f"- {line}" for line in different)] if different else []
    if reasons:
        lines += ["", "Left to Python most often (kinds of arguments, reason):", ""]
    lines += [f"- {count}: {reason}" for reason, count in reasons.most_common(SHOWN)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
