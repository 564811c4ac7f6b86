"""The array libraries that are installed, and their arrays as NumPy's."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from noughts.lab.backends import BACKENDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MODULES = {"array-api-strict": "array_api_strict"}

INSTALLED = [name for name in BACKENDS if find_spec(_MODULES.get(name, name))]
"""NumPy and the strict standard are always among them."""


def numpied(array: Any) -> NDArray[Any]:  # noqa: ANN401 - an array of whatever library
    """Return an array as NumPy's own."""
    if hasattr(array, "get"):  # CuPy
        return np.asarray(array.get())
    if hasattr(array, "__array__") and not hasattr(array, "cpu"):  # JAX, wherever it computes
        return np.asarray(array)
    return np.asarray(np.from_dlpack(array.cpu() if hasattr(array, "cpu") else array))


def plain(array: Any) -> list[Any]:  # noqa: ANN401 - the same
    """Return what an array holds."""
    return list(numpied(array).tolist())
