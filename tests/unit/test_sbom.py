"""The bill of materials is valid and is the lock's."""

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from penstock.ops import sbom


def test_the_committed_bill_is_the_one_of_the_lock() -> None:
    assert sbom.SBOM.read_text() == sbom.bill(), "run `make sbom`"


def test_the_bill_is_valid_cyclonedx() -> None:
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(sbom.bill()) is None
