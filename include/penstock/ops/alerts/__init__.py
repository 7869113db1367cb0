"""Tells people: one message when something breaks, none while it stays broken, one when it is well again."""
