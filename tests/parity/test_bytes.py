"""Images of bytes in another size: torch computes them in whole numbers, and these are the same to the last one."""

import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: there is nothing to compare with")

from .compare import parity  # noqa: E402

SIZES = (
    {"size": (5, 6)}, {"size": (20, 31)}, {"size": (7, 9)}, {"size": (7, 13)}, {"size": (13, 9)},
    {"scale_factor": 0.5}, {"scale_factor": (1.7, 2.3)}, {"scale_factor": 1.05}, {"scale_factor": (2, 1.05)},
)  # fmt: skip
METHODS = [("bilinear", False), ("bilinear", True), ("bicubic", False), ("bicubic", True), ("lanczos", True)]


def image(t, channels):
    pixels = t.arange(2 * channels * 7 * 9) * 2654435761 // 65536 % 256
    return pixels.reshape(2, channels, 7, 9).to(t.uint8)


@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("channels", [3, 5])
@pytest.mark.parametrize(("mode", "antialias"), METHODS)
@parity
def test_images_of_bytes(t, mode, antialias, channels, corners):
    options = {"mode": mode, "antialias": antialias, "align_corners": None if mode == "lanczos" else corners}
    x = image(t, channels)
    return [t.nn.functional.interpolate(x, **size, **options) for size in SIZES]


@parity
def test_a_module_takes_bytes(t):
    return t.nn.Upsample(scale_factor=2, mode="bilinear")(image(t, 3)), t.nn.Upsample(size=4, mode="bicubic")(
        image(t, 1)
    )


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@parity
def test_white_stays_white_and_nothing_wraps_around(t, mode):
    x = (t.arange(64).reshape(1, 1, 8, 8) % 3 == 0).to(t.uint8) * 255
    return t.nn.functional.interpolate(x, size=(13, 5), mode=mode)
