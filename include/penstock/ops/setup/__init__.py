"""Sets the project up in its own folder: Python packages, jars, the compiled log store.

Runs before anything is installed, so: standard library only. `make setup` calls it by the system's Python.
"""
