"""Placeholder replaced by the stage that lives here."""
