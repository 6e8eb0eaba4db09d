"""What every section of the settings is: strict, frozen, and with secrets by value or by file."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, SecretStr

from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.secret import Secret


class Section(BaseModel):
    """A section: unknown keys are refused, and what is wrong is said without repeating the value."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    def secret(self, name: str) -> str:
        """The secret `name`, by value or from `<name>_file`. Raises PRECONDITION if neither is set or it is empty."""
        value: SecretStr | None = getattr(self, name)
        file: Path | None = getattr(self, f"{name}_file")
        if value is not None:
            text = value.get_secret_value().strip()
        elif file is not None:
            try:
                text = file.read_text("utf-8").strip()
            except (OSError, ValueError) as error:  # ValueError: no UTF-8, or no possible path
                raise ServiceError(Kind.PRECONDITION, f"the file that {name}_file names cannot be read") from error
        else:
            text = ""
        if not text:
            raise ServiceError(Kind.PRECONDITION, f"{name} is not set, neither by value nor by {name}_file")
        return text

    def live(self, name: str) -> Secret:
        """The same, read again when its file has changed; one that is set by value stays. Raises PRECONDITION."""
        file: Path | None = getattr(self, f"{name}_file")
        return Secret(lambda: self.secret(name), file if getattr(self, name) is None else None)
