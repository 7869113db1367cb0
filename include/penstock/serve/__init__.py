"""The read side: merges batch and speed, answers queries, pushes changes, shows the console. No JVM."""
