"""The command line in this process, as the tests of the front ends have it."""

from tests.front.conftest import cli as cli
