"""Looks whether everything moves: streams, log, disk, ledger. Plain Python, no JVM: a look costs a second."""
