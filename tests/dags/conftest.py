"""Importing Airflow writes settings into its home: for tests, one of their own."""

import os
import tempfile

os.environ["AIRFLOW_HOME"] = tempfile.mkdtemp(prefix="penstock-airflow-")
