"""Counting tokens by whatever tokenizer a model has, and by estimate."""

import pytest

from hindsight_core.errors import InvalidInput
from hindsight_core.text.counting import estimate_tokens, token_counter

TEXT = "网关的端口是 7420, and the gateway listens there."


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("茶", 1), ("茶茶茶", 3), ("word", 2), ("a" * 36, 10), ("茶 tea", 3)]
)
def test_the_estimate_by_hand(text, tokens):
    assert estimate_tokens(text) == tokens


def test_a_function_is_taken_as_it_is():
    assert token_counter(len) is len


def test_a_tokenizer_of_tokenizers_counts_without_its_marks():
    tokenizers = pytest.importorskip("tokenizers", reason="needs the extra [onnx]")
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0, "[CLS]": 1}, unk_token="[UNK]"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    words.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A", special_tokens=[("[CLS]", 1)]
    )
    assert token_counter(words)("one two three") == 3


class LikeTransformers:
    """Callable, and with an `encode` that puts marks around."""

    def __call__(self, text):
        raise AssertionError("gives a mapping")

    def encode(self, text, add_special_tokens=True):
        return [0] * (len(text.split()) + 2 * add_special_tokens)


def test_a_tokenizer_of_transformers_counts_without_its_marks():
    assert token_counter(LikeTransformers())("one two three") == 3


def test_an_encoding_of_tiktoken_counts_text_that_spells_a_special_token():
    tiktoken = pytest.importorskip("tiktoken", reason="comes with llama-index-core")
    bytes_only = {bytes([i]): i for i in range(256)}
    encoding = tiktoken.Encoding(
        "bytes", pat_str=r"\S+|\s+", mergeable_ranks=bytes_only, special_tokens={"<|end|>": 256}
    )
    assert token_counter(encoding)("a<|end|>") == 8


@pytest.mark.parametrize("wrong", [None, 7, "gpt-4o", int, object()])
def test_anything_else_is_refused(wrong):
    with pytest.raises(InvalidInput, match="count_tokens"):
        token_counter(wrong)


def test_a_memory_counts_with_it(open_memory):
    memory = open_memory(count_tokens=LikeTransformers())
    memory.remember(TEXT)
    block = memory.recall("gateway").context(max_tokens=100)
    words = len(block.split())
    assert memory.recall("gateway").context(max_tokens=words) == block
    assert memory.recall("gateway").context(max_tokens=words - 1) == ""
    with pytest.raises(InvalidInput):
        open_memory(":memory:", count_tokens="gpt-4o")
