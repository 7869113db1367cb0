"""The immutable log: Kafka's topics, producers and the broker that runs on one machine. No Spark, no Airflow."""
