# One image, a target for each role: docker build --target collector -t penstock/collector .
FROM python:3.11.14-slim-bookworm AS base
# Java is the one thing that a machine must bring; the log store is compiled by the Eclipse compiler on the JRE.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends make openjdk-17-jre-headless procps \
 && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home --uid 10001 penstock \
 && install -d -o penstock -g penstock /opt/penstock /home/penstock/home /home/penstock/home/keys
USER penstock
WORKDIR /opt/penstock
COPY --chown=penstock Makefile pyproject.toml requirements.lock README.md ./
COPY --chown=penstock include include
RUN make setup && rm -rf /home/penstock/.cache /home/penstock/.ivy2
COPY --chown=penstock dags dags
COPY --chown=penstock spark_jobs spark_jobs
COPY --chown=penstock expectations expectations
COPY --chown=penstock deploy deploy
# A lake on an object store: not part of the set-up of one machine, which has no use for it.
RUN .venv/bin/python deploy/s3/fetch.py
ENV PATH=/opt/penstock/.venv/bin:$PATH \
    PYTHONPATH=/opt/penstock \
    PYTHONUNBUFFERED=1 \
    PENSTOCK_HOME=/home/penstock/home \
    PENSTOCK_LISTEN=0.0.0.0

FROM base AS collector
EXPOSE 8090
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["python", "deploy/healthy.py", "http://127.0.0.1:8090/readyz"]
CMD ["python", "-m", "penstock.collect"]

FROM base AS serve
EXPOSE 8091
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["python", "deploy/healthy.py", "http://127.0.0.1:8091/api/status"]
CMD ["python", "-m", "penstock.serve"]

FROM base AS airflow
EXPOSE 8080
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s \
  CMD ["python", "deploy/healthy.py", "http://127.0.0.1:8080/api/v2/monitor/health"]
CMD ["airflow", "api-server"]

FROM base AS spark
EXPOSE 7077 8080 8081
CMD ["spark-class", "org.apache.spark.deploy.master.Master"]
