"""No class, function, attribute or module is named by a word that the glossary replaces."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent
while not (ROOT / "pyproject.toml").exists():
    ROOT = ROOT.parent
#: the words of a name: ``_turn_of``, ``TurnCount``
PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
#: here a turn is an angle
ANGLES = "special/"
#: names of NumPy's, and "in turn"
PROPER = re.compile(r"sliding_window_view|window_shape|\w*in_turns?|half_window")


def replaced() -> set[str]:
    """The words in the third column of the glossary's tables."""
    rows = re.findall(r"^\| \*\*.*\|([^|]*)\|$", (ROOT / "docs/glossary.md").read_text(), re.M)
    return {word.strip(" `") for row in rows for word in row.split(",") if word.strip()}


def names(tree: ast.AST) -> Iterator[str]:
    """Names that a module defines: classes, functions, parameters and attributes of ``self``."""
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.arg(arg=name):
                yield name
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                yield name
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name


def test_no_name_has_a_word_that_the_glossary_replaces() -> None:
    words = replaced()
    assert len(words) > 8
    found = []
    for path in sorted((ROOT / "npcompile").rglob("*.py")):
        here = str(path.relative_to(ROOT / "npcompile"))
        if here.startswith(ANGLES):
            continue
        for name in {path.stem, *names(ast.parse(path.read_text()))}:
            parts = {part.lower() for part in PARTS.findall(name)}
            parts |= {part.removesuffix("s") for part in parts}
            parts |= {part.removesuffix("es") for part in parts} | {name}
            found += [f"{here}: {name}"] if parts & words and not PROPER.fullmatch(name) else []
    assert not found


def test_each_class_name_means_one_thing() -> None:
    places: dict[str, list[str]] = {}
    for path in sorted((ROOT / "npcompile").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
