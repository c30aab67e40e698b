"""The two errors of the package: whose mistake was it?

The distinction is h11's: `UsageError` means that the caller misused the package, `StreamError` that the other side misbehaved. Content
that breaks a rule is neither: it is a `Violation`, which is a value.
"""


class UsageError(ValueError):
    """The caller's mistake: a wrong type, an unknown name, a call at the wrong time.

    The message says what was wrong and what is accepted. It never holds answer text.
    """


class StreamError(Exception):
    """The other side's mistake: bytes, events or an ending that the provider's protocol doesn't allow."""


def without(extra: str, error: ModuleNotFoundError) -> ModuleNotFoundError:
    """The same error, with the command that installs what is missing."""
    return ModuleNotFoundError(f"{error.msg}: pip install 'sentence-gate[{extra}]'", name=error.name, path=error.path)
