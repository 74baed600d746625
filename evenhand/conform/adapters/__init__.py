"""Somebody's kernel as an implementation of a protocol: in Python, or in any language over a pipe.

The public surface is small: the shapes of a factory and its kernels, and the model behind the same shapes.
`docs/how-to/check-your-kernel.md` shows both in use; `schema/wire.json` is the form of a line on the pipe.
"""

from __future__ import annotations

from evenhand.core.kernel import Factory, Initial, Kernel, TellsState, Unsupported

__all__ = ["Factory", "Initial", "Kernel", "TellsState", "Unsupported"]
