"""`python -m penstock.serve`: the read API and the console."""

import uvicorn

from penstock.lake.layout import Layout
from penstock.serve.answers import Answers
from penstock.serve.app import create_app
from penstock.serve.reader import Reader
from penstock.settings import Settings


def main() -> None:
    settings = Settings.from_env()
    # Airflow shows the console among its own pages.
    airflow = f"http://127.0.0.1:{settings.airflow_port} http://localhost:{settings.airflow_port}"
    app = create_app(Answers(settings, Reader(Layout(settings.lake))), airflow)
    uvicorn.run(app, host=settings.listen, port=settings.serve_port, log_level="warning", access_log=False)


if __name__ == "__main__":
    main()
