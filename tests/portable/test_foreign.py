"""Objects for macOS and Windows: they compile, and import what is there."""

from __future__ import annotations

import random

import pytest

from tests.portable import foreign


@pytest.mark.parametrize("triple", foreign.SYSTEMS)
def test_imports(triple: str) -> None:
    target, functions = foreign.target_of(triple), foreign.functions()
    chosen = random.Random(triple).sample(sorted(functions), 8)
    modules = [foreign.module(*functions[name], target) for name in chosen]
    assert sum(map(bool, modules)) >= 4
    known, unknown = set[str](), set[str]()
    for code in (*foreign.own(target), *filter(None, modules)):
        found, others = foreign.imports(code, triple)
        known |= found
        unknown |= others
    assert not unknown
    assert {"PyErr_CheckSignals", "PyArray_NewFromDescr"} <= known
    assert ("CreateThread" if "windows" in triple else "pthread_create") in known


def test_a_name_that_nobody_has_is_found() -> None:
    triple = "x86_64-pc-windows-msvc"
    target = foreign.target_of(triple)
    code = foreign.compile("declare void @sched_yield()\ndeclare double @llvm.exp.f64(double)\n"
                           "define double @f(double %x) {\n  call void @sched_yield()\n"
                           "  %y = call double @llvm.exp.f64(double %x)\n  ret double %y\n}\n",
                           target)
    assert foreign.imports(code, triple) == ({"_fltused"}, {"sched_yield", "exp"})
    code = foreign.compile("declare i32 @SwitchToThread()\ndefine void @f() {\n"
                           "  call i32 @SwitchToThread()\n  ret void\n}\n", target)
    assert foreign.imports(code, triple) == ({"SwitchToThread"}, set())


@pytest.mark.slow
@pytest.mark.parametrize("triple", foreign.SYSTEMS)
def test_all_modules(triple: str) -> None:
    target = foreign.target_of(triple)
    codes = [foreign.module(*called, target) for called in foreign.functions().values()]
    assert sum(map(bool, codes)) > 300
    for code in filter(None, codes):
        assert not foreign.imports(code, triple)[1]
