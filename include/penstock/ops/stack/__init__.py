"""The stack of one machine: a real broker, Airflow, collector and serve under one supervisor.

home      the one folder that holds all state           parts     what is run, in one table
config    supervisord's settings                        supervise the process that owns all others
airflow   Airflow's settings and how its parts start    broker    how the broker starts
database  where Airflow's tables are                    trial     a stack for a measurement or a test
health    is a part well                                orphans   processes found by their recorded identity
run       up, down and the state of everything          table     the same on a screen
"""
