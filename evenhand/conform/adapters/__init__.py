"""External kernels as implementations of a protocol: in Python, or in any language over a pipe.

The public names are the shapes of a factory and its kernels, which the model has too; for their use see
`docs/how-to/check-your-kernel.md`.  `schema/wire.json` is the form of a line on the pipe.
"""

from __future__ import annotations

from evenhand.core.kernel import Factory, Initial, Kernel, TellsFacts, TellsState, Unsupported

__all__ = ["Factory", "Initial", "Kernel", "TellsFacts", "TellsState", "Unsupported"]
