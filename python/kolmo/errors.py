"""Errors of the package."""


class KolmoError(Exception):
    """An error of the program, or of a file of a run.

    The text is the message of the program: what was found, where, and what is allowed.

    Attributes:
        exit_code: 1 if a run failed, 2 if the input or the command is wrong; None if no program ran.
    """

    def __init__(self, message: str, exit_code: int | None = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def needs(package: str, extra: str, why: ImportError) -> KolmoError:
    """Return the error for a package of the extra `extra` that is missing or cannot be imported."""
    if isinstance(why, ModuleNotFoundError):
        return KolmoError(f"this needs {package} ({why}): pip install 'kolmo[{extra}]'")
    return KolmoError(f"{package} is installed, but cannot be imported: {why}")
