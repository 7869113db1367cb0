"""What DAGs tell each other: assets, by name."""

from airflow.sdk import Asset

# An hour of a source is complete: every record up to its end has its disposition. Extra: source, hour.
HOUR_CLOSED = Asset(name="hour_closed", uri="penstock://hours/closed", group="penstock")
