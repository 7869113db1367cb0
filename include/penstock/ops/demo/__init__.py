"""The demonstration: the whole stack with simulated traffic, and proof that every stage moved data.

stages   what each stage has moved so far      traffic  the domains' simulators as processes
tour     the order of events
"""
