"""How options are declared, and groups of them: a dataclass of annotated fields as one parameter."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints

import typer


def option(
    *names: str,
    panel: str,
    help: str,
    metavar: str | None = None,
    shown: bool = False,
    complete: Callable[[str], Sequence[str]] | None = None,
) -> Any:
    """An option in a panel of the help; its default is shown where `shown`."""
    return typer.Option(
        *names,
        metavar=metavar,
        help=help,
        rich_help_panel=panel,
        show_default=shown,
        autocompletion=complete,
    )


def with_groups(command: Callable[..., int]) -> Callable[..., int]:
    """Let a command take a group of options, a dataclass of annotated fields, as one parameter."""
    parameters: list[inspect.Parameter] = []
    groups: dict[str, type[Any]] = {}
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        group = parameter.annotation
        if not is_dataclass(group):
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        groups[parameter.name] = group  # type: ignore[assignment]
        hints = get_type_hints(group, include_extras=True)
        parameters.extend(
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=field.default,
                annotation=hints[field.name],
            )
            for field in fields(group)
        )

    @functools.wraps(command)
    def run(**values: Any) -> int:
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        return command(**values)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run
