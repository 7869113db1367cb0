"""Starts the broker of one machine: `python -m penstock.ops.stack.broker`. Becomes it, so signals reach it."""

import os

from penstock.log.broker import Broker
from penstock.settings import Settings


def broker(settings: Settings) -> Broker:
    """The controller listens beside the broker: Kafka needs two ports, and one setting is enough for both."""
    quick = settings.compiler == "quick"
    return Broker(settings.home / "broker", settings.kafka_port, settings.kafka_port + 1, quick=quick)


def main() -> None:
    node = broker(Settings.from_env())
    node.prepare()
    command = node.command()
    os.execvp(command[0], command)  # noqa: S606


if __name__ == "__main__":
    main()
