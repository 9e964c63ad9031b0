import pytest
import torch

from lookahead_cli.errors import ModelError, UsageError
from lookahead_cli.models import devices
from lookahead_cli.models.devices import choose_device, choose_dtype

CPU, CUDA, MPS = torch.device("cpu"), torch.device("cuda"), torch.device("mps")


def test_auto_takes_the_cpu_where_there_is_no_gpu(monkeypatch):
    monkeypatch.setattr(devices, "_is_available", lambda kind: kind == "cpu")
    assert choose_device("auto") == CPU


@pytest.mark.parametrize("kind", ["cuda", "mps"])
def test_auto_takes_a_gpu_where_there_is_one(monkeypatch, kind):
    monkeypatch.setattr(devices, "_is_available", lambda asked: asked in (kind, "cpu"))
    assert choose_device("auto").type == kind


@pytest.mark.parametrize("kind", ["cuda", "mps"])
def test_a_missing_device_is_told_with_what_to_use(monkeypatch, kind):
    monkeypatch.setattr(devices, "_is_available", lambda asked: asked == "cpu")
    with pytest.raises(ModelError, match=f"The device '{kind}' is not available: ") as caught:
        choose_device(kind)
    assert "--device auto" in caught.value.hint


@pytest.mark.parametrize("name", ["gpu", "cuda:x", "xpu", ""])
def test_an_unknown_device_is_a_usage_error(name):
    with pytest.raises(UsageError, match="no device called"):
        choose_device(name)


@pytest.mark.parametrize("device", [CUDA, MPS])
@pytest.mark.parametrize(
    ("stored", "chosen"),
    [
        (torch.float16, torch.float16),
        (torch.bfloat16, torch.bfloat16),
        (torch.float32, torch.bfloat16),
        (None, torch.bfloat16),
    ],
)
def test_on_a_gpu_auto_is_the_checkpoints_16_bit_type(monkeypatch, device, stored, chosen):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: True)
    assert choose_dtype("auto", device, stored, "float32") is chosen


def test_a_gpu_without_bfloat16_computes_in_float16(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: False)
    assert choose_dtype("auto", CUDA, torch.bfloat16, "float32") is torch.float16


@pytest.mark.parametrize("native", [True, False])
def test_on_a_cpu_bfloat16_is_taken_only_where_it_is_preferred_and_native(monkeypatch, native):
    monkeypatch.setattr(devices, "cpu_has_bfloat16", lambda: native)
    assert choose_dtype("auto", CPU, torch.bfloat16, "float32") is torch.float32
    assert choose_dtype("auto", CPU, torch.bfloat16, "bfloat16") is (
        torch.bfloat16 if native else torch.float32
    )


@pytest.mark.parametrize("name", ["float32", "bfloat16", "float16"])
def test_a_named_type_is_taken_as_it_is(name):
    assert choose_dtype(name, CPU, None, "float32") is getattr(torch, name)


def test_an_unknown_type_is_a_usage_error():
    with pytest.raises(UsageError, match="no dtype called 'int4'"):
        choose_dtype("int4", CPU, None, "float32")
