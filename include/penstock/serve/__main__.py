"""`python -m penstock.serve`: the read API and the console."""

import uvicorn

from penstock.lake.layout import Layout
from penstock.serve.access.identity import Access
from penstock.serve.answers import Answers
from penstock.serve.app import create_app
from penstock.serve.reader import Reader
from penstock.serve.warm import warm
from penstock.settings import Settings


def main() -> None:
    settings = Settings.from_env()
    # Airflow shows the console among its own pages.
    airflow = f"http://127.0.0.1:{settings.airflow_port} http://localhost:{settings.airflow_port}"
    reader = Reader(Layout(settings.lake), home=settings.home)
    app = create_app(Answers(settings, reader), Access(settings.home), airflow)
    warm(reader)
    # Who asks is decided by the guard, from the connection itself: no header changes the address.
    quiet = {"log_level": "warning", "access_log": False, "proxy_headers": False}
    # A push is the same for a thousand subscribers; each would compress it anew.
    quiet |= {"ws_per_message_deflate": False}
    uvicorn.run(app, host=settings.listen, port=settings.serve_port, **quiet)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
