"""Knows from the specification alone what must come of traffic. Imports nothing of the pipeline."""
