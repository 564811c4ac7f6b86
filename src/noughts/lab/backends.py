"""The array libraries that the lab supports, and what each does in its own way.

The rules use the array API standard. This module covers what the standard leaves open: random numbers,
compilation and the best batch size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from noughts.core.errors import NotInstalled, quoted
from noughts.lab.errors import BadArray

Seed: TypeAlias = int | np.random.SeedSequence | None

Array: TypeAlias = Any
"""An array of any library; the standard has no type for it."""

DRAW_BITS = 27
"""The size of the random number that selects a policy's move: two fit into 64 bits, one into 32 with room
for arithmetic."""

_DRAW_MASK = (1 << DRAW_BITS) - 1
_INT64 = np.iinfo(np.int64)

_OUT_OF_RANGE = 2**31 - 1
"""Neither a cell nor a position. Larger numbers are clipped to it, as they may not fit into 32 bits."""

CPU_BATCH = 16_000
"""Games per batch on a CPU: an array of them fits into its cache."""
JAX_CPU_BATCH = 1_000_000
GPU_BATCH = 50_000_000


class Draws(Iterator[Array]):
    """Arrays of `DRAW_BITS`-bit numbers without end; two come from one of 64 bits.

    Unlike a generator, it can be copied and pickled.
    """

    def __init__(self, rng: np.random.Generator, count: int) -> None:
        self._rng = rng
        self._count = count
        self._unused: Array = None

    def __next__(self) -> Array:
        words = self._unused
        if words is None:
            self._unused = words = self._rng.integers(_INT64.min, _INT64.max, self._count, endpoint=True)
            return words & _DRAW_MASK
        self._unused = None
        return (words >> DRAW_BITS) & _DRAW_MASK


class RandomNumbers:
    """Random numbers from NumPy's generator, exactly uniform."""

    def __init__(self, seed: Seed) -> None:
        self._rng = np.random.Generator(np.random.SFC64(seed))

    def below(self, bound: int, count: int) -> Array:
        return self._rng.integers(0, bound, count)

    def draws(self, count: int) -> Iterator[Array]:
        return Draws(self._rng, count)


class _LibraryRandomNumbers(RandomNumbers):
    """Random numbers from another library, by a function of a bound and a count."""

    def __init__(self, draw: Callable[[int, int], Array]) -> None:
        self._draw = draw

    def below(self, bound: int, count: int) -> Array:
        return self._draw(bound, count)

    def draws(self, count: int) -> Iterator[Array]:
        while True:
            yield self._draw(1 << DRAW_BITS, count)


class Backend:
    """An array library; this base class is NumPy."""

    name = "numpy"
    batch = CPU_BATCH
    """Games per batch."""
    is_writable = True
    """Whether arrays can be changed in place."""
    compile: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None
    options: Mapping[str, Any] = {}
    """Passed to functions that make arrays."""

    def __init__(self, device: str | None = None) -> None:
        if device and device != "cpu":
            raise NotInstalled(f"{self.name} runs on cpu, not on {quoted(device)}")
        self.xp: ModuleType = np
        self.integer: Any = np.int64
        """The dtype of indices."""

    def array(self, values: object, dtype: str) -> Array:
        """Return an array of a named dtype; `integer` is the index dtype."""
        kind = self.integer if dtype == "integer" else getattr(self.xp, dtype)
        return self.xp.asarray(values, dtype=kind, **self.options)

    def zeros(self, count: int) -> Array:
        """Return zeros of the index dtype."""
        return self.xp.zeros(count, dtype=self.integer, **self.options)

    def empty(self, shape: tuple[int, ...]) -> Array:
        """Return an uninitialised array of int8."""
        return self.xp.empty(shape, dtype=self.xp.int8, **self.options)

    def is_integral(self, array: Array) -> bool:
        return bool(self.xp.isdtype(array.dtype, "integral"))

    def indices(self, array: Array) -> Array:
        """Convert integers to the index dtype."""
        return self.xp.astype(array, self.integer, copy=False)

    def from_user(self, values: object) -> Array:
        """Convert user input to an array of this library, or refuse it.

        Integers are clipped, so that none becomes a valid one when a library cuts it to 32 bits.
        """
        if isinstance(values, type(self.zeros(0))):
            return values
        try:
            array = np.array(values)
            if array.dtype.kind in "iu":
                array = np.clip(array, -1, _OUT_OF_RANGE).astype(np.int64)
            return self.xp.asarray(array, **self.options)
        except (TypeError, ValueError, OverflowError, RuntimeError) as error:
            raise BadArray(f"{quoted(values)} is not an array for {self.name}") from error

    def random_numbers(self, seed: int | None) -> RandomNumbers:
        return RandomNumbers(seed)


