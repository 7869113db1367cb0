"""A schema registry that speaks Confluent's REST protocol, kept in a compacted topic. The edge never waits for it."""
