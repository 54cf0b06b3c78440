"""Errors that a person can act on."""


class UsageError(Exception):
    """Wrong use or wrong input: printed as one line, exit code 2.

    The message names the thing, its value and what is allowed.
    """
