"""Language models, which are never needed and make some things better.

    memory = Hindsight.open("agent.db", extractor=LLMExtractor("gpt-4o-mini"), judge=LLMJudge("gpt-4o-mini"))

`LLMExtractor` says what a text is about, `LLMJudge` what it means for an earlier one where rules cannot tell.

`Chat` asks one with patience, within limits, and counts what it costs; the model behind it is anything with the
`ChatModel` port: `OpenAIChat` for OpenAI-compatible endpoints (the extra `[llm]`), or a bridge of an adapter package.
"""

from hindsight_core.llm.chat import ChatModel, ChatReply, ChatRequest, Message, Usage
from hindsight_core.llm.extract import LLMExtractor
from hindsight_core.llm.judge import LLMJudge
from hindsight_core.llm.openai_chat import OpenAIChat
from hindsight_core.llm.patience import Chat, Tally

__all__ = [
    "Chat",
    "ChatModel",
    "ChatReply",
    "ChatRequest",
    "LLMExtractor",
    "LLMJudge",
    "Message",
    "OpenAIChat",
    "Tally",
    "Usage",
]
