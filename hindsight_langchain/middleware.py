"""`HindsightMiddleware`: long-term memory for `create_agent`.

    agent = create_agent(model, tools, middleware=[HindsightMiddleware(Hindsight.open("agent.db", scope="app"))])
    agent.invoke({"messages": [...]}, {"configurable": {"thread_id": "t1", "hindsight_scope": "user-42"}})

Once per run, before the agent starts, the new question recalls what is known; the block is shown to the model at the end
of its system message and never enters the messages. After the agent has finished, what the user said in this run and the
final answer are remembered, with the thread as their session: the thread's earlier turns, tool calls and summaries are not.

Policy on failure: an agent is worth more than its memory. When recalling fails the agent goes on without, when remembering
fails the answer stands; either is logged by the kind of error, without content.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, NotRequired

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables.config import ensure_config
from langgraph.runtime import Runtime

from hindsight_core import Hindsight, Hit
from hindsight_core.engine import opened
from hindsight_core.text.keys import digest
from hindsight_langchain import _messages
from hindsight_langchain._documents import Segments, configured, narrowed, segments

log = logging.getLogger(__name__)

_RESOLVING = 2
"""Latest questions of the thread that resolve what a follow-up leaves unsaid."""


class MemoryState(AgentState[Any]):
    """What the middleware keeps between its steps; neither input nor output of the agent."""

    hindsight_block: NotRequired[Annotated[str, PrivateStateAttr]]
    """The recalled block; empty once the run is over."""
    hindsight_said: NotRequired[Annotated[list[dict[str, Any]], PrivateStateAttr]]
    """What the user said in this run, kept apart from the messages, which a summary may remove."""
    hindsight_start: NotRequired[Annotated[str | None, PrivateStateAttr]]
    """Id of the last message when the run began."""


class HindsightMiddleware(AgentMiddleware[MemoryState, Any, Any]):
    """Recalls before the agent, shows it to the model, remembers the turn after.

    Args:
        memory: The memory.
        scope: Gives the scope below the memory's from the run's `Runtime` (such as its `context`), where one agent serves
            many users; `config["configurable"]["hindsight_scope"]` goes before it.
        k: Memories recalled.
        max_tokens: Limit of the block.
    """

    state_schema = MemoryState
    tools = ()

    def __init__(
        self,
        memory: Hindsight,
        *,
        scope: Callable[[Runtime[Any]], Segments] | None = None,
        k: int = 5,
        max_tokens: int = 800,
    ) -> None:
        super().__init__()
        self.memory = opened(memory)
        self.scope = scope
        self.k = k
        self.max_tokens = max_tokens

    # -- recall --------------------------------------------------------------------------------------------------

    def before_agent(self, state: MemoryState, runtime: Runtime[Any]) -> dict[str, Any]:
        """Recall what the new question brings to mind."""
        handle = self._handle(runtime)
        return self._begun(state, self._recalled(handle, state["messages"]))

    async def abefore_agent(self, state: MemoryState, runtime: Runtime[Any]) -> dict[str, Any]:
        """As `before_agent`, off the event loop."""
        handle = self._handle(runtime)
        return self._begun(state, await asyncio.to_thread(self._recalled, handle, state["messages"]))

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Show the block to the model, for this call only."""
        return handler(_informed(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """As `wrap_model_call`."""
        return await handler(_informed(request))

    def _recalled(self, handle: Hindsight, messages: Sequence[BaseMessage]) -> str:
        question = "\n".join(_messages.text_of(message) for message in _new(messages))
        if not question.strip():
            return ""
        texts = [_messages.text_of(message) for message in messages]
        visible = {digest(text) for text in texts}
        earlier = [
            _messages.text_of(m) for m in messages[: len(messages) - len(_new(messages))] if m.type == "human"
        ]

        def unseen(hit: Hit) -> bool:
            return digest(hit.unit.content) not in visible

        try:
            hits = handle.recall(question, k=self.k + len(visible), history=earlier[-_RESOLVING:])
            return hits.only(unseen)[: self.k].context(self.max_tokens)
        except Exception as error:  # noqa: BLE001 (the agent goes on, see the module)
            log.warning("recall failed (%s); the agent goes on without memories", type(error).__name__)
            return ""

    def _begun(self, state: MemoryState, block: str) -> dict[str, Any]:
        messages = state["messages"]
        session = _thread()
        return {
            "hindsight_block": block,
            "hindsight_said": [_messages.item(message, session) for message in _new(messages)],
            "hindsight_start": messages[-1].id if messages else None,
        }

    # -- remember ------------------------------------------------------------------------------------------------

    def after_agent(self, state: MemoryState, runtime: Runtime[Any]) -> dict[str, Any]:
        """Remember what was said in this run."""
        self._remember(self._handle(runtime), _turn(state))
        return _ENDED

    async def aafter_agent(self, state: MemoryState, runtime: Runtime[Any]) -> dict[str, Any]:
        """As `after_agent`, off the event loop."""
        await asyncio.to_thread(self._remember, self._handle(runtime), _turn(state))
        return _ENDED

    def _remember(self, handle: Hindsight, items: Sequence[dict[str, Any]]) -> None:
        try:
            handle.remember_many(items, resumable=False, progress=False)
        except Exception as error:  # noqa: BLE001 (the answer stands, see the module)
            log.error("this turn was not remembered (%s)", type(error).__name__)

    def _handle(self, runtime: Runtime[Any]) -> Hindsight:
        own = segments(self.scope(runtime)) if self.scope is not None else ()
        return narrowed(self.memory, *configured(None), *own)


_ENDED: dict[str, Any] = {"hindsight_block": "", "hindsight_said": [], "hindsight_start": None}


def _thread() -> str | None:
    thread = ensure_config().get("configurable", {}).get("thread_id")
    return None if thread is None else str(thread)


def _new(messages: Sequence[BaseMessage]) -> list[HumanMessage]:
    """What the user has said since the last answer; summaries that stand in for older messages are not said."""
    found: list[HumanMessage] = []
    for message in reversed(messages):
        if not isinstance(message, HumanMessage):
            break
        if message.additional_kwargs.get("lc_source") is None:
            found.insert(0, message)
    return found


def _turn(state: MemoryState) -> list[dict[str, Any]]:
    """What was said in this run: by the user, and by the agent at its end."""
    said = list(state.get("hindsight_said") or [])
    last = state["messages"][-1] if state["messages"] else None
    if (
        isinstance(last, AIMessage)
        and last.id != state.get("hindsight_start")
        and _messages.text_of(last).strip()
    ):
        said.append(_messages.item(last, _thread()))
    return said


def _informed(request: ModelRequest[Any]) -> ModelRequest[Any]:
    block = request.state.get("hindsight_block")
    if not isinstance(block, str) or not block:
        return request
    system = request.system_message
    if system is None:
        return request.override(system_message=SystemMessage(content=block))
    content: Any = (
        f"{system.content}\n\n{block}"
        if isinstance(system.content, str)
        else [*system.content, {"type": "text", "text": block}]
    )
    return request.override(system_message=system.model_copy(update={"content": content}))
