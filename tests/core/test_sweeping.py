"""The measure of a sweep, on a small store."""

from hindsight_core.evaluation.sweeping import main, measure


def test_the_first_sweep_merges_what_was_said_twice_and_the_next_looks_at_what_is_new(tmp_path):
    first, after = measure(tmp_path / "m.db", 300, say=lambda what: None)
    assert first.memories == 300
    assert first.steps >= 1
    assert first.reading > 0 < first.writing
    assert after.memories == 300 + 3 - first.steps


def test_the_command_prints_a_table(capsys):
    assert main(["--size", "120"]) == 0
    out = capsys.readouterr().out
    assert "first" in out
    assert "longest reading" in out
