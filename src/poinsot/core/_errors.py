"""Errors that people see."""


class InputError(ValueError, TypeError):
    """Wrong input, found before anything was computed: names the field, the value and the remedy.

    A wrong value and a wrong type are both meant by it, so it is caught as either.
    """
