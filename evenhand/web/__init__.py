"""The explorer page: walk a kernel step by step.  Pure functions make what is shown; `app` is a thin local server."""
