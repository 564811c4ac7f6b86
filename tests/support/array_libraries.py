"""The installed array libraries, and conversion to NumPy."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noughts.lab.backends import BACKENDS

INSTALLED = [name for name in BACKENDS if find_spec(name.replace("-", "_"))]
"""Always includes NumPy and array-api-strict."""


def to_numpy(array: Any) -> NDArray[Any]:  # noqa: ANN401 - an array of any library
    if hasattr(array, "get"):  # CuPy
        return np.asarray(array.get())
    if hasattr(array, "__array__") and not hasattr(array, "cpu"):  # JAX, on any device
        return np.asarray(array)
    return np.asarray(np.from_dlpack(array.cpu() if hasattr(array, "cpu") else array))


def to_list(array: Any) -> list[Any]:  # noqa: ANN401 - an array of any library
    return list(to_numpy(array).tolist())
