"""web.devices: page views by device, browser and system."""

import great_expectations.expectations as gxe

from domains.web.views import DEVICES
from penstock.engine.suites import present, rows_of

SUITE = rows_of(
    DEVICES,
    *present("site", "device"),
    gxe.ExpectColumnValuesToBeInSet(
        column="device", value_set=["Desktop", "Phone", "Tablet", "Bot", "Unknown"], severity="critical"
    ),
)
