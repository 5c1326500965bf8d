"""The device that trains, and the precision that it computes in."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

from gnn.options import FineTuningOptions, TrainingOptions


def device_of_training() -> torch.device:
    """Return the GPU where there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def computes_in_bf16(device: torch.device) -> bool:
    """Return whether a device has instructions for bf16; a processor without takes longer in it than in float32."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported()
    capabilities: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()  # of torch 2.10 and later
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))


def precision_of(options: FineTuningOptions | TrainingOptions, device: torch.device) -> AbstractContextManager[Any]:
    """Return bf16 where the recipe asks for it, or leaves it to the device, and this computes in it."""
    wanted = options.precision == "bf16" or (options.precision == "auto" and computes_in_bf16(device))
    return torch.autocast(device.type, torch.bfloat16) if wanted else nullcontext()
