"""The judge that asks a language model about pairs which rules leave open, several in one call."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

from hindsight_core.errors import InvalidSettings, ModelError
from hindsight_core.llm.chat import ChatModel, ChatRequest
from hindsight_core.llm.grounding import speaks_to_models
from hindsight_core.llm.items import items_of, number_of, relation_of
from hindsight_core.llm.patience import Chat, as_chat
from hindsight_core.llm.prompts import Language, judgement_prompt, judgement_schema, language_of
from hindsight_core.ports import Relation, Told

log = logging.getLogger(__name__)

_PER_CALL = 8

Pair = tuple[Told, Told]


class LLMJudge:
    """Says by a language model what a text means for an earlier one.

        memory = Hindsight.open("agent.db", judge=LLMJudge("gpt-4o-mini"))

    A judge that fails says nothing, and the rules' verdict stands.

    Args:
        model: A `Chat`, any `ChatModel`, or the name of one behind the endpoint that the environment names.
        most: Pairs judged for one write at most, the most alike ones.

    Raises:
        MissingExtra: A name is given, and the extra [llm] is not installed.
        InvalidSettings: `most` is below 1.
    """

    def __init__(self, model: Chat | ChatModel | str, *, most: int = 8) -> None:
        if most < 1:
            raise InvalidSettings("LLMJudge", ["most must be at least 1"])
        self.chat = as_chat(model)
        self._most = most

    def judge(self, pairs: Sequence[Pair]) -> list[Relation | None]:
        """The relation of each pair; see `ports.Judge`."""
        found: list[Relation | None] = [None] * len(pairs)
        groups: dict[Language, list[int]] = {}
        allowed = [i for i, pair in enumerate(pairs) if not any(speaks_to_models(told.text) for told in pair)]
        for number in allowed[: self._most]:
            groups.setdefault(language_of(pairs[number][0].text), []).append(number)
        for language, numbers in groups.items():
            for start in range(0, len(numbers), _PER_CALL):
                call = numbers[start : start + _PER_CALL]
                for number, relation in self._ask([pairs[n] for n in call], language).items():
                    found[call[number]] = relation
        return found

    def erase(self, texts: Iterable[str]) -> None:
        """Remove what is kept of answers about these texts."""
        self.chat.erase(texts)

    def _ask(self, pairs: Sequence[Pair], language: Language) -> dict[int, Relation]:
        request = ChatRequest(
            messages=judgement_prompt(pairs, language),
            schema=judgement_schema(),
            about=tuple(told.text for pair in pairs for told in pair),
        )
        try:
            items = items_of(self.chat.ask(request).value)
        except ModelError as error:
            log.warning("a model was asked to judge and could not (%s); the rules decide", error)
            return {}
        found: dict[int, Relation] = {}
        for item in items:
            number, relation = number_of(item, len(pairs)), relation_of(item)
            if number is not None and relation is not None:
                found.setdefault(number, relation)
        return found
