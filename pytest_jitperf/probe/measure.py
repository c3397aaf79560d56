"""One measurement: a function under one strategy on one device, from cold to warm."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

import jax

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.inner import InnerTarget
from pytest_jitperf.measurement import Measurement
from pytest_jitperf.strategies import Strategy

from . import devices, equal
from .bindings import never_called_message
from .block import collector_off
from .build import build, name_of
from .driven import measure_driven
from .environment import environment
from .inputs import Call, content_digest
from .lock import DeviceLock
from .onejit import measure_one_program
from .parts import Parts
from .program import FlatProgram
from .retraces import count_compilations
from .stages import persistent_cache_off, warm_up
from .statics import explain_missing_static
from .subject import Subject, as_call, placed
from .targets import resolve


@dataclass(frozen=True, slots=True, kw_only=True)
class Equality:
    """How results are compared; None means the dtype's own tolerance."""

    rtol: float | None = None
    atol: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is to be measured.

    Attributes:
        test: Key of the test, under which reference results are remembered.
        name: Name of the measurement within the test.
        function: The user's function.
        args: Positional arguments.
        kwargs: Keyword arguments.
        make_args: Builds arguments per call, or None.
        sequence: Further inputs whose compilations are counted, or None.
        strategy: The strategy.
        references: Strategies to take the reference result from, the first that runs.
        inner: What ``inner=`` named.
        jit: Options for ``jax.jit``.
        device: As asked for, ``""`` for the default.
        equality: How results are compared, or None to leave it out.
        record: Whether timings are for a baseline and worth a few repeats.
    """

    test: str
    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    make_args: Callable[[], Any] | None = None
    sequence: Sequence[Any] | None = None
    strategy: str | Strategy
    references: tuple[str | Strategy, ...] = ("eager",)
    inner: tuple[InnerTarget, ...] = ()
    jit: Mapping[str, Any] = field(default_factory=dict)
    device: str = ""
    equality: Equality | None = field(default_factory=Equality)
    record: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """A measurement, and what is still alive to race it.

    Attributes:
        measurement: The values.
        result: What the user's function returned under the strategy.
        subject: The callable with its inputs.
        programs: Programs that can be built again: ``""`` the whole one, else by helper and signature.
        wrong: How the result differs from the reference's, one sentence; empty where it does not.
        retraces: For a sequence of inputs, one sentence per compilation after the first.
    """

    measurement: Measurement
    result: Any
    subject: Subject
    programs: Mapping[str, FlatProgram]
    wrong: str = ""
    retraces: tuple[str, ...] = ()


class ReferenceResults:
    """Reference results of the test at hand: once per test, inputs and process."""

    def __init__(self) -> None:
        self._test = ""
        self._known: dict[tuple[str, str], tuple[str, list[tuple[str, Any]]]] = {}

    def get(self, test: str, key: tuple[str, str]) -> tuple[str, list[tuple[str, Any]]] | None:
        """What was remembered, or None; another test's results are dropped."""
        if test != self._test:
            self._test = test
            self._known.clear()
        return self._known.get(key)

    def put(self, key: tuple[str, str], value: tuple[str, list[tuple[str, Any]]]) -> None:
        """Remembers a result for the test last asked about."""
        self._known[key] = value


def subject_of(request: Request, strategy: str | Strategy) -> Subject:
    """Builds the subject for one strategy of a request.

    Raises:
        MeasurementError: The function, a helper or the inputs cannot be measured.
        devices.NoDeviceError: There is no such device here.
    """
    device = devices.find(request.device)
    built = build(strategy, request.function, request.jit)
    make_args: Callable[[], Call] | None = None
    if request.make_args is not None:
        maker = request.make_args

        def make_args() -> Call:
            return as_call(maker())

        first = make_args()
        inputs = placed(first.args, first.kwargs, device, request.device)
    else:
        inputs = placed(request.args, request.kwargs, device, request.device)
    helpers = resolve(request.inner) if built.swaps else ()
    return Subject(
        built=built, device=device, asked=request.device, inputs=inputs, make_args=make_args, helpers=helpers
    )


