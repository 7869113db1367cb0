"""A table for the gate's tests: ids, amounts and a personal name."""

import great_expectations.expectations as gxe

from penstock.engine.suites import Suite, present

SUITE = Suite(
    "toy.numbers",
    (
        *present("id"),
        gxe.ExpectColumnValuesToBeBetween(column="amount", min_value=0, max_value=100, severity="critical"),
        gxe.ExpectColumnValuesToBeInSet(column="kind", value_set=["a", "b"], severity="warning"),
        gxe.ExpectColumnPairValuesAToBeGreaterThanB(column_A="ended", column_B="started", or_equal=True),
        gxe.ExpectColumnValuesToMatchRegex(column="path", regex="^/", severity="info"),
    ),
)
