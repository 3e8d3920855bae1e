"""Text: tokens, entities, times, secrets; pure functions over strings."""
