"""The language in which a domain is declared: sources, facts, views, measures. Standard library only."""
