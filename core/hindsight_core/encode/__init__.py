"""Encode: from an episode to drafts of memories (split, then extract from each piece)."""

from hindsight_core.encode.encoder import Draft, extract_all, index_text, split
from hindsight_core.encode.rules import RulesExtractor

__all__ = ["Draft", "RulesExtractor", "extract_all", "index_text", "split"]
