"""Language models, which are never needed and make some things better.

`Chat` asks one with patience, within limits, and counts what it costs; the model behind it is anything with the
`ChatModel` port: `OpenAIChat` for OpenAI-compatible endpoints (the extra `[llm]`), or a bridge of an adapter package.
"""

from hindsight_core.llm.chat import ChatModel, ChatReply, ChatRequest, Message, Usage
from hindsight_core.llm.openai_chat import OpenAIChat
from hindsight_core.llm.patience import Chat, Tally

__all__ = [
    "Chat",
    "ChatModel",
    "ChatReply",
    "ChatRequest",
    "Message",
    "OpenAIChat",
    "Tally",
    "Usage",
]