def measure(request: Request, references: ReferenceResults, progress: Callable[[str], None]) -> Probed:
    """Measures one request.

    Raises:
        MeasurementError: It cannot be measured; the message says why and what to do.
        devices.NoDeviceError: The device is not here.
        Exception: Whatever the user's function raised.
    """
    if jax.config.jax_disable_jit:  # type: ignore[attr-defined]  # made at run time
        raise MeasurementError(
            "jax_disable_jit is on (JAX_DISABLE_JIT?): nothing would be compiled, so every number would be wrong. "
            "Unset it, or run with --jitperf-disable."
        )
    subject = subject_of(request, request.strategy)
    lock = DeviceLock(f"{subject.device.platform}:{subject.device.id}", progress)
    with ExitStack() as stack:
        stack.enter_context(persistent_cache_off())
        warm_up(subject.device)
        progress("reference result")
        reference = _reference(request, references)
        with subject.active(), collector_off():
            progress("compiling")
            parts, result = _measure(request, subject, lock)
            _refuse_uncalled(subject)
            compilations, retraces = (
                count_compilations(subject, [as_call(each) for each in request.sequence])
                if request.sequence is not None
                else (None, ())
            )
            wrong, notes = _compare(request, subject, reference, result)
    if compilations is not None:
        parts.host["compilations"] = compilations
    if lock.waited_seconds > 1:
        notes = (*notes, f"waited {lock.waited_seconds:.0f} s for another process on this device")
    measurement = Measurement(
        name=request.name,
        strategy=subject.built.strategy,
        device=request.device or subject.device.platform,
        device_kind=subject.device.device_kind,
        inputs=parts.inputs,
        program=parts.program,
        helpers=parts.helpers,
        exact=parts.exact,
        host=parts.host,
        timed=parts.timed,
        relative=parts.relative,
        unavailable=parts.unavailable,
        environment=environment(subject.device),
        notes=(*subject.built.notes, *parts.notes, *notes),
    )
    return Probed(
        measurement=measurement,
        result=result,
        subject=subject,
        programs=parts.flats,
        wrong=wrong,
        retraces=retraces,
    )


def call_once(request: Request) -> Any:
    """Calls the function once under its strategy, measuring nothing.

    Raises:
        MeasurementError: The strategy cannot be applied.
        Exception: Whatever the user's function raised.
    """
    subject = subject_of(request, request.strategy)
    with subject.active():
        result = subject.call(subject.expendable())
        subject.wait(result)
        return result


def _measure(request: Request, subject: Subject, lock: DeviceLock) -> tuple[Parts, Any]:
    try:
        way = measure_one_program if subject.built.jitted else measure_driven
        return way(subject, lock, record=request.record)
    except MeasurementError:
        raise
    except Exception as error:
        explained = _explain(subject, error)
        if explained is None:
            raise
        raise MeasurementError(explained) from error


def _explain(subject: Subject, error: Exception) -> str | None:
    """A missing static argument is the user's error, told with the line to add."""
    if subject.swap is not None:
        found = subject.swap.explain(subject.built.strategy, error)
        if found is not None:
            return found
    if not subject.built.jitted:
        return None
    return explain_missing_static(
        subject.built.strategy,
        name_of(subject.built.function),
        subject.built.function,
        subject.inputs.args,
        subject.inputs.kwargs,
        error,
        "jit",
        options=subject.built.given,
    )


def _refuse_uncalled(subject: Subject) -> None:
    """A helper that was never called would be a number under the wrong label."""
    if subject.swap is None:
        return
    for helper in subject.swap.never_called():
        raise MeasurementError(never_called_message(helper, name_of(subject.built.function)))


def _reference(request: Request, known: ReferenceResults) -> tuple[str, list[tuple[str, Any]]] | None:
    """Runs the first strategy that can be run, before any cache is cleared."""
    if request.equality is None:
        return None
    own = request.strategy if isinstance(request.strategy, str) else request.strategy.name
    digest = ""
    for strategy in request.references:
        name = strategy if isinstance(strategy, str) else strategy.name
        if name == own:
            return None
        subject = subject_of(request, strategy)
        digest = digest or content_digest(subject.inputs)
        remembered = known.get(request.test, (name, digest))
        if remembered is not None:
            return remembered
        try:
            with subject.active():
                found = (name, equal.leaves_of(subject.first_call(subject.expendable())))
        except MeasurementError:
            raise
        except Exception:  # it cannot run under this strategy; the next one is the reference
            continue
        known.put((name, digest), found)
        return found
    return None


def _compare(
    request: Request, subject: Subject, reference: tuple[str, list[tuple[str, Any]]] | None, result: Any
) -> tuple[str, tuple[str, ...]]:
    if reference is None or request.equality is None:
        return "", ()
    name, expected = reference
    got = equal.leaves_of(result)
    found = equal.difference(expected, got, request.equality.rtol, request.equality.atol)
    if found is None:
        return "", ()
    if equal.ill_conditioned(lambda call: subject.call(_own(subject, call)), subject.inputs, expected, got):
        return "", (f"ill-conditioned, not compared with {name}: one ulp in the inputs moves the result as much",)
    return f"{found}, compared with {name}", ()


def _own(subject: Subject, call: Call) -> Call:
    return replace(subject, inputs=call, make_args=None).prepare()


__all__ = ["Equality", "Probed", "ReferenceResults", "Request", "call_once", "measure", "subject_of"]
