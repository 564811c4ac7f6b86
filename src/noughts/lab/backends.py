"""The array libraries that the lab can compute with, and what each does in its own way.

The rules themselves are written against the array API standard. What it leaves open is here: random
numbers, compiling, how many games at a time are best.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from noughts.core.errors import NotInstalled, quoted
from noughts.lab.errors import BadArray

Seed: TypeAlias = int | np.random.SeedSequence | None

Array: TypeAlias = Any
"""An array of whatever library; the standard has no type for it."""

BITS = 27
"""Of a random number from which a policy's move is drawn: two of them are cut from one word, and whoever
reckons in 32 bits has some to spare."""

_FAR_OFF = 2**31 - 1
"""Neither a cell nor a position; what is farther off is taken for it, as it may not fit 32 bits."""

NEAR = 16_000
"""How many games at a time a processor likes best: an array of them fits into its cache."""
FAR = 50_000_000
"""The same for a device that has thousands of processors."""


class Chance:
    """Random numbers by NumPy's generator, exactly even."""

    def __init__(self, seed: Seed) -> None:
        self._rng = np.random.Generator(np.random.SFC64(seed))

    def below(self, bound: int, count: int) -> Array:
        """Return so many whole numbers from 0 up to a bound."""
        return self._rng.integers(0, bound, count)

    def pieces(self, count: int) -> Iterator[Array]:
        """Return arrays of numbers of `BITS` bits without end; two of them are cut from one word."""
        limits = np.iinfo(np.int64)
        mask = (1 << BITS) - 1
        while True:
            words = self._rng.integers(limits.min, limits.max, count, endpoint=True)
            yield words & mask
            yield (words >> BITS) & mask


class _PlainChance(Chance):
    """Random numbers that another library draws, by a function from a bound and a count."""

    def __init__(self, draw: Callable[[int, int], Array]) -> None:
        self._draw = draw

    def below(self, bound: int, count: int) -> Array:
        return self._draw(bound, count)

    def pieces(self, count: int) -> Iterator[Array]:
        while True:
            yield self._draw(1 << BITS, count)


class Backend:
    """An array library: NumPy, and what the others do as NumPy does."""

    name = "numpy"
    chunk = NEAR
    is_writable = True
    """Whether its arrays can be changed in place."""
    compile: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None
    """Makes one function of many, if the library has such a thing."""

    def __init__(self, device: str | None = None) -> None:
        if device and device != "cpu":
            raise NotInstalled(f"{self.name} computes on cpu, and not on {quoted(device)}")
        self.xp: ModuleType = np
        self.integer: Any = np.int64

    def array(self, values: object, dtype: str) -> Array:
        """Return an array of this library, of a type that is named."""
        return self.xp.asarray(values, dtype=self.dtype(dtype))

    def zeros(self, count: int) -> Array:
        """Return so many zeros, to look arrays up with."""
        return self.xp.zeros(count, dtype=self.integer)

    def empty(self, shape: tuple[int, ...]) -> Array:
        """Return an array of small numbers that are to be written."""
        return self.xp.empty(shape, dtype=self.xp.int8)

    def dtype(self, name: str) -> Any:  # noqa: ANN401 - what a type is, each library knows
        """Return a type by its name; `integer` is the one that arrays are looked up with."""
        return self.integer if name == "integer" else getattr(self.xp, name)

    def is_integral(self, array: Array) -> bool:
        """Say whether an array holds whole numbers."""
        return bool(self.xp.isdtype(array.dtype, "integral"))

    def indices(self, array: Array) -> Array:
        """Return whole numbers in the type that arrays are looked up with."""
        return self.xp.astype(array, self.integer, copy=False)

    def given(self, values: object) -> Array:
        """Return what a user gives as an array of this library, or refuse it.

        Whole numbers that are none of ours, whatever they mean, stay so in a library with smaller ones.
        """
        if isinstance(values, type(self.zeros(0))):
            return values
        try:
            array = np.array(values)
            if array.dtype.kind in "iu":
                array = np.clip(array, -1, _FAR_OFF).astype(np.int64)
            return self.own(array)
        except (TypeError, ValueError, OverflowError, RuntimeError) as error:
            raise BadArray(f"{quoted(values)} is no array of {self.name}") from error

    def own(self, array: np.ndarray[Any, Any]) -> Array:
        """Return an array of NumPy's as one of this library."""
        return self.xp.asarray(array)

    def chance(self, seed: int | None) -> Chance:
        """Return random numbers; the same seed gives the same ones."""
        return Chance(seed)


