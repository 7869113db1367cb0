"""Agents by configuration: sources, a channel and a sink named in one YAML file. `penstock agent FILE` runs it."""
