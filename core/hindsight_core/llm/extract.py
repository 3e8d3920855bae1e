"""The extractor that asks a language model, several texts in one call.

What it is given back is checked text by text (`items`, `grounding`); one text's fault costs that text the model's help and no
other. A text is never changed, and a model cannot add or remove a memory: it says what a text is about and what it thinks
the text means for what is near, and the engine does the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from hindsight_core.errors import AnswerUnusable, InvalidSettings, ModelError
from hindsight_core.llm.chat import ChatModel, ChatRequest
from hindsight_core.llm.grounding import speaks_to_models
from hindsight_core.llm.items import extraction, items_of, number_of
from hindsight_core.llm.patience import Chat, as_chat
from hindsight_core.llm.prompts import Language, extraction_prompt, extraction_schema, language_of
from hindsight_core.ports import Extraction, ExtractionContext, Told

Piece = tuple[str, ExtractionContext]
Result = Extraction | Exception

_MOST_KNOWN = 12
"""Memories shown in one call, the nearest of each text first."""


class LLMExtractor:
    """Finds summary, names, importance and type of a text by a language model.

        memory = Hindsight.open("agent.db", extractor=LLMExtractor("gpt-4o-mini"))

    Args:
        model: A `Chat`, any `ChatModel`, or the name of one behind the endpoint that the environment names.
        per_call: Texts in one call.
        longest_call: Characters of texts in one call; a longer single text is a call of its own.

    Raises:
        MissingExtra: A name is given, and the extra [llm] is not installed.
        InvalidSettings: What the numbers must be.
    """

    def __init__(self, model: Chat | ChatModel | str, *, per_call: int = 8, longest_call: int = 6000) -> None:
        faults = [
            f"{name} must be at least 1"
            for name, value in (("per_call", per_call), ("longest_call", longest_call))
            if value < 1
        ]
        if faults:
            raise InvalidSettings("LLMExtractor", faults)
        self.chat = as_chat(model)
        self._per_call = per_call
        self._longest_call = longest_call

    def extract(self, text: str, context: ExtractionContext) -> Extraction:
        """Extract from one text; see `ports.Extractor`.

        Raises:
            ModelUnavailable: No answer; the same may be asked again.
            AnswerUnusable: What the model says about the text cannot be used.
            ModelError: The model cannot be asked like this.
        """
        (result,) = self.extract_many([(text, context)])
        if isinstance(result, Exception):
            raise result
        return result

    def extract_many(self, pieces: Sequence[Piece]) -> list[Result]:
        """Extract from many texts; see `ports.BatchExtractor`."""
        results: list[Result | None] = [None] * len(pieces)
        open_: list[int] = []
        for number, (text, context) in enumerate(pieces):
            if speaks_to_models(text) or speaks_to_models(context.speaker or ""):
                results[number] = AnswerUnusable("the text gives orders to a model; none was asked")
            else:
                open_.append(number)
        calls = list(self._calls(pieces, open_))
        with ThreadPoolExecutor(max_workers=min(self.chat.concurrency, len(calls)) or 1) as pool:
            asked = pool.map(lambda call: self._ask([pieces[number] for number in call]), calls)
            for call, answered in zip(calls, asked, strict=True):
                for number, result in zip(call, answered, strict=True):
                    results[number] = result
        return [result for result in results if result is not None]

    def erase(self, texts: Iterable[str]) -> None:
        """Remove what is kept of answers about these texts."""
        self.chat.erase(texts)

    def _calls(self, pieces: Sequence[Piece], numbers: Sequence[int]) -> Iterator[list[int]]:
        """Texts that go together: of one language and the same entity types, in their order, few and short enough."""
        groups: dict[tuple[Language, frozenset[str]], list[int]] = {}
        for number in numbers:
            text, context = pieces[number]
            groups.setdefault((language_of(text), context.entity_types), []).append(number)
        for group in groups.values():
            call: list[int] = []
            size = 0
            for number in group:
                length = len(pieces[number][0])
                if call and (len(call) == self._per_call or size + length > self._longest_call):
                    yield call
                    call, size = [], 0
                call.append(number)
                size += length
            yield call

    def _ask(self, pieces: Sequence[Piece]) -> list[Result]:
        """Ask about some texts in one call; what one answer leaves open because it was cut off is asked again."""
        try:
            answered, truncated = self._answers(pieces)
        except AnswerUnusable as error:
            return self._in_halves(pieces, error)
        except ModelError as error:
            return [error] * len(pieces)
        missing = [number for number in range(len(pieces)) if number not in answered]
        if truncated and missing:
            cut = AnswerUnusable("the answer was cut off at the model's limit")
            rest = [pieces[number] for number in missing]
            again = self._in_halves(rest, cut) if len(missing) == len(pieces) else self._ask(rest)
            answered |= dict(zip(missing, again, strict=True))
        nothing = AnswerUnusable("the model says nothing about the text")
        return [answered.get(number, nothing) for number in range(len(pieces))]

    def _in_halves(self, pieces: Sequence[Piece], error: AnswerUnusable) -> list[Result]:
        """One text may have spoilt the answer about all: the others are asked about without it."""
        if len(pieces) == 1:
            return [error]
        middle = len(pieces) // 2
        return self._ask(pieces[:middle]) + self._ask(pieces[middle:])

    def _answers(self, pieces: Sequence[Piece]) -> tuple[dict[int, Result], bool]:
        """What one call says, by the place of the text it is about, and whether the answer was cut off."""
        texts = [Told(text, context.speaker, context.timestamp) for text, context in pieces]
        known = _known(pieces)
        language, types = language_of(pieces[0][0]), pieces[0][1].entity_types
        request = ChatRequest(
            messages=extraction_prompt(texts, known, types=types, language=language),
            schema=extraction_schema(types),
            about=tuple(told.text for told in (*texts, *known)),
        )
        answer, truncated = self.chat.ask(request)
        found: dict[int, Result] = {}
        for item in items_of(answer):
            number = number_of(item, len(pieces))
            if number is None or isinstance(found.get(number), Extraction):
                continue
            text, context = pieces[number]
            try:
                found[number] = extraction(item, text, context, known)
            except AnswerUnusable as error:
                found[number] = error
        return found, truncated


def _known(pieces: Sequence[Piece]) -> list[Told]:
    """What is near the texts of one call, each once: the nearest of every text, then the next nearest, ..."""
    found: dict[Told, None] = {}
    depth = max(len(context.near) for _, context in pieces)
    for rank in range(depth):
        for _, context in pieces:
            if rank < len(context.near) and not speaks_to_models(context.near[rank].text):
                found.setdefault(context.near[rank])
    return list(found)[:_MOST_KNOWN]