class _Strict(Backend):
    """The standard itself, and nothing beyond it: what runs on this runs everywhere."""

    name = "array-api-strict"

    def __init__(self, device: str | None = None) -> None:
        super().__init__(device)
        self.xp = _imported("array_api_strict", self.name)
        self.integer = self.xp.int64

    def chance(self, seed: int | None) -> Chance:
        below = Chance(seed).below
        return _PlainChance(lambda bound, count: self.xp.asarray(below(bound, count)))


class _Torch(Backend):
    """PyTorch, on the processor or on `cuda`."""

    name = "torch"

    def __init__(self, device: str | None = None) -> None:
        self.xp = torch = _imported("torch", self.name)
        self.integer = torch.int64
        self.compile = torch.compile
        try:
            self._device = torch.zeros(1, device=device or "cpu").device
        except (AssertionError, RuntimeError) as error:
            raise NotInstalled(f"torch has no device {quoted(device)} here") from error
        self.chunk = NEAR if self._device.type == "cpu" else FAR

    def array(self, values: object, dtype: str) -> Array:
        return self.xp.asarray(values, dtype=self.dtype(dtype), device=self._device)

    def zeros(self, count: int) -> Array:
        return self.xp.zeros(count, dtype=self.integer, device=self._device)

    def empty(self, shape: tuple[int, ...]) -> Array:
        return self.xp.empty(shape, dtype=self.xp.int8, device=self._device)

    def is_integral(self, array: Array) -> bool:
        kind = array.dtype
        return not (kind.is_floating_point or kind.is_complex or kind == self.xp.bool)

    def indices(self, array: Array) -> Array:
        return array.to(self.integer)

    def own(self, array: np.ndarray[Any, Any]) -> Array:
        return self.xp.asarray(array, device=self._device)

    def chance(self, seed: int | None) -> Chance:
        torch, device = self.xp, self._device
        generator = torch.Generator(device)
        generator.seed() if seed is None else generator.manual_seed(seed)
        return _PlainChance(
            lambda bound, count: torch.randint(bound, (count,), generator=generator, device=device)
        )


class _Jax(Backend):
    """JAX, whose whole numbers have 32 bits unless it is told otherwise."""

    name = "jax"
    is_writable = False

    def __init__(self, device: str | None = None) -> None:
        jax = _imported("jax", self.name)
        self.xp = import_module("jax.numpy")
        self.integer = self.xp.int32
        self.compile = jax.jit
        self._random = jax.random
        if device and device != jax.default_backend():
            raise NotInstalled(f"jax computes on {jax.default_backend()}, and not on {quoted(device)}")
        self.chunk = 1_000_000 if jax.default_backend() == "cpu" else FAR

    def zeros(self, count: int) -> Array:
        return super().zeros(count).block_until_ready()  # or else it hears later that there is no room

    def empty(self, shape: tuple[int, ...]) -> Array:
        return super().empty(shape).block_until_ready()

    def indices(self, array: Array) -> Array:
        return super().indices(self.xp.clip(array, -1, _FAR_OFF))

    def chance(self, seed: int | None) -> Chance:
        random = self._random
        words = np.random.SeedSequence(seed).generate_state(2)
        keys = _keys(random, random.wrap_key_data(self.xp.asarray(words)))
        return _PlainChance(lambda bound, count: random.randint(next(keys), (count,), 0, bound))


class _Cupy(Backend):
    """CuPy, which is NumPy on a device."""

    name = "cupy"
    chunk = FAR

    def __init__(self, device: str | None = None) -> None:
        if device and device != "cuda":
            raise NotInstalled(f"cupy computes on cuda, and not on {quoted(device)}")
        self.xp = cupy = _imported("cupy", self.name, "cupy-cuda13x, or as fits the device")
        self.integer = cupy.int64

    def chance(self, seed: int | None) -> Chance:
        rng = self.xp.random.default_rng(seed)
        return _PlainChance(lambda bound, count: rng.integers(0, bound, count))


BACKENDS: dict[str, type[Backend]] = {kind.name: kind for kind in (Backend, _Torch, _Jax, _Cupy, _Strict)}


def find_backend(asked: str) -> Backend:
    """Return the backend of that name, on the device after its colon: `numpy`, `torch:cuda`.

    >>> find_backend("numpy").name
    'numpy'
    >>> find_backend("numpy:abacus")
    Traceback (most recent call last):
    noughts.core.errors.NotInstalled: numpy computes on cpu, and not on 'abacus'
    """
    name, _, device = str(asked).partition(":")
    kind = BACKENDS.get(name)
    if kind is None:
        *most, last = BACKENDS
        raise NotInstalled(f"there is no backend {quoted(name)}: there are {', '.join(most)} and {last}")
    return kind(device or None)


def _imported(module: str, name: str, package: str = "") -> Any:  # noqa: ANN401 - a stranger's module
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
