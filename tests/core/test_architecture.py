"""The shape of the code, checked on its syntax trees: what may import what, and who may ask for time and chance.

The two checkers are tested first, on snippets that break each rule; then the real sources have to pass them.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {
    "hindsight_core": ROOT / "core" / "hindsight_core",
    "hindsight_langchain": ROOT / "hindsight_langchain",
    "hindsight_llamaindex": ROOT / "hindsight_llamaindex",
}
FRAMEWORKS = ("langchain", "langgraph", "langmem", "llama_index", "llama_cloud")
STAGES = {"encode", "consolidate", "recall", "forget"}
COMPOSERS = {"engine", "cli", "evaluation"}

# Where time and chance may enter. Everything else is handed a `now`, a clock or an id.
MAY_READ_TIME_AND_CHANCE = {"hindsight_core.clock", "hindsight_core.engine"}
TIME_AND_CHANCE = {
    "datetime.date.today",
    "datetime.datetime.now",
    "datetime.datetime.today",
    "datetime.datetime.utcnow",
    "os.urandom",
    "time.time",
    "time.time_ns",
    "uuid.uuid1",
    "uuid.uuid4",
}
CHANCE_MODULES = ("random", "secrets", "numpy.random")
SEEDED = {"numpy.random.default_rng", "random.Random"}  # chance only when called without a seed


def modules() -> Iterator[tuple[str, bool, ast.Module]]:
    for package, folder in PACKAGES.items():
        for path in sorted(folder.rglob("*.py")):
            parts = (package, *path.relative_to(folder).with_suffix("").parts)
            is_package = parts[-1] == "__init__"
            name = ".".join(parts[:-1] if is_package else parts)
            yield name, is_package, parsed(path)


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imports(tree: ast.Module, module: str, is_package: bool = False) -> set[str]:
    """Everything imported anywhere in a module, absolute: `from a import b` counts as `a.b`."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = module.split(".")[: None if is_package else -1]
            base = base[: len(base) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            found |= {f"{source}.{alias.name}" for alias in node.names}
    return found


def part(name: str) -> str:
    """`hindsight_core.recall.query` -> `recall`; '' for the package itself and for anything outside the core."""
    root, _, rest = name.partition(".")
    return rest.partition(".")[0] if root == "hindsight_core" else ""


def forbidden_imports(module: str, names: set[str]) -> set[str]:
    """The imports that point upwards or sideways."""
    own = part(module)
    if own in COMPOSERS or module == "hindsight_core" or not module.startswith("hindsight_core."):
        return set()
    return {name for name in names if part(name) in (STAGES | COMPOSERS) - {own}}


def time_and_chance(tree: ast.Module) -> set[str]:
    """Every use of the wall clock or of randomness, by its full name, whatever it was imported as."""
    known = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                known[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            known |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}

    def full_name(node: ast.AST) -> str:
        if isinstance(node, ast.Name):
            return known.get(node.id, "")
        if isinstance(node, ast.Attribute):
            left = full_name(node.value)
            return f"{left}.{node.attr}" if left else ""
        return ""

    seeded = {id(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call) and (n.args or n.keywords)}
    found = set()
    for node in ast.walk(tree):
        name = full_name(node)
        if name in TIME_AND_CHANCE or (
            name.startswith(tuple(f"{m}." for m in CHANCE_MODULES))
            and not (name in SEEDED and id(node) in seeded)
            and name not in {"numpy.random.Generator"}
        ):
            found.add(name)
    return found


@pytest.mark.parametrize(
    ("module", "source", "wrong"),
    [
        (
            "hindsight_core.recall.query",
            "from hindsight_core.encode import rules",
            "hindsight_core.encode.rules",
        ),
        ("hindsight_core.recall.query", "from ..forget import sweep", "hindsight_core.forget.sweep"),
        (
            "hindsight_core.recall.query",
            "def f():\n    import hindsight_core.forget",
            "hindsight_core.forget",
        ),
        ("hindsight_core.recall.query", "from .hits import Hit\nfrom hindsight_core.unit import Key", None),
        ("hindsight_core.consolidate", "from hindsight_core import recall", "hindsight_core.recall"),
        (
            "hindsight_core.forget",
            "from hindsight_core.engine import Hindsight",
            "hindsight_core.engine.Hindsight",
        ),
        ("hindsight_core.stores.sqlite", "from hindsight_core import encode", "hindsight_core.encode"),
        ("hindsight_core.ports", "from hindsight_core.evaluation import x", "hindsight_core.evaluation.x"),
        ("hindsight_core.engine.facade", "from hindsight_core.recall import Hit", None),
        ("hindsight_core", "from hindsight_core.engine import Hindsight", None),
    ],
)
def test_the_import_checker_sees_what_it_should(module, source, wrong):
    found = forbidden_imports(module, imports(ast.parse(source), module))
    assert found == ({wrong} if wrong else set())


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import datetime\ndatetime.datetime.now()", {"datetime.datetime.now"}),
        ("import datetime as dt\nx = dt.datetime.utcnow", {"datetime.datetime.utcnow"}),
        ("from datetime import datetime as d, UTC\nd.now(UTC)", {"datetime.datetime.now"}),
        ("from time import time\ntime()", {"time.time"}),
        ("import time\ntime.perf_counter()", set()),
        ("from uuid import uuid4\nid = uuid4()", {"uuid.uuid4"}),
        ("from uuid import uuid5, NAMESPACE_URL\nuuid5(NAMESPACE_URL, 'x')", set()),
        ("import random\nrandom.shuffle([])", {"random.shuffle"}),
        ("import random\nrandom.Random(7).random()", set()),
        ("import random\nrandom.Random()", {"random.Random"}),
        ("import numpy as np\nnp.random.rand(3)", {"numpy.random.rand"}),
        ("import numpy as np\nnp.random.default_rng()", {"numpy.random.default_rng"}),
        ("import numpy as np\nnp.random.default_rng(7)", set()),
        ("def f(clock):\n    return clock.now()", set()),
    ],
)
def test_the_time_and_chance_checker_sees_what_it_should(source, found):
    assert time_and_chance(ast.parse(source)) == found


def test_the_core_imports_no_agent_framework_anywhere():
    offenders = {
        module: names
        for module, is_package, tree in modules()
        if module.partition(".")[0] == "hindsight_core"
        and (names := {n for n in imports(tree, module, is_package) if n.startswith(FRAMEWORKS)})
    }
    assert offenders == {}


def test_arrows_point_down_only():
    """Stages never import each other; only engine, cli and evaluation put stages together."""
    offenders = {
        module: wrong
        for module, is_package, tree in modules()
        if (wrong := forbidden_imports(module, imports(tree, module, is_package)))
    }
    assert offenders == {}


def test_time_and_chance_enter_at_the_clock_and_the_engine_only():
    offenders = {
        module: found
        for module, _, tree in modules()
        if not any(
            module == allowed or module.startswith(f"{allowed}.") for allowed in MAY_READ_TIME_AND_CHANCE
        )
        and (found := time_and_chance(tree))
    }
    assert offenders == {}
