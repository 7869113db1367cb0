"""A part that takes long keeps no other from being told."""

from threading import Event

from penstock.serve.beside import Beside


def test_what_takes_too_long_is_told_once_it_is_there_and_until_then_as_it_was() -> None:
    goes_on, made = Event(), iter(({"hours": 1}, {"hours": 2}))

    def make() -> dict[str, int]:
        goes_on.wait(20)
        return next(made)

    beside = Beside(make, "ledger", 0.1)
    assert beside.latest()["problem"]["title"] == "The ledger is not read yet"
    goes_on.set()
    told = beside.latest()
    while "problem" in told:
        told = beside.latest()
    assert told == {"hours": 1}
    assert beside.latest() == {"hours": 2}
