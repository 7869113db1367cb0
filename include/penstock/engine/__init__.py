"""What happens between the log and the views: archive, shape, speed, build, gate, ledger. Spark lives here."""
