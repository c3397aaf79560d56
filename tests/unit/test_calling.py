"""Calls of the fixture that do not fit, told by what a test wrote."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.fixture import Jitperf

JITPERF: Any = object.__new__(Jitperf)
MEASURE = "args, kwargs, make_args, inputs, name"


@pytest.mark.parametrize(
    ("args", "kwargs", "expected"),
    [
        (
            (abs,),
            {"input": [1]},
            f'jitperf.measure() takes no input=; did you mean "inputs"? Valid: {MEASURE}; arguments of the function go '
            "into kwargs=",
        ),
        (
            (abs,),
            {"x": 1, "y": 2},
            f"jitperf.measure() takes no x= and y=; valid: {MEASURE}; arguments of the function go into kwargs=",
        ),
        (
            (abs, 1),
            {},
            "jitperf.measure() got 1 argument beside the function; write  jitperf.measure(f, args=(x,))  or  "
            "jitperf(f, x)",
        ),
        (
            (abs, 1, 2),
            {},
            "jitperf.measure() got 2 arguments beside the function; write  jitperf.measure(f, args=(x,))  or  "
            "jitperf(f, x)",
        ),
        ((), {}, "jitperf.measure() got no function to measure; write  jitperf.measure(f, args=(x,))"),
    ],
)
def test_a_wrong_call_of_the_long_form_names_what_is_right(args: Any, kwargs: Any, expected: str) -> None:
    with pytest.raises(MeasurementError) as caught:
        JITPERF.measure(*args, **kwargs)
    assert str(caught.value) == expected


def test_a_call_without_a_function_says_so() -> None:
    with pytest.raises(MeasurementError) as caught:
        JITPERF()
    assert str(caught.value) == "jitperf() got no function to measure; write  jitperf(f, x)"
