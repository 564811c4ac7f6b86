"""Raises KeyboardInterrupt wherever Python can: after a call, and at the start of a function or loop."""

from __future__ import annotations

import dis
import sys
from collections.abc import Collection
from types import FrameType, ModuleType
from typing import Any

DELIVERING = ("RESUME", "CALL", "JUMP_BACKWARD", "STORE_SUBSCR")


class Interrupt:
    """Raises KeyboardInterrupt at the n-th place from now on; `left` is 0 afterwards."""

    def __init__(self, module: ModuleType, place: int, without: Collection[str] = ()) -> None:
        self.left = place
        self._file = module.__file__
        self._without = without
        self._last: dict[int, str] = {}
        sys.settrace(self)

    def __call__(self, frame: FrameType, event: str, _: Any) -> Interrupt | None:  # noqa: ANN401 - as Python defines it
        code = frame.f_code
        if code.co_filename != self._file or code.co_name in self._without:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            delivers = self._last.get(id(frame), "").startswith(DELIVERING)
            self._last[id(frame)] = dis.opname[code.co_code[frame.f_lasti]]
            self.left -= delivers
            if delivers and self.left == 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return self
