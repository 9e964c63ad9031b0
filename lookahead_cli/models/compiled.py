"""Decoder layers compiled once and kept on disk, for processors.

torch's compiler takes its time, so a run takes what is there and compiles only when it is told to. All layers
of one kind share one program, for any number of nodes and any length of text.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import torch

from lookahead_cli.locations import cache_folder
from lookahead_cli.models import attention, region
from lookahead_cli.models.probe import logits_differ, trial_tree
from lookahead_cli.models.progress import Report, first_line, ignore, quiet
from lookahead_cli.models.runner import TransformersRunner
from lookahead_cli.trace.events import Progress

Compile = Literal["auto", "on", "off"]
_NODES = (16, 12)


def compile_layers(
    model: Any, name: str, wanted: Compile = "auto", on_progress: Report = ignore
) -> str | None:
    """Let the model's decoder layers run as compiled programs.

    Args:
        model: A transformers model that runs our attention.
        name: Name for people.
        wanted: `auto` takes programs that lie on disk, `on` makes those that do not, `off` does nothing.
        on_progress: Called before each program is compiled.

    Returns:
        None, or a sentence on why the layers run as they did before although they were to be compiled.
    """
    if wanted == "off":
        return None
    try:
        kinds = list(_kinds(model))
        missing = [kind for kind in kinds if not kind.path.is_file()]
        if missing and wanted == "auto":
            return None
        for done, kind in enumerate(missing):
            on_progress(Progress(f"compiling {name}", done, len(missing), "kinds of layers"))
            with quiet(ignore, name):
                _compile(model, kind)
        _enable(model, kinds)
    except region.UnsupportedLayerError as reason:
        return _sentence(name, str(reason)) if wanted == "on" else None
    except Exception as error:  # compilers, and programs of other builds, fail in as many ways as there are
        disable(model)
        return _sentence(name, first_line(error).rstrip("."))
    return None


def is_compiled(model: Any) -> bool:
    """True while the model's layers run as compiled programs."""
    return any(_stand_in(layer) for layer in model.modules())


def disable(model: Any) -> None:
    """Let the layers run as they did before."""
    for layer in model.modules():
        if _stand_in(layer):
            del layer.forward


@contextmanager
def suspended(model: Any) -> Iterator[None]:
    """The model with its layers' own methods, until the block ends."""
    places = [(layer, layer.forward) for layer in model.modules() if _stand_in(layer)]
    disable(model)
    try:
        yield
    finally:
        for layer, forward in places:
            layer.forward = forward


def _stand_in(layer: torch.nn.Module) -> bool:
    return isinstance(layer.__dict__.get("forward"), region.CompiledLayer)


def _sentence(name: str, reason: str) -> str:
    return f"The layers of {name} are not compiled, which costs speed alone: {reason}."


class _Kind:
    """Layers that share a program."""

    def __init__(self, layers: Sequence[tuple[int, torch.nn.Module]]) -> None:
        self.layers = layers
        self.path = cache_folder() / "compiled" / f"{_key(layers[0][1])}.pt2"


def _kinds(model: Any) -> Iterator[_Kind]:
    if model.device.type != "cpu":
        raise region.UnsupportedLayerError(
            f"that works on a processor so far, and it is on {model.device.type}"
        )
    if model.config._attn_implementation != attention.NAME:
        raise region.UnsupportedLayerError("its attention is not the one that the programs call")
    layers = _decoder_layers(model)
    sorted_out: dict[str, list[tuple[int, torch.nn.Module]]] = {}
    for index, layer in enumerate(layers):
        sorted_out.setdefault(_signature(layer), []).append((index, layer))
    for alike in sorted_out.values():
        yield _Kind(alike)


def _decoder_layers(model: Any) -> list[torch.nn.Module]:
    count = model.config.get_text_config(decoder=True).num_hidden_layers
    for module in model.modules():
        if isinstance(module, torch.nn.ModuleList) and len(module) == count:
            return list(module)
    raise region.UnsupportedLayerError("it has no list of layers")


def _call(model: Any, layer: torch.nn.Module, nodes: int) -> region.Call:
    """How the model calls a layer in a pass of so many nodes."""
    seen: list[region.Call] = []

    def look(_: torch.nn.Module, positional: tuple[Any, ...], named: dict[str, Any]) -> None:
        if len(positional) != 1 or not any(named.get(name) is not None for name in region.CACHE_NAMES):
            raise region.UnsupportedLayerError(
                "it calls its layers in another way than with one tensor and a cache"
            )
        seen.append(region.Call(positional[0].clone(), named))

    hook = layer.register_forward_pre_hook(look, with_kwargs=True)
    try:
        with suspended(model):
            runner = TransformersRunner(model, None)
            runner.forward(trial_tree(model, nodes))
    finally:
        hook.remove()
    return seen[0]


