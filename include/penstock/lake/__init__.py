"""The lake on disk: layout, tables and the Spark session that writes them."""
