"""Opcodes are handled by the modules that the table names."""

from __future__ import annotations

from npcompile.tracing import (
    closure_variables,
    comparisons,
    construction,
    contexts,
    formatting,
    handlers,
    jumps,
    subscripts,
    super_attributes,
)
from npcompile.tracing.opcodes import HANDLERS, MODULES, handler_of

ELSEWHERE = (closure_variables, comparisons, construction, contexts, formatting, jumps, subscripts,
             super_attributes)


def test_each_handler_is_found_in_the_module_that_the_table_names() -> None:
    for name, handler in HANDLERS.items():
        module = handler.__module__
        if module == handlers.__name__:
            assert name not in MODULES
        else:
            assert module == f"npcompile.tracing.{MODULES[name]}"
        assert handler_of(name) is handler
    assert {f"npcompile.tracing.{m}" for m in MODULES.values()} == {
        m.__name__ for m in ELSEWHERE}


def test_opcodes_of_no_version_have_no_handler() -> None:
    assert handler_of("NO_SUCH_OPCODE") is None
