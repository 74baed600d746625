"""Theorems about `apcm`, the justification compiler: for any number of actions, preferences and collisions."""