def _signature(layer: torch.nn.Module) -> str:
    """Everything that can make two layers different programs."""
    lines = [
        f"{name} {weight.dtype} {tuple(weight.shape)}"
        for name, weight in zip(region.weight_names(layer), region.weights_of(layer), strict=True)
    ]
    for name, module in layer.named_modules():
        plain = {
            key: value
            for key, value in sorted(vars(module).items())
            if key not in ("layer_idx", "training")
            and isinstance(value, bool | int | float | str | tuple | None)
        }
        lines.append(f"{name} {type(module).__module__}.{type(module).__qualname__} {plain}")
    return "\n".join(lines)


def _key(layer: torch.nn.Module) -> str:
    import transformers

    config: Any = next(module.config for module in layer.modules() if hasattr(module, "config"))
    # A model may be moved to another folder.
    settings = {name: value for name, value in config.to_dict().items() if name != "_name_or_path"}
    said = [
        Path(region.__file__).read_text(encoding="utf-8"),
        Path(__file__).read_text(encoding="utf-8"),
        torch.__version__,
        transformers.__version__,
        torch.backends.cpu.get_cpu_capability(),
        str(torch.ops.mkldnn._is_mkldnn_bf16_supported()),
        _signature(layer),
        str(sorted(settings.items(), key=str)),
    ]
    return hashlib.sha256("\0".join(said).encode()).hexdigest()[:32]


def _compile(model: Any, kind: _Kind) -> None:
    layer = kind.layers[0][1]
    program = region.exported(layer, *(_call(model, layer, nodes) for nodes in _NODES))
    kind.path.parent.mkdir(parents=True, exist_ok=True)
    # Two programs may compile at once; whoever ends last leaves a whole file.
    with tempfile.TemporaryDirectory(dir=kind.path.parent) as folder, _packed_products():
        import torch._inductor

        made = torch._inductor.aoti_compile_and_package(
            program,
            package_path=str(Path(folder) / "layer.pt2"),
            inductor_configs={"cpp.dynamic_threads": True},
        )
        Path(made).replace(kind.path)


@contextmanager
def _packed_products() -> Iterator[None]:
    """Let the compiler take packed weights as arguments; it knows them as constants alone."""
    from torch._inductor import lowering, mkldnn_ir
    from torch._inductor.ir import TensorBox

    # torch's compiler is not typed.
    unary: Any = mkldnn_ir.LinearUnary
    binary: Any = mkldnn_ir.LinearBinary

    def rows_of(tensor: Any) -> Any:
        size = tensor.get_size()
        return lowering.view(tensor, [-1, size[-1]]) if len(size) > 2 else tensor

    def shaped(product: Any, like: Any) -> Any:
        size = like.get_size()
        product = TensorBox.create(product)
        return lowering.view(product, [*size[:-1], product.get_size()[-1]]) if len(size) > 2 else product

    def alone(rows: Any, weight: Any, bias: Any, *fused: Any, layout: Any = None) -> Any:
        made = unary.create(rows_of(rows), weight, bias, *fused)
        return shaped(made, rows)

    def with_second(rows: Any, other: Any, weight: Any, bias: Any, kind: str, layout: Any = None) -> Any:
        made = binary.create(rows_of(rows), rows_of(other), weight, bias, kind)
        return shaped(made, rows)

    operator = torch.ops.mkldnn._linear_pointwise
    ours: dict[Any, Any] = {operator.default: alone, operator: alone, operator.binary: with_second}
    usual = {key: lowering.lowerings[key] for key in ours if key in lowering.lowerings}
    lowering.lowerings.update(ours)
    try:
        yield
    finally:
        for key in ours:
            lowering.lowerings.pop(key)
        lowering.lowerings.update(usual)


def _enable(model: Any, kinds: Sequence[_Kind]) -> None:
    """Put the programs in, and take them out again where they compute something else.

    Raises:
        RuntimeError: They do.
    """
    # Each start pays for these passes: one node, for which a program may be special, and a tree.
    trees = [trial_tree(model, nodes) for nodes in (1, min(_NODES))]
    with suspended(model):
        expected = [TransformersRunner(model, None).forward(tree) for tree in trees]
    for kind in kinds:
        # Straight from torch's core: its compiler would be imported for seconds.
        program = torch._C._aoti.AOTIModelPackageLoader(str(kind.path), "model", True, 1, -1).run
        for index, layer in kind.layers:
            layer.forward = region.CompiledLayer(layer, program, index)
    got = [TransformersRunner(model, None).forward(tree) for tree in trees]
    if any(logits_differ(one, other) for one, other in zip(got, expected, strict=True)):
        raise RuntimeError("compiled, they give other logits")
