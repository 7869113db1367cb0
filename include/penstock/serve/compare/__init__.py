"""Compares two releases of a domain, without a JVM: which records moved and why, and what that does to views.

`moves` looks at silver, `changes` at views, `comparison` puts both together and says whether it is within a limit.
"""
