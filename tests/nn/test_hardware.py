"""Device and precision by name."""

import pytest
import torch

from uulearn.nn.hardware import device, dtype


def test_auto_device_can_be_used():
    """It is there, GPU or not."""
    assert torch.ones(1, device=device("auto")).item() == 1


@pytest.mark.parametrize("quick", [True, False])
def test_auto_precision(monkeypatch, quick):
    """bfloat16 for large trainings on hardware that multiplies it, float32 elsewhere."""
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: quick)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: False)
    cpu = torch.device("cpu")
    assert dtype("auto", cpu, large=True) == (torch.bfloat16 if quick else torch.float32)
    assert dtype("auto", cpu, large=False) == dtype("float32", cpu, large=True) == torch.float32
    assert dtype("bfloat16", cpu, large=False) == torch.bfloat16
