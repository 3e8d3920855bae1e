"""`HindsightMemory`: memory of a chain, as LangChain's legacy chains and agents take it.

    chain = ConversationChain(llm=llm, memory=HindsightMemory(memory=Hindsight.open("agent.db", scope="user-42")))

The variable it gives holds what the input brings to mind from all sessions of the scope, then the latest turns of this
one, together within `max_tokens`. What is in the latest turns is not recalled as well, and neither is the input itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, get_buffer_string
from pydantic import ConfigDict, Field

from hindsight_core import Hindsight, Hit
from hindsight_core.errors import InvalidInput
from hindsight_core.text.keys import digest
from hindsight_core.unit import Episode
from hindsight_langchain import _messages
from hindsight_langchain.history import HindsightChatMessageHistory

try:
    from langchain_classic.base_memory import BaseMemory
except ModuleNotFoundError as missing:
    try:  # where it lived before langchain-core 1.0
        from langchain_core.memory import BaseMemory  # type: ignore[import-not-found, no-redef]
    except ModuleNotFoundError:
        raise missing from None

_RESOLVING = 2
"""Latest questions of the session that resolve what a follow-up leaves unsaid."""


class HindsightMemory(BaseMemory):
    """What a chain remembers: latest turns of the session, and what the input recalls.

    As a string: the recalled block, an empty line, the turns with their prefixes. As messages: the block as a system
    message, then the turns. Nothing known gives "" or [].
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    memory: Hindsight = Field(exclude=True, repr=False)
    """Where it is remembered."""
    session: str = ""
    """Which conversation this is; a new one by default."""
    memory_key: str = "history"
    """The variable it gives to the prompt."""
    input_key: str | None = None
    """Which input is remembered; needed when a chain has several."""
    output_key: str | None = None
    """Which output is remembered; needed when a chain has several and none is called "output"."""
    return_messages: bool = False
    """Give messages, not one string."""
    human_prefix: str = "Human"
    ai_prefix: str = "AI"
    recent: int = Field(default=10, ge=0)
    """Latest messages shown, at most half of `max_tokens`; whole ones only, the first of them a human's."""
    k: int = Field(default=5, ge=0)
    """Memories recalled."""
    max_tokens: int = Field(default=2000, ge=0)
    """Limit for all of it."""

    def model_post_init(self, context: Any, /) -> None:
        """Begin a new session where none is named."""
        if not self.session:
            parts = self.memory.parts
            self.session = f"chat-{parts.new_id(parts.clock.now())}"

    @property
    def memory_variables(self) -> list[str]:
        """The one variable."""
        return [self.memory_key]

    @property
    def chat_memory(self) -> HindsightChatMessageHistory:
        """The transcript of the session."""
        return HindsightChatMessageHistory(self.memory, self.session)

    @property
    def buffer(self) -> str | list[BaseMessage]:
        """The whole transcript, as a string or as messages."""
        return self.buffer_as_messages if self.return_messages else self.buffer_as_str

    @property
    def buffer_as_messages(self) -> list[BaseMessage]:
        """The whole transcript as messages."""
        return self.chat_memory.messages

    @property
    def buffer_as_str(self) -> str:
        """The whole transcript as a string."""
        return self._string(self.buffer_as_messages)

    # -- in ----------------------------------------------------------------------------------------------------

    def save_context(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> None:
        """Remember one turn; the chain's other inputs, this memory's own variable among them, are left out."""
        self.chat_memory.add_messages(self._turn(inputs, outputs))

    async def asave_context(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> None:
        """As `save_context`, off the event loop."""
        await self.chat_memory.aadd_messages(self._turn(inputs, outputs))

    def clear(self) -> None:
        """Empty the session and forget what only it has told."""
        self.chat_memory.clear()

    async def aclear(self) -> None:
        """As `clear`, off the event loop."""
        await self.chat_memory.aclear()

    def _turn(self, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> list[BaseMessage]:
        asked = inputs[self._input_key(inputs)]
        said = outputs[self._output_key(outputs)]
        return [_messages.as_message(asked, HumanMessage), _messages.as_message(said, AIMessage)]

    def _input_key(self, inputs: Mapping[str, Any]) -> str:
        if self.input_key is not None:
            return _known(self.input_key, inputs, "input_key")
        given = sorted(set(inputs) - {self.memory_key, "stop"})
        if len(given) != 1:
            raise InvalidInput(
                f"the chain has the inputs {given}; set input_key= to the one to remember" if given
                else "the chain has no input to remember"
            )  # fmt: skip
        return given[0]

    def _output_key(self, outputs: Mapping[str, Any]) -> str:
        if self.output_key is not None:
            return _known(self.output_key, outputs, "output_key")
        if len(outputs) == 1:
            return next(iter(outputs))
        if "output" in outputs:
            return "output"
        raise InvalidInput(
            f"the chain has the outputs {sorted(outputs)}; set output_key= to the one to remember"
        )

    # -- out -----------------------------------------------------------------------------------------------------

    def load_memory_variables(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """What the inputs bring to mind, and the latest turns; without an input, the turns alone."""
        question = self._question(inputs)
        episodes = self.memory.transcript(self.session)
        shown, used = self._latest(episodes)
        block = self._recalled(question, episodes, shown, self.max_tokens - used)
        turns = [_messages.message(episode) for episode in shown]
        if self.return_messages:
            return {self.memory_key: [SystemMessage(content=block), *turns] if block else turns}
        return {self.memory_key: "\n\n".join(part for part in (block, self._string(turns)) if part)}

    def _question(self, inputs: Mapping[str, Any]) -> str:
        if not set(inputs) - {self.memory_key, "stop"}:
            return ""
        return _messages.as_text(inputs[self._input_key(inputs)])

    def _latest(self, episodes: Sequence[Episode]) -> tuple[list[Episode], int]:
        """The latest messages that fit into half of the limit, and their tokens; never an answer without its question."""
        shown: list[Episode] = []
        used = 0
        for episode in reversed(episodes[-self.recent :] if self.recent else []):
            cost = self._tokens(self._string([_messages.message(episode)]) + "\n")
            if used + cost > self.max_tokens // 2:
                break
            shown.insert(0, episode)
            used += cost
        while shown and shown[0].source.speaker in ("assistant", "tool"):
            used -= self._tokens(self._string([_messages.message(shown.pop(0))]) + "\n")
        return shown, used

    def _recalled(
        self, question: str, episodes: Sequence[Episode], shown: Sequence[Episode], limit: int
    ) -> str:
        if not question.strip() or not self.k:
            return ""
        present = {episode.id for episode in shown}
        asked = digest(question)

        def new(hit: Hit) -> bool:
            return hit.unit.source.episode not in present and digest(hit.unit.content) != asked

        questions = [episode.text for episode in episodes if episode.source.speaker == "user"]
        hits = self.memory.recall(question, k=self.k + len(present) + 1, history=questions[-_RESOLVING:])
        return hits.only(new)[: self.k].context(max(0, limit))

    def _string(self, messages: Sequence[BaseMessage]) -> str:
        return get_buffer_string(messages, human_prefix=self.human_prefix, ai_prefix=self.ai_prefix)

    def _tokens(self, text: str) -> int:
        return self.memory.parts.count_tokens(text)


def _known(key: str, given: Mapping[str, Any], setting: str) -> str:
    if key not in given:
        raise InvalidInput(f"{setting}={key!r} is not among the chain's {sorted(given)}")
    return key
