"""A domain for tests: one source, one shape, one view. Put `tests/toy` on the path and it is found."""