class _StrictBackend(Backend):
    """The standard and nothing beyond it: code that runs on this runs everywhere."""

    name = "array-api-strict"

    def __init__(self, device: str | None = None) -> None:
        super().__init__(device)
        self.xp = _import("array_api_strict", self.name)
        self.integer = self.xp.int64

    def random_numbers(self, seed: int | None) -> RandomNumbers:
        below = RandomNumbers(seed).below
        return _LibraryRandomNumbers(lambda bound, count: self.xp.asarray(below(bound, count)))


class _TorchBackend(Backend):
    name = "torch"

    def __init__(self, device: str | None = None) -> None:
        self.xp = torch = _import("torch", self.name)
        self.integer = torch.int64
        self.compile = torch.compile
        try:
            self.options = {"device": torch.zeros(1, device=device or "cpu").device}
        except (AssertionError, RuntimeError) as error:
            raise NotInstalled(f"torch has no device {quoted(device)} here") from error
        self.batch = CPU_BATCH if self.options["device"].type == "cpu" else GPU_BATCH

    def is_integral(self, array: Array) -> bool:
        kind = array.dtype
        return not (kind.is_floating_point or kind.is_complex or kind == self.xp.bool)

    def indices(self, array: Array) -> Array:
        return array.to(self.integer)

    def random_numbers(self, seed: int | None) -> RandomNumbers:
        torch, device = self.xp, self.options["device"]
        generator = torch.Generator(device)
        generator.seed() if seed is None else generator.manual_seed(seed)
        return _LibraryRandomNumbers(
            lambda bound, count: torch.randint(bound, (count,), generator=generator, device=device)
        )


class _JaxBackend(Backend):
    """JAX, whose integers have 32 bits by default."""

    name = "jax"
    is_writable = False

    def __init__(self, device: str | None = None) -> None:
        jax = _import("jax", self.name)
        self.xp = import_module("jax.numpy")
        self.integer = self.xp.int32
        self.compile = jax.jit
        self._random = jax.random
        if device and device != jax.default_backend():
            raise NotInstalled(f"jax runs on {jax.default_backend()}, not on {quoted(device)}")
        self.batch = JAX_CPU_BATCH if jax.default_backend() == "cpu" else GPU_BATCH

    def zeros(self, count: int) -> Array:
        return super().zeros(count).block_until_ready()  # otherwise an out-of-memory error comes later

    def empty(self, shape: tuple[int, ...]) -> Array:
        return super().empty(shape).block_until_ready()

    def indices(self, array: Array) -> Array:
        return super().indices(self.xp.clip(array, -1, _OUT_OF_RANGE))

    def random_numbers(self, seed: int | None) -> RandomNumbers:
        random = self._random
        words = np.random.SeedSequence(seed).generate_state(2)
        keys = _keys(random, random.wrap_key_data(self.xp.asarray(words)))
        return _LibraryRandomNumbers(lambda bound, count: random.randint(next(keys), (count,), 0, bound))


class _CupyBackend(Backend):
    name = "cupy"
    batch = GPU_BATCH

    def __init__(self, device: str | None = None) -> None:
        if device and device != "cuda":
            raise NotInstalled(f"cupy runs on cuda, not on {quoted(device)}")
        self.xp = cupy = _import("cupy", self.name, "cupy-cuda13x, or the one for your device")
        self.integer = cupy.int64

    def random_numbers(self, seed: int | None) -> RandomNumbers:
        rng = self.xp.random.default_rng(seed)
        return _LibraryRandomNumbers(lambda bound, count: rng.integers(0, bound, count))


BACKENDS: dict[str, type[Backend]] = {
    kind.name: kind for kind in (Backend, _TorchBackend, _JaxBackend, _CupyBackend, _StrictBackend)
}


def find_backend(name: str) -> Backend:
    """Return a backend by name, with an optional device after a colon: `numpy`, `torch:cuda`.

    >>> find_backend("numpy").name
    'numpy'
    >>> find_backend("numpy:abacus")
    Traceback (most recent call last):
    noughts.core.errors.NotInstalled: numpy runs on cpu, not on 'abacus'
    """
    library, _, device = str(name).partition(":")
    kind = BACKENDS.get(library)
    if kind is None:
        raise NotInstalled(f"unknown backend {quoted(library)}: choose one of {', '.join(BACKENDS)}")
    return kind(device or None)


def _import(module: str, name: str, package: str = "") -> Any:  # noqa: ANN401 - a module without types
    try:
        return import_module(module)
    except ImportError as error:
        raise NotInstalled(
            f"the backend {name} needs {module}, which is not installed: pip install {package or name}"
        ) from error


def _keys(random: Any, key: Any) -> Iterator[Any]:  # noqa: ANN401 - JAX has its own types
    while True:
        key, one = random.split(key)
        yield one
