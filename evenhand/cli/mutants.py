"""placeholder"""

from evenhand.cli.common import ProtocolName, guarded

__all__ = ["mutants"]


@guarded
def mutants(protocol: ProtocolName) -> int:
    """Kill matrix."""
    return 0
