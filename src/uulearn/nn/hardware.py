"""What to compute on, and in which precision."""

import torch

from uulearn._checks import choose


def device(name: str) -> torch.device:
    """The device of that name; "auto" is a GPU where there is one.

    Examples
    --------
    >>> device("cpu")
    device(type='cpu')
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        found = torch.device(name)
        torch.empty(0, device=found)
    except (RuntimeError, TypeError, AssertionError) as error:
        reason = (str(error).splitlines() or ["torch cannot use it"])[0]
        raise ValueError(
            f"device must be 'auto' or a device of this machine; got {name!r} ({reason}). Use 'auto' or 'cpu'."
        ) from None
    return found


def dtype(precision: str, device: torch.device, large: bool) -> torch.dtype:
    """The dtype of the matrix products; "auto" takes bfloat16 for a large training where the hardware multiplies it.

    Examples
    --------
    >>> dtype("auto", torch.device("cpu"), large=False)
    torch.float32
    """
    wanted = choose("precision", precision, {"auto": None, "bfloat16": torch.bfloat16, "float32": torch.float32})
    if wanted is not None:
        return wanted
    if device.type == "cuda":
        quick = torch.cuda.is_bf16_supported()
    else:
        quick = torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
    return torch.bfloat16 if large and quick else torch.float32
