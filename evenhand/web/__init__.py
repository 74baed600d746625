"""The explorer page: walk a kernel step by step.  Pure functions make the views; `app` is a thin local server."""
