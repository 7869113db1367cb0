"""How the product is run: set-up, the stack, the command line, benchmarks, Airflow's kit."""
