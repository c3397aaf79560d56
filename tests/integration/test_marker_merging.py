"""Markers on module, base class, class, function and parameter hold together, the nearer one over the farther."""

from __future__ import annotations

from typing import Any

# Every function has one argument leaf and is one equation or more, so each limit of 0 is one that is broken.
TESTS = """
pytestmark = pytest.mark.jitperf(strategies=["outer"], leaves=0)

def test_module(jitperf):
    jitperf(library.f, X)

class Base:
    pytestmark = pytest.mark.jitperf(leaves=1, budgets={"outer": {"jaxpr_eqns": 0}})

    def test_base(self, jitperf):
        jitperf(library.f, X)

@pytest.mark.jitperf(budgets={"outer": {"jaxpr_eqns": 9}}, stablehlo_ops=0)
class TestSub(Base):
    def test_sub(self, jitperf):
        jitperf(library.f, X)

    @pytest.mark.jitperf(stablehlo_ops=None, strategies=["eager"])
    def test_function(self, jitperf):
        jitperf(library.f, X)

    @pytest.mark.jitperf(stablehlo_ops=None)
    @pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.jitperf(launches=0))])
    def test_param(self, jitperf, n):
        jitperf(library.f, X)

@pytest.mark.jitperf(leaves=0, launches=0)
@pytest.mark.jitperf(leaves=1)
def test_stacked(jitperf):
    jitperf(library.f, X)

def test_not_marked_itself():
    pass
"""


def test_the_nearer_marker_goes_over_the_farther(project: Any) -> None:
    project.write_tests(TESTS)
    result = project.quick_run("--jitperf-missing=ok")
    project.assert_messages(
        result,
        {
            "test_module[outer]": "leaves over budget: 1, budget 0\n*\n  rule  budget leaves=0 (marker)\n*",
            "test_stacked[outer]": "launches over budget: 1, budget 0\n  strategy outer, *: OverBudget",
            "TestSub.test_base[outer]": "stablehlo_ops over budget: *, budget 0\n  strategy outer, *: OverBudget",
            "TestSub.test_sub[outer]": "stablehlo_ops over budget: *, budget 0\n  strategy outer, *: OverBudget",
            "TestSub.test_param[2-outer]": "launches over budget: 1, budget 0\n  strategy outer, *: OverBudget",
        },
    )
    assert "also" not in result.stdout.str()
    result.assert_outcomes(passed=3, failed=5)
    result.stdout.fnmatch_lines(["test_g.py::TestSub::test_function", "  eager *"])
