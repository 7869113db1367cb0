"""What DAG files are made of: the Spark step, its errors and retries, pools, alerts, Airflow's views.

The only place beside dags/ that imports Airflow. `environment` is for whoever starts Airflow and imports none of it.
"""
