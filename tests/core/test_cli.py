"""The command `hindsight`: what it prints, what it refuses, and how it exits."""

import io
import json
import os
import subprocess
import sys

import pytest

from hindsight_core import embedding, reranking
from hindsight_core.cli import main
from hindsight_core.cli.output import words
from hindsight_core.embedding import HashEmbedder
from hindsight_core.engine import configure
from hindsight_core.reranking import BoundedReranker

ENVIRONMENT = {
    k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "PYTHON", "HINDSIGHT"))
}


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path):
    monkeypatch.delenv("HINDSIGHT_DB", raising=False)
    monkeypatch.delenv("HINDSIGHT_EMBEDDING_CACHE", raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(tmp_path, capsys):
    """Runs a command without an embedder; gives status, output and errors."""

    def run_(*argv, db="memory.db", embedder="none"):
        try:
            status = main(["--db", str(tmp_path / db), "--embedder", embedder, *map(str, argv)])
        except SystemExit as left:
            status = left.code
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run_


@pytest.fixture
def told(run):
    """Runs a command that must succeed, with --json, and gives what it says."""

    def told_(*argv, **more):
        status, out, err = run(*argv, "--json", **more)
        assert (status, err) == (0, "")
        return json.loads(out)

    return told_


@pytest.fixture
def filled(told):
    told(
        "remember",
        "Kestrel listens on port 7420.",
        "--id",
        "m1",
        "--speaker",
        "Mira",
        "--timestamp",
        "2031-05-01",
    )
    told(
        "remember",
        "阳台上种了三盆薄荷",
        "--id",
        "m2",
        "--timestamp",
        "2031-05-02",
        "--memory-type",
        "semantic",
    )
    told(
        "remember",
        "The bakery opens at seven.",
        "--id",
        "m3",
        "--timestamp",
        "none",
        "--metadata",
        '{"a": 1}',
    )
    return told


UNIT_KEYS = {
    "scope", "id", "seq", "content", "summary", "entities", "timestamp", "occurrences", "valid_from", "valid_to",
    "recorded_at", "last_access", "access_count", "pinned", "expires_at", "indexed", "importance", "weight",
    "weight_at", "source", "related_ids", "memory_type", "status", "metadata", "caller_id",
}  # fmt: skip


def test_remember_and_recall(filled):
    found = filled("recall", "which port does Kestrel use?", "-k", "1")
    assert set(found) == {"query", "recall_id", "hits"}
    (hit,) = found["hits"]
    assert set(hit) == {"rank", "score", "relevance", "signals", "via", "unit", "predecessors", "contradicts"}
    assert hit["unit"]["id"] == "m1"
    assert set(hit["unit"]) >= UNIT_KEYS
    assert hit["unit"]["timestamp"] == "2031-05-01T00:00:00+00:00"
    assert hit["unit"]["source"]["speaker"] == "Mira"
    assert {"raw", "value", "weighted"} == set(hit["signals"]["keyword"])
    assert 0 < hit["relevance"] <= 1


def test_chinese_stands_as_itself(filled, run):
    status, out, _ = run("recall", "薄荷", "--json")
    assert status == 0
    assert "阳台上种了三盆薄荷" in out
    assert "阳台上种了三盆薄荷" in run("recall", "薄荷")[1]


def test_every_remembering_option_arrives(told):
    (unit,) = told(
        *(
            "remember",
            "The gate code changes on Mondays.",
            "--session",
            "s1",
            "--turn",
            "4",
            "--importance",
            "0.9",
        ),
        *(
            "--pinned",
            "--expires-at",
            "2099-01-01",
            "--memory-type",
            "procedural",
            "--metadata",
            '{"team": "苗"}',
        ),
    )
    assert (unit["source"]["session"], unit["source"]["turn"]) == ("s1", 4)
    assert (unit["importance"], unit["pinned"], unit["memory_type"]) == (0.9, True, "procedural")
    assert (unit["expires_at"], unit["metadata"]) == ("2099-01-01T00:00:00+00:00", {"team": "苗"})


def test_exact_questions(filled):
    assert [unit["id"] for unit in filled("find", "--since", "2031-05-01", "--until", "2031-05-02")] == ["m1"]
    assert [unit["id"] for unit in filled("find", "--where", '{"metadata.a": 1}')] == ["m3"]
    assert len(filled("find", "--limit", "2")) == 2
    assert filled("aggregate") == {"": 3}
    assert filled("aggregate", "--by", "speaker")["Mira"] == 1
    assert filled("get", "m3")["timestamp"] is None


def test_change_and_forget(filled, run):
    assert (
        filled("update", "m1", "--text", "Kestrel listens on port 9000.", "--importance", "1")["importance"]
        == 1
    )
    assert filled("get", "m1")["content"] == "Kestrel listens on port 9000."
    assert filled("forget", "m1")["id"] == "m1"
    status, out, err = run("get", "m1", "--json")
    assert (status, out) == (1, "")
    assert err == "hindsight: no memory with that id in the scopes this handle reads\n"


def test_a_session_is_read_back(told):
    told("remember", "它在七楼。", "--session", "s1", "--speaker", "苗", "--timestamp", "2031-05-02")
    told("remember", "Where is it?", "--session", "s1", "--timestamp", "2031-05-01")
    assert [episode["text"] for episode in told("transcript", "s1")] == ["Where is it?", "它在七楼。"]


def test_a_sweep_is_tried_done_and_taken_back(told):
    told("remember", "ok, thanks", "--id", "m1", "--importance", "0.05", "--now", "2031-01-01")
    later = ("--now", "2032-01-01")
    tried = told("sweep", "--dry-run", *later)
    assert ([step["key"][1] for step in tried["steps"]], tried["batch"]) == (["m1"], None)
    assert len(told("find", *later)) == 1
    done = told("sweep", *later)
    assert sum(done["counts"].values()) == 1
    assert told("find", *later) == []
    assert told("undo", done["batch"], *later)["restored"] == [[["default"], "m1"]]
    assert len(told("find", *later)) == 1


def test_a_sweep_for_cron_runs_when_it_is_due(told, run):
    told("remember", "ok, thanks", "--id", "m1", "--importance", "0.05", "--now", "2031-01-01")
    due = ("sweep", "--if-due", "24h", "--now")
    assert told(*due, "2031-02-01T00:00")["counts"] == {"archive": 1}
    assert told(*due, "2031-02-01T23:59") == {"due": False}
    assert told(*due, "2031-02-02T00:00")["counts"] == {}
    assert "not due yet" in run(*due, "2031-02-02T01:00")[1]


@pytest.mark.parametrize(
    "argv", [("--if-due", "soon"), ("--if-due", "24"), ("--if-due", "24h", "--dry-run"), ("--if-due", "0h")]
)
def test_a_sweep_for_cron_asked_for_wrongly_is_refused(filled, run, argv):
    status, _, err = run("sweep", *argv)
    assert status == 1
    assert "Traceback" not in err


def test_the_timeline_of_a_fact_is_shown(filled):
    assert [unit["id"] for unit in filled("history", "m1")] == ["m1"]


@pytest.mark.parametrize(
    ("argv", "part"),
    [
        (["find"], "阳台上种了三盆薄荷"),
        (["get", "m1"], "Kestrel listens"),
        (["aggregate", "--by", "speaker"], "Mira"),
        (["stats"], "embedder"),
        (["doctor"], "no embedder"),
        (["scopes"], "default"),
        (["sweep", "--dry-run"], "3 memories looked at"),
        (["history", "m2"], "薄荷"),
        (["recall", "melting point of tungsten"], "Nothing relevant is known"),
        (["forget", "m1"], "forgotten"),
        (["export", "x.jsonl"], "3 memories written"),
    ],
)
def test_people_read_tables(filled, run, argv, part):
    _, out, err = run(*argv)
    assert part in out
    assert err == ""


def test_erasing_wants_to_be_sure(filled, run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    status, _, err = run("erase", "m1")
    assert status == 1
    assert "--yes" in err
    assert filled("get", "m1")["id"] == "m1"
    assert filled("erase", "m1", "--yes") == {"erased": "m1"}
    assert run("get", "m1")[0] == 1


@pytest.mark.parametrize(("answer", "erased"), [("y\n", True), ("n\n", False), ("\n", False)])
def test_erasing_asks_on_a_terminal(filled, run, monkeypatch, answer, erased):
    terminal = io.StringIO(answer)
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stdin", terminal)
    assert (run("erase", "m1")[0] == 0) is erased
    assert (run("get", "m1")[0] == 1) is erased


def test_context_is_printed_as_it_is(filled, run):
    status, out, _ = run("context", "Kestrel port", "--max-tokens", "200")
    assert status == 0
    assert out.startswith("<memories>")
    assert "7420" in out
    block = filled("context", "Kestrel port")
    assert set(block) == {"context", "recall_id", "hits"}
    assert run("context", "melting point of tungsten") == (0, "", "")


def test_recollect_speaks_only_when_it_is_worth_it(run, filled):
    status, out, _ = run("recollect", "Which port does Kestrel listen on?", "--max-tokens", "200")
    assert status == 0
    assert "7420" in out
    assert filled("recollect", "Which port does Kestrel listen on?", "-k", "1")["context"].count("\n- ") == 1
    assert run("recollect", "Thanks a lot!") == (0, "", "")
    assert filled("recollect", "melting point of tungsten") == {"context": None}


def test_out_and_in_again(filled, told, tmp_path):
    written = filled("export", str(tmp_path / "x.jsonl"))
    assert written["memories"] == 3
    assert told("import", str(tmp_path / "x.jsonl"), db="other.db")["added"] == 3
    assert told("find", db="other.db") != []
    assert told("import", str(tmp_path / "x.jsonl"), db="other.db")["added"] == 0


def test_figures_and_health(filled, run):
    figures = filled("stats")
    assert (figures["memories"], figures["profile"]) == (3, "default")
    status, out, _ = run("doctor", "--json")
    assert status == 1  # there is no embedder, and doctor says so
    assert {"problem", "remedy"} == set(json.loads(out)[0])
    assert filled("resume") == {"resumed": 0}


def test_scopes_are_apart(told):
    told("remember", "Ours.", "--scope", "team", "--scope", "mira")
    told("remember", "Theirs.", "--scope", "team/mira")
    assert told("scopes") == [["team", "mira"], ["team/mira"]]
    assert [unit["content"] for unit in told("find", "--scope", "team")] == ["Ours."]
    assert told("find") == []


def test_options_of_every_command_stand_before_or_after_it(filled, run):
    before = run("--scope", "default", "--json", "find")
    assert before == run("find", "--json", "--scope", "default")
    assert len(json.loads(before[1])) == 3


def test_the_present_can_be_given(told):
    (unit,) = told("remember", "It rained.", "--now", "2031-05-20T09:00:00+08:00")
    assert unit["timestamp"] == "2031-05-20T09:00:00+08:00"
    hits = told(
        "recall", "what happened yesterday?", "--now", "2031-05-21T09:00:00+08:00", "--floor", "none"
    )["hits"]
    assert [hit["unit"]["id"] for hit in hits] == [unit["id"]]


def test_a_profile_comes_by_name_or_from_a_file(told, run, tmp_path):
    told("remember", "It rained.")
    assert told("stats", "--profile", "assistant")["profile"] == "assistant"
    (tmp_path / "own.json").write_text('{"name": "own"}')
    assert told("stats", "--profile", tmp_path / "own.json")["profile"] == "own"
    status, _, err = run("stats", "--profile", "nonsense")
    assert status == 1
    assert "tech_docs" in err


def test_text_comes_from_standard_input(told, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("The heron nests by the mill.\n"))
    (unit,) = told("remember", "-", "--id", "m1")
    assert unit["content"] == "The heron nests by the mill."
    monkeypatch.setattr(sys, "stdin", io.StringIO("where does the heron nest?"))
    assert told("recall", "-")["query"] == "where does the heron nest?"


def test_a_reading_command_makes_no_file(run, tmp_path):
    for argv in (["recall", "x"], ["find"], ["stats"], ["get", "x"], ["export", "y"]):
        status, out, err = run(*argv, db="mistyped.db")
        assert (status, out) == (1, "")
        assert "no memory at" in err
    assert not (tmp_path / "mistyped.db").exists()


@pytest.mark.parametrize(
    "argv",
    [
        ["remember", " "],
        ["remember", "x", "--metadata", "{"],
        ["remember", "x", "--metadata", "[]"],
        ["remember", "x", "--timestamp", "someday"],
        ["remember", "x", "--importance", "7"],
        ["remember", "x", "--now", "someday"],
        ["remember", "x", "--scope", " "],
        ["recall", "x", "--floor", "high"],
        ["recall", "x", "--floor", "2"],
        ["recall", "x", "-k", "-1"],
        ["recall", "x", "--where", '{"nonsense": 1}'],
        ["recall", "x", "--since", "2031-05-02", "--until", "2031-05-01"],
        ["update", "m1"],
        ["import", "absent.jsonl"],
        ["ingest", "absent.jsonl"],
        ["eval", "absent.jsonl"],
        ["reembed"],
    ],
)
def test_errors_are_one_line_and_no_traceback(filled, run, argv):
    status, out, err = run(*argv)
    assert (status, out) == (1, "")
    assert err.startswith("hindsight: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "argv", [[], ["nonsense"], ["recall"], ["recall", "x", "-k", "many"], ["find", "--status", "lost"]]
)
def test_wrong_usage_is_status_two(run, argv):
    status, out, err = run(*argv)
    assert (status, out) == (2, "")
    assert err.startswith("usage: hindsight")


def chat(path, *lines):
    path.write_text(
        "\n".join(json.dumps(line) if isinstance(line, dict) else line for line in lines), encoding="utf-8"
    )
    return path


def test_ingest_twice_adds_nothing_twice(told, tmp_path):
    path = chat(
        tmp_path / "chat.jsonl",
        {"text": "It rained."},
        {"text": "阳台上种了薄荷", "id": "m2", "mood": "good"},
    )
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# Kestrel\n\nIt listens on port 7420.", encoding="utf-8")
    first = told("ingest", path, tmp_path / "notes")
    assert (first["items"], first["added"], first["skipped"]) == (3, 3, [])
    assert told("ingest", path, tmp_path / "notes")["added"] == 0
    assert told("get", "m2")["metadata"] == {"mood": "good"}
    (unit,) = told("recall", "which port does Kestrel use?", "-k", "1")["hits"]
    assert unit["unit"]["source"]["document"] == "a.md"
    assert unit["unit"]["timestamp"] is None


def test_ingest_stores_nothing_of_a_malformed_file(run, told, tmp_path):
    good = chat(tmp_path / "good.jsonl", {"text": "It rained."})
    bad = chat(tmp_path / "bad.jsonl", {"text": "fine"}, "{", {"text": "secret", "importance": 9})
    status, out, err = run("ingest", good, bad)
    assert (status, out) == (1, "")
    assert "line 2: not JSON" in err
    assert "line 3: importance" in err
    assert "secret" not in err
    assert not (tmp_path / "memory.db").exists()
    left = told("ingest", good, bad, "--skip-bad")
    assert left["added"] == 2
    assert [row["where"] for row in left["skipped"]] == ["line 2", "line 3"]


def test_ingest_reads_a_chat_from_standard_input(told, monkeypatch):
    class Bytes:
        buffer = io.BytesIO('{"text": "阳台上种了薄荷"}\n'.encode())

    monkeypatch.setattr(sys, "stdin", Bytes())
    assert told("ingest", "-")["added"] == 1


class Counting(HashEmbedder):
    """Keeps count of the texts it is asked for."""

    def __init__(self):
        super().__init__()
        self.asked = 0

    def embed_query(self, text):
        self.asked += 1
        return super().embed_query(text)


@pytest.fixture
def counting(monkeypatch):
    embedder = Counting()
    monkeypatch.setattr(configure, "default_embedder", lambda wanted: None if wanted is None else embedder)
    return embedder


def test_a_store_filled_without_an_embedder_gets_one(filled, told, counting):
    assert told("stats")["without_vector"] == 3
    assert told("reembed", embedder="local") == {"embedded": 3}
    assert told("stats", embedder="local")["without_vector"] == 0
    assert told("doctor", embedder="local") == []
    (first, *_) = told("recall", "which port does Kestrel use?", embedder="local")["hits"]
    assert first["signals"]["vector"]["raw"] > 0
    assert told("reembed", embedder="local") == {"embedded": 0}


def test_a_cache_embeds_nothing_twice(told, counting, tmp_path):
    told("remember", "It rained.", "--cache", tmp_path / "cache.db", embedder="local")
    asked = counting.asked
    assert asked > 0
    told("remember", "It rained.", "--cache", tmp_path / "cache.db", embedder="local", db="other.db")
    assert counting.asked == asked


DATA = [
    {"kind": "memory", "bank": "b", "id": "m1", "text": "Kestrel listens on port 7420.", "timestamp": None},
    {"kind": "memory", "bank": "b", "id": "m2", "text": "The heron nests by the mill.", "timestamp": None},
    {"kind": "memory", "bank": "b", "id": "m3", "text": "母亲喜欢听评弹", "timestamp": "2031-05-01"},
    {
        "kind": "question",
        "bank": "b",
        "id": "q1",
        "text": "Kestrel's port?",
        "gold": ["m1"],
        "category": "fact",
    },
    {"kind": "question", "bank": "b", "id": "q2", "text": "谁喜欢评弹", "gold": ["m3"], "category": "fact"},
]


def test_eval_prints_tables_and_writes_files(run, tmp_path):
    data = chat(tmp_path / "tiny.jsonl", *DATA)
    status, out, _ = run(
        *("eval", data, "--k", "1", "3", "--baseline", "bm25", "--ablate", "weights.keyword", "--compare"),
        *("--html", tmp_path / "r.html", "--json", tmp_path / "r.json"),
    )
    assert status == 0
    assert "tiny: R@1 / R@3 by category" in out
    assert "without weights.keyword" in out
    assert "paired comparison" in out
    assert (tmp_path / "r.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    written = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert [row["system"] for row in written["results"]] == ["hindsight", "without weights.keyword", "bm25"]
    assert written["results"][0]["headline"]["recall@3"]["mean"] == 1


def test_eval_measures_the_same_with_a_reranker(run, tmp_path, monkeypatch):
    class Even:
        def rerank(self, query, passages):
            return [0.5] * len(passages)

    named = []

    def resolve(name, **bounds):
        named.append(name)
        return None if name is None else BoundedReranker(Even(), **bounds)

    monkeypatch.setattr(reranking, "resolve_reranker", resolve)
    data = chat(tmp_path / "tiny.jsonl", *DATA)
    status, out, _ = run("eval", data, "--json", "--baseline", "bm25", "--reranker", "onnx:there")
    assert status == 0
    assert set(named) == {"onnx:there"}
    systems = [row["system"] for row in json.loads(out)["results"]]
    assert systems == ["hindsight", "hindsight+rerank", "bm25", "bm25+rerank"]


def test_eval_measures_the_same_with_learnt_keywords(run, tmp_path, monkeypatch):
    class Words:
        sparse_fingerprint = "words"

        def sparse_documents(self, texts):
            return [{len(word): 1.0 for word in text.split()} for text in texts]

        def sparse_query(self, text):
            return self.sparse_documents([text])[0]

    monkeypatch.setattr(embedding, "resolve_sparse", lambda keywords, dense: Words() if keywords else None)
    data = chat(tmp_path / "tiny.jsonl", *DATA)
    status, out, _ = run("eval", data, "--json", "--keywords", "bge-m3:there")
    assert status == 0
    assert [row["system"] for row in json.loads(out)["results"]] == ["hindsight", "hindsight+keywords"]


def test_eval_prints_json_and_compares_with_an_earlier_run(run, tmp_path):
    data = chat(tmp_path / "tiny.jsonl", *DATA)
    status, out, _ = run("eval", data, "--json")
    assert status == 0
    (tmp_path / "before.json").write_text(out, encoding="utf-8")
    status, out, _ = run("--json", "eval", data, "--against", tmp_path / "before.json", "--limit", "1")
    assert status == 0
    assert [row["ties"] for row in json.loads(out)["comparisons"]] == [1, 1]


def test_eval_keeps_stores_and_profiles_apart(run, tmp_path):
    data = chat(tmp_path / "tiny.jsonl", *DATA)
    for _ in range(2):
        status, out, _ = run(
            "eval", data, "--store", tmp_path / "kept", "--profile", "default", "--profile", "support"
        )
        assert status == 0
    assert [path.name for path in sorted((tmp_path / "kept").glob("*.db"))] == ["tiny-0.db"]
    assert "support" in out


@pytest.mark.parametrize(
    "option", [["--limit", "0"], ["--k", "0"], ["--baseline", "x"], ["--ablate", "x"], ["--reranker", "x"]]
)
def test_eval_refuses_what_cannot_be(run, tmp_path, option):
    status, _, err = run("eval", chat(tmp_path / "tiny.jsonl", *DATA), *option)
    assert status == 1
    assert err.startswith("hindsight: ")


def test_memories_cannot_steer_a_terminal():
    assert str(words("fine\n\x1b[2Jgone\x9b\r")) == "fine\n\ufffd[2Jgone\ufffd\ufffd"
    assert str(words("[bold]x[/bold]")) == "[bold]x[/bold]"
    assert len(words("x" * 1000)) == 300


def process(*argv, stdin="", **environment):
    return subprocess.run(
        [sys.executable, "-m", "hindsight_core.cli", *argv],
        input=stdin.encode(),
        capture_output=True,
        env={**ENVIRONMENT, "COLUMNS": "200", **environment},
        check=False,
    )


@pytest.mark.parametrize("locale", ["C", "POSIX", "C.UTF-8", "en_US.ISO-8859-1"])
def test_utf8_whatever_the_locale(tmp_path, locale):
    """Text in an argument, from standard input, in tables and in JSON."""
    own = {"LC_ALL": locale, "HINDSIGHT_DB": str(tmp_path / "m.db")}
    done = process("--embedder", "none", "remember", "母亲喜欢听评弹", "--id", "备忘1", **own)
    assert done.returncode == 0, done.stderr
    assert "母亲喜欢听评弹" in done.stdout.decode()
    done = process("--embedder", "none", "--json", "recall", "-", stdin="谁喜欢听评弹？", **own)
    assert json.loads(done.stdout.decode())["hits"][0]["unit"]["id"] == "备忘1"


def test_a_closed_pipe_is_no_error(tmp_path):
    """As with `hindsight find | head -1`: nobody reads the rest, which is more than a pipe holds."""
    story = " ".join(f"On day {day} it rained." for day in range(8_000))
    own = {"HINDSIGHT_DB": str(tmp_path / "m.db")}
    assert process("--embedder", "none", "remember", "-", stdin=story, **own).returncode == 0
    script = f'"{sys.executable}" -m hindsight_core.cli find --json | head -c 1; echo "${{PIPESTATUS[0]}}"'
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, encoding="utf-8", env={**ENVIRONMENT, **own}, check=False
    )
    assert (done.stdout, done.stderr) == ("[141\n", "")


def test_the_help_of_eval_tells_the_format_of_its_data(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["eval", "--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert ended.value.code == 0
    assert all(key in told for key in ('"kind": "memory"', '"kind": "question"', '"gold"', '"bank"'))
