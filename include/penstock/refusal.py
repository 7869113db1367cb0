"""The one exception for "I will not do that": nothing was changed, and the message says the way out."""


class Refusal(Exception):
    """A command cannot go on. The text is one sentence of what is wrong and one of what to do."""
