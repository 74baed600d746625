"""The claims about the justification compiler: what it guarantees and refuses, what decides nothing, where it stops.

Start reading at `notions`, which says what keeping, covering and being blocked are; then one module for each idea:
`compiling`, `refusing`, `blindness`, `deadlock`, `conduct`, `reach`.
"""

from __future__ import annotations
