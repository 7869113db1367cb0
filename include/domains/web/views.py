"""The questions that the web domain answers, each defined once."""

from penstock.model.view import View

VIEWS: tuple[View, ...] = ()
