"""Python's types see tracing as a small protocol, and each is registered with one line."""

from __future__ import annotations

import importlib
import inspect

from npcompile.python.protocol import PythonType, Tracing
from npcompile.python.registry import TYPES, view
from npcompile.python.values import Static
from npcompile.tracing import type_classes
from npcompile.tracing.tracer import FunctionTracer

MOST = 30  #: services of tracing that a type may use


def members(protocol: type) -> set[str]:
    return {name for name in vars(protocol) if not name.startswith("_")}


def test_the_protocol_is_small():
    assert 0 < len(members(Tracing)) <= MOST
    assert all(hasattr(FunctionTracer, name) for name in members(Tracing) - {
        "builder", "inputs", "effects", "generators", "texts"})  # attributes of instances


def test_registered_classes_are_there():
    assert type_classes.TYPES is TYPES
    for kind, place in TYPES.items():
        module, _, name = place.partition(":")
        found = getattr(importlib.import_module(module), name)
        assert issubclass(found, PythonType), kind


def test_methods_have_pythons_names():
    for place in set(TYPES.values()):
        module, _, name = place.partition(":")
        found = getattr(importlib.import_module(module), name)
        for method in found.METHODS:
            assert inspect.isfunction(getattr(found, method.__name__)), method


def test_a_class_of_a_user_is_an_instance():
    class Own:
        pass

    class Named(str):
        pass

    t: object = None
    kinds = [type(view(t, Static(held))).__name__ for held in (Own(), Named("a"), 1, "a", (1,))]
    assert kinds == ["InstanceType", "ConstantText", "InstanceType", "ConstantText",
                     "ConstantTuple"]


