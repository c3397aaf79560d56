"""The ``jitperf`` fixture: what a test calls to have a function measured."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pytest_jitperf.calling import called_rightly
from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.tracebacks import without_own_frames
from pytest_jitperf.wording import listed, show

if TYPE_CHECKING:
    from pytest_jitperf.measurement import Measurement
    from pytest_jitperf.sizes import Size
    from pytest_jitperf.trial import Trial
    from pytest_jitperf.tried import Asked, Tried

__all__ = ["Jitperf"]

# One thread at a time; a function that is being measured may call jitperf() itself.
_MEASURING = threading.RLock()
_THREADS = (
    "another thread of this process is measuring at this moment (pytest-run-parallel?); threads would disturb each "
    "other's times, and the helpers that are jitted for one of them. Run marked tests in one thread"
)


@dataclass(slots=True)
class Jitperf:
    """Measures functions under the item's strategy.

    Example:
        .. code-block:: python

            @pytest.mark.jitperf(strategies=["eager", "outer"])
            def test_step(jitperf):
                y = jitperf(step, jnp.ones((1024, 1024)))
                assert jnp.isfinite(y).all()

    Attributes:
        strategy: Name of the strategy that this item stands for.
        device: The JAX device that is measured on; with ``devices=["all"]`` the first of them.
        tried: What was measured so far, judged.
    """

    strategy: str
    device: Any
    _devices: tuple[str, ...] = field(repr=False)
    _trial: Trial = field(repr=False)
    _measures: bool = field(repr=False)
    _sizes: tuple[Size, ...] = field(default=(), repr=False)
    tried: list[Tried] = field(default_factory=list, repr=False)
    called: bool = field(default=False, repr=False)

    @called_rightly("jitperf")
    def __call__(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Measures ``function(*args, **kwargs)`` and returns its result under the item's strategy.

        Args:
            function: The function; already jitted ones are recognised.
            args: Its positional arguments. They stay usable, also where the function donates them. None are given where
                the marker's ``sizes=`` makes them.
            kwargs: Its keyword arguments.

        Returns:
            What the function returns, arrays on the item's device.

        Raises:
            MeasurementError: It cannot be measured; the message says why and what to do.
            Exception: Whatever the function raised.
        """
        __tracebackhide__ = True
        return self.measure(function, args=args, kwargs=kwargs)

    @called_rightly("jitperf.measure")
    def measure(
        self,
        function: Callable[..., Any],
        /,
        *,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        make_args: Callable[[], Any] | None = None,
        inputs: Sequence[Any] | None = None,
        name: str = "main",
    ) -> Any:
        """The long form.

        Args:
            function: The function to measure.
            args: Its positional arguments.
            kwargs: Its keyword arguments.
            make_args: Builds the arguments of each call afresh, outside the timed part: returns a tuple of positional
                arguments, or ``(args, kwargs)``. Instead of ``args`` and ``kwargs``.
            inputs: A sequence of inputs, each as ``make_args`` would return one. The first is measured; all of them
                are called in order and their compilations counted, for the budget ``compilations=``.
            name: Name of the measurement, for more than one in a test.

        Returns:
            What the function returns for the arguments (the first of ``inputs``, the largest of ``sizes=``).

        Raises:
            MeasurementError: It cannot be measured; the message says why and what to do.
            Exception: Whatever the function raised.
        """
        __tracebackhide__ = True
        from pytest_jitperf.tried import Asked

        self.called = True
        kwargs = dict(kwargs or {})
        if not _MEASURING.acquire(blocking=False):
            raise MeasurementError(_THREADS)
        try:
            self._check(args, kwargs, make_args, inputs, name)
            return self._measure(
                Asked(name=name, function=function, args=tuple(args), kwargs=kwargs, make_args=make_args, inputs=inputs)
            )
        except BaseException as error:
            # pytest's own outcomes, as a timeout raises, are no Exceptions.
            error.__traceback__ = without_own_frames(error)
            raise
        finally:
            _MEASURING.release()

    def _measure(self, asked: Asked) -> Any:
        """Measures on each device; returns the result of the first."""
        from pytest_jitperf.probe.stackroom import with_stack_room

        result = None
        for number, device in enumerate(self._devices):
            if self._trial.rehearsing is not None:
                results = [self._trial.rehearse(each()) for each in self._sized(asked, device)]
                result = results[-1] if number == 0 else result
                continue
            if not self._measures:
                return self._trial.run_once(self._sized(asked, device)[-1]())
            tried = with_stack_room(partial(self._measured, asked, device))
            if self._sizes:
                tried[-1] = self._trial.swept(tried)
            self.tried += tried
            if number == 0:
                result = tried[-1].result
        return result

    def _measured(self, asked: Asked, device: str) -> list[Tried]:
        return [self._trial.run(each()) for each in self._sized(asked, device)]

    def _sized(self, asked: Asked, device: str) -> list[Callable[[], Asked]]:
        """What is asked for on a device: as it is, or once for each size, its arguments made when it is its turn."""
        asked = replace(asked, device=device)
        if not self._sizes:
            return [lambda: asked]

        made_by: dict[str, str] = {}

        def with_size(size: Size) -> Asked:
            from pytest_jitperf.probe.inputs import content_digest
            from pytest_jitperf.probe.subject import as_call

            try:
                made = as_call(size.make())
            except Exception as error:
                error.add_note(f"while making the arguments of size {show(size.label)}")
                raise
            other = made_by.setdefault(content_digest(made), size.label)
            if other != size.label:
                raise MeasurementError(
                    f"sizes {show(other)} and {show(size.label)} make the same arguments; a lambda that is made in a "
                    "loop takes the loop's last value, unless it is written  lambda n=n: ..."
                )
            return replace(asked, args=made.args, kwargs=made.kwargs, size=size)

        return [partial(with_size, size) for size in self._sizes]

    def _check(self, args: object, kwargs: object, make_args: object, inputs: object, name: object) -> None:
        """Refuses arguments that cannot be meant.

        Raises:
            MeasurementError: With one sentence.
        """
        if not isinstance(args, (tuple, list)):
            raise MeasurementError(
                f"jitperf.measure(args=...) got {type(args).__name__}, expected a tuple; "
                "write args=(x,) for one argument"
            )
        if make_args is not None and not callable(make_args):
            raise MeasurementError(
                f"jitperf.measure(make_args=...) got {type(make_args).__name__}, expected a function; "
                "write make_args=lambda: (x,)"
            )
        given = {"args": bool(args or kwargs), "make_args": make_args is not None, "inputs": inputs is not None}
        ways = [way for way, is_given in given.items() if is_given]
        if self._sizes and ways:
            raise MeasurementError(
                f"jitperf() got {listed(ways)}, and the marker's sizes= makes the arguments; write  jitperf(f)"
            )
        if len(ways) > 1:
            raise MeasurementError(f"jitperf.measure() got {' and '.join(ways)}; give one of them")
        if not isinstance(name, str) or not name or not name.isprintable():
            raise MeasurementError(f"jitperf.measure(name={name!r}) needs a printable, non-empty string")
        if any(name == (each.place.sweep if each.place else each.key.measurement) for each in self.tried):
            raise MeasurementError(
                f"this test measured {name!r} already; give each measurement a name:  jitperf.measure(..., "
                'name="second")'
            )

    def tell(self, text: str) -> None:
        """Shows what is going on."""
        self._trial.progress(text)

    def end(self) -> None:
        """Takes away what is shown of the progress."""
        self._trial.end()

    def leave_out(self, strategies: Mapping[str, str]) -> None:
        """Measures without other strategies, each of which has exceeded a limit; the value says so."""
        self._trial.left_out = strategies

    @property
    def measurement(self) -> Measurement | None:
        """The last measurement, or None before the first."""
        return self.tried[-1].measurement if self.tried else None
