"""Encode: from an episode to drafts of memories (split, then extract from each piece)."""

from hindsight_core.encode.encoder import Draft, encode, index_text
from hindsight_core.encode.rules import RulesExtractor

__all__ = ["Draft", "RulesExtractor", "encode", "index_text"]
