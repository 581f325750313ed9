"""The text of a module of LLVM's as the functions and declarations that it consists of."""

from __future__ import annotations

import re


def divided(text: str) -> tuple[str, str]:
    """A module as two, the functions that are compiled well and those in haste, for which LLVM has
    a shorter way as a whole; what one uses of the other is hidden from everybody else."""
    functions, outside = _pieces(text)
    parts: tuple[list[str], list[str]] = [], []
    for function in functions:
        head = function.partition("\n")[0]
        parts[head.endswith("optnone noinline {")].append(function)
    if not all(parts):
        return (text, "") if parts[0] else ("", text)
    mentioned = [set(_NAME.findall("\n".join(part))) for part in parts]
    texts: list[str] = []
    for part, others, here, there in zip(parts, parts[::-1], mentioned, mentioned[::-1]):
        lines = [line for line in outside
                 if not line.startswith(("declare ", "@")) or _named(line) in here]
        lines = [_variable(line, first=not texts)
                 if line.startswith("@") and _named(line) in there else line for line in lines]
        lines += [_declared(other) for other in others if _named(other) in here]
        lines += [f"define {_shown(function) if _named(function) in there else function}\n}}"
                  for function in part]
        texts.append("\n".join([*lines, ""]))
    return texts[0], texts[1]


def interface(text: str) -> tuple[list[str], list[str]]:
    """The names that a module gives to others, and those that it needs of them."""
    functions, outside = _pieces(text)
    gives = [_named(f) for f in functions if not f.startswith(("internal ", "hidden "))]
    needs = []
    for line in outside:
        if line.startswith("declare ") or (line.startswith("@") and " = external " in line):
            needs.append(_named(line))
        elif line.startswith("@") and not _INSIDE.match(line):
            gives.append(_named(line))
    return ([name.strip('"') for name in gives],
            sorted(name.strip('"') for name in needs if not name.startswith("llvm.")))


def _pieces(text: str) -> tuple[list[str], list[str]]:
    """The functions of a module, from behind ``define`` on, and all other lines."""
    *pieces, rest = f"{text}\n".split("\n}\n")
    functions: list[str] = []
    outside: list[str] = []
    for piece in pieces:
        before, _, function = f"\n{piece}".rpartition("\ndefine ")
        outside += before.split("\n")
        functions.append(function)
    return functions, outside + rest.split("\n")


_INSIDE = re.compile(r"@\S+ = (?:internal|private) ")
_GLOBAL = re.compile(r"(@\S+) = (internal )?global ")
_NAME = re.compile(r'@("[^"]*"|[\w.]+)')


def _named(text: str) -> str:
    """The name that a definition or declaration is of."""
    found = _NAME.search(text)
    assert found is not None, text
    return found[1]


def _variable(line: str, first: bool) -> str:
    """The definition of a variable that both modules use: the first has it.  Constants are in
    both."""
    found = _GLOBAL.match(line)
    if found is None:
        return line
    hidden = "hidden " if found[2] else ""
    if first:
        return f"{found[1]} = {hidden}global {line[found.end():]}"
    return f"{found[1]} = external {hidden}global i8"


def _shown(function: str) -> str:
    """A function (from behind ``define``) that the other module may call."""
    inside = function.removeprefix("internal ")
    return function if inside == function else f"hidden {inside}"


def _declared(function: str) -> str:
    head = function.partition("\n")[0].removeprefix("internal ")
    return "declare " + _PARAMETER.sub("", head[: head.rindex(")") + 1])


_PARAMETER = re.compile(r" %[\w.]+(?=[,)])")
