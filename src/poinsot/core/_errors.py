"""Errors that people see."""


class InputError(ValueError):
    """Wrong input, found before anything was computed: names the field, the value and the remedy."""
