"""Hindsight: long-term memory for AI agents."""
