"""The collection tier: from the places where events happen to the log. No JVM, no Spark, no Airflow."""
