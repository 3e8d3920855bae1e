"""The error tree in the docstring of `errors` is the tree in its code, and no error class lives outside it."""

import ast
import builtins
import inspect
import re
from pathlib import Path

import pytest

from hindsight_core import errors

CORE = Path(errors.__file__).parent
LINE = re.compile(r"^(?P<branch>[│├└─ ]*)(?P<name>[A-Z]\w+)(?:\s+(?P<meaning>.*))?$")
STEP = 4  # columns of one level in the drawing


def drawn() -> dict[str, tuple[str | None, str]]:
    """Class name -> (name of its parent, meaning), as the docstring draws it."""
    block = inspect.getdoc(errors).split("::", 1)[1].strip("\n").split("\n\n")[0]
    tree, path = {}, []
    for line in inspect.cleandoc(block).splitlines():
        found = LINE.match(line)
        assert found, f"not a line of the tree: {line!r}"
        depth = len(found["branch"]) // STEP
        del path[depth:]
        tree[found["name"]] = (path[-1] if path else None, found["meaning"] or "")
        path.append(found["name"])
    return tree


def defined() -> dict[str, type]:
    return {
        name: value
        for name, value in vars(errors).items()
        if inspect.isclass(value) and value.__module__ == errors.__name__
    }


def test_the_drawing_holds_exactly_the_classes_of_the_module():
    assert set(drawn()) == set(defined())


@pytest.mark.parametrize("name", sorted(defined()))
def test_each_class_stands_under_its_drawn_parent(name):
    cls = defined()[name]
    ours = [base.__name__ for base in cls.__bases__ if base.__module__ == errors.__name__]
    parent = drawn()[name][0]
    assert ours == ([parent] if parent else [])
    assert issubclass(cls, errors.HindsightError)


@pytest.mark.parametrize("name", sorted(defined()))
def test_a_builtin_base_is_drawn_too(name):
    bases = {base.__name__ for base in defined()[name].__bases__ if base.__module__ == "builtins"}
    assert bases - {"Exception"} == set(re.findall(r"also an? (\w+)", drawn()[name][1]))
    assert all(hasattr(builtins, base) for base in bases)


def test_no_error_class_is_defined_anywhere_else_in_the_core():
    def is_error(base: ast.expr) -> bool:
        name = ast.unparse(base).rpartition(".")[2]
        return name in defined() or name.endswith(("Error", "Exception"))

    strays = [
        f"{path.relative_to(CORE)}: {node.name}"
        for path in sorted(CORE.rglob("*.py"))
        if path.name != "errors.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and any(is_error(base) for base in node.bases)
    ]
    assert strays == []


def test_a_missing_extra_names_the_command_that_installs_it():
    with pytest.raises(ImportError, match=re.escape('pip install "hindsight-memory[qdrant]"')):
        raise errors.MissingExtra("QdrantStore", "qdrant")


def test_invalid_settings_list_every_fault_at_once():
    with pytest.raises(ValueError, match=r"^Profile: decay is 1\.2; archive_below is -1$") as caught:
        raise errors.InvalidSettings("Profile", ["decay is 1.2", "archive_below is -1"])
    assert caught.value.faults == ("decay is 1.2", "archive_below is -1")
