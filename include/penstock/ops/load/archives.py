"""The driver of streams, of which only the archives run: what raw bronze takes with the cores to itself."""

import runpy

from penstock.engine import driver
from penstock.engine.archive import Archive
from penstock.ops.rig import JOB

every = driver.jobs_of
driver.jobs_of = lambda *told: [job for job in every(*told) if isinstance(job, Archive)]
runpy.run_path(str(JOB), run_name="__main__")
