"""A helper that was never called is named together with the places that hold it."""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import jax
import pytest

from pytest_jitperf.inner import InnerTarget
from pytest_jitperf.probe.bindings import never_called_message, where_bound
from pytest_jitperf.probe.targets import resolve

HELPERS = "def attend(x): return x\nclass Net:\n  def forward(self, x): return x\n  @staticmethod\n  def s(x): return x"
MODEL = """
import functools, jax
from jp_helpers import attend, Net
renamed = attend
bound = functools.partial(attend)
jitted = jax.jit(attend)
@functools.wraps(attend)
def wrapped(x): return attend(x)
number = 3
class Model:
    act = staticmethod(attend)
    made = classmethod(attend)
    def attend(self, x): return x
def unrelated(x): return x
"""


def fn(x: Any) -> Any:
    return x


def test_names_that_hold_or_wrap_the_helper_come_before_its_namesakes(
    import_modules: Callable[..., list[ModuleType]],
) -> None:
    _, model = import_modules(jp_helpers=HELPERS, jp_model=MODEL)
    (helper,) = resolve([InnerTarget("jp_helpers.attend")])
    assert where_bound(helper, model.unrelated) == (
        "jp_model.Model.act",
        "jp_model.Model.made",
        "jp_model.attend",
        "jp_model.bound",
        "jp_model.jitted",
        "jp_model.renamed",
        "jp_model.wrapped",
        "jp_model.Model.attend (another function of this name)",
    )


def test_second_import_of_the_same_file_is_a_namesake(
    import_modules: Callable[..., list[ModuleType]], monkeypatch: pytest.MonkeyPatch
) -> None:
    (module,) = import_modules(jp_helpers=HELPERS)
    spec = importlib.util.spec_from_file_location("jp_src_helpers", module.__file__)
    assert spec is not None
    assert spec.loader is not None
    again = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "jp_src_helpers", again)
    spec.loader.exec_module(again)
    helpers = resolve([InnerTarget("jp_helpers.attend"), InnerTarget("jp_helpers.Net.forward")])
    assert [where_bound(each, fn) for each in helpers] == [
        ("jp_src_helpers.attend (another function of this name)",),
        ("jp_src_helpers.Net.forward (another function of this name)",),
    ]


def test_namesakes_are_told_only_where_the_function_may_have_found_them(
    import_modules: Callable[..., list[ModuleType]],
) -> None:
    user = "import jp_new, jp_helpers\ndef run(x): return jp_new.attend(x)"
    _, _, _, using = import_modules(jp_helpers=HELPERS, jp_new=HELPERS, jp_far=HELPERS, jp_user=user)
    (helper,) = resolve([InnerTarget("jp_helpers.attend")])
    near = ("jp_new.attend (another function of this name)",)
    assert where_bound(helper, using.run) == near
    assert where_bound(helper, functools.partial(using.run)) == near
    assert where_bound(helper, jax.jit(using.run)) == near
    assert where_bound(helper, fn) == ()


def test_class_imported_elsewhere_does_not_count_again(import_modules: Callable[..., list[ModuleType]]) -> None:
    import_modules(jp_helpers=HELPERS, jp_model=MODEL)
    (helper,) = resolve([InnerTarget("jp_helpers.Net.forward")])
    assert where_bound(helper, fn) == ()


def test_own_name_and_library_modules_are_left_out(import_modules: Callable[..., list[ModuleType]]) -> None:
    source = "import sys, logging, pytest\ndef jp_only(x): return x\nlogging.jp_f = pytest.jp_f = jp_only"
    import_modules(jp_single=source)
    (helper,) = resolve([InnerTarget("jp_single.jp_only")])
    try:
        assert where_bound(helper, fn) == ()
    finally:
        import logging

        del logging.jp_f, pytest.jp_f  # type: ignore[attr-defined]  # set by the module above


def test_objects_that_compute_attributes_do_no_harm(import_modules: Callable[..., list[ModuleType]]) -> None:
    source = (
        "from unittest.mock import call, Mock\nmock = Mock()\ncalled = call\n"
        "class Odd:\n  def __call__(self): pass\n  def __getattr__(self, name): raise RuntimeError(name)\nodd = Odd()"
    )
    import_modules(jp_helpers=HELPERS, jp_odd=source)
    (helper,) = resolve([InnerTarget("jp_helpers.attend")])
    assert where_bound(helper, fn) == ()


@pytest.mark.parametrize("count", [0, 1, 7])
def test_message_says_where_the_helper_is_bound(import_modules: Callable[..., list[ModuleType]], count: int) -> None:
    sources = {f"jp_model{n}": "from jp_helpers import attend" for n in range(count)}
    import_modules(jp_helpers=HELPERS, **sources)
    (helper,) = resolve([InnerTarget("jp_helpers.attend")])
    bound = {
        0: "",
        1: "; it is bound as jp_model0.attend",
        7: f"; it is bound as {', '.join(f'jp_model{n}.attend' for n in range(5))} and 2 more",
    }
    assert never_called_message(helper, fn) == (
        f"inner helper jp_helpers.attend was never called by fn{bound[count]}. A call would have been seen under "
        "any of its names, so these arguments do not lead to it. Name a function that is called, or take this one out "
        "of inner=."
    )


def test_message_for_a_function_made_anew_by_each_call() -> None:
    def made(x: Any) -> Any:
        return x

    (helper,) = resolve([InnerTarget(made)])
    assert never_called_message(helper, fn) == (
        f"inner helper {helper.name} was never called by fn. It is made in another function, of which every call "
        "makes a new one. Define it at the top of its module."
    )
