"""Denoise a photograph with a bilateral filter written as a kernel.

The photograph is one of those that ship inside scikit-image. It is given the noise of a camera sensor (photon
shot noise and read noise in linear light, then eight bits), filtered by a two-dimensional launch over its
pixels, and written to `out/` beside the original. The filtered picture is checked against the same filter in
numpy, and what took how long is printed.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

IMPORT_START = time.perf_counter()
import inkle as wp  # noqa: E402  (its import is timed)

IMPORT_SECONDS = time.perf_counter() - IMPORT_START

# Of the window, in pixels.
RADIUS = 5


@wp.kernel
def bilateral(
    noisy: wp.array2d(dtype=wp.vec3),
    guide: wp.array2d(dtype=wp.vec3),
    filtered: wp.array2d(dtype=wp.vec3),
    radius: int,
    sigma_px: float,
    sigma_color: float,
):
    row, col = wp.tid()
    centre = guide[row, col]
    total = wp.vec3(0.0, 0.0, 0.0)
    weights = float(0.0)
    for dr in range(-radius, radius + 1):
        for dc in range(-radius, radius + 1):
            r = wp.clamp(row + dr, 0, noisy.shape[0] - 1)
            c = wp.clamp(col + dc, 0, noisy.shape[1] - 1)
            difference = guide[r, c] - centre
            near = float(dr * dr + dc * dc) / (2.0 * sigma_px * sigma_px)
            alike = wp.dot(difference, difference) / (2.0 * sigma_color * sigma_color)
            weight = wp.exp(-near - alike)
            total += weight * noisy[r, c]
            weights += weight
    filtered[row, col] = total / weights


@wp.kernel
def squared_error(a: wp.array2d(dtype=wp.vec3), b: wp.array2d(dtype=wp.vec3), row_sums: wp.array(dtype=float)):
    row, col = wp.tid()
    difference = a[row, col] - b[row, col]
    wp.atomic_add(row_sums, row, wp.dot(difference, difference))


def bilateral_numpy(noisy, guide, sigma_px, sigma_color):
    """The same filter over a float32 image `[rows, cols, 3]`, for checking."""
    rows, cols, _ = noisy.shape
    edges = ((RADIUS, RADIUS), (RADIUS, RADIUS), (0, 0))
    noisy_padded, guide_padded = np.pad(noisy, edges, mode="edge"), np.pad(guide, edges, mode="edge")
    total, weights = np.zeros_like(noisy), np.zeros((rows, cols, 1), dtype=np.float32)
    for dr in range(-RADIUS, RADIUS + 1):
        for dc in range(-RADIUS, RADIUS + 1):
            window = np.s_[RADIUS + dr : RADIUS + dr + rows, RADIUS + dc : RADIUS + dc + cols]
            alike = np.square(guide_padded[window] - guide).sum(axis=2, keepdims=True) / (2.0 * sigma_color**2)
            weight = np.exp(-(dr * dr + dc * dc) / (2.0 * sigma_px**2) - alike)
            total += weight * noisy_padded[window]
            weights += weight
    return total / weights


def photographed(clean, photons, read_noise, rng):
    """`clean` (uint8 sRGB) as a sensor that counts `photons` at full white would record it, uint8."""
    linear = np.power(clean / 255.0, 2.2)
    counted = rng.poisson(linear * photons) + rng.normal(0.0, read_noise, clean.shape)
    encoded = np.power(np.clip(counted / photons, 0.0, 1.0), 1.0 / 2.2)
    return np.round(encoded * 255.0).astype(np.uint8)


def as_image(pixels, device):
    """A uint8 picture `[rows, cols, 3]` as a two-dimensional array of `vec3` in 0..1."""
    return wp.array(pixels.astype(np.float32) / 255.0, dtype=wp.vec3, device=device)


def psnr(a, b, device):
    """Peak signal to noise ratio of two images in dB; one row per partial sum keeps float32 exact enough."""
    row_sums = wp.zeros(a.shape[0], dtype=float, device=device)
    wp.launch(squared_error, dim=a.shape, inputs=[a, b], outputs=[row_sums], device=device)
    mean = row_sums.numpy().sum(dtype=np.float64) / (3 * a.shape[0] * a.shape[1])
    return -10.0 * np.log10(mean)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu", help="cpu or cuda:0")
    parser.add_argument("--photo", default="coffee", choices=("astronaut", "chelsea", "coffee"))
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the pictures")
    args = parser.parse_args()

    import skimage.data
    from skimage.io import imsave

    clean_pixels = getattr(skimage.data, args.photo)()
    noisy_pixels = photographed(clean_pixels, photons=160.0, read_noise=2.0, rng=np.random.default_rng(7))
    clean, noisy = as_image(clean_pixels, args.device), as_image(noisy_pixels, args.device)
    smoothed, filtered = wp.empty_like(noisy), wp.empty_like(noisy)

    # A first, wide pass makes the guide whose colours tell which neighbours are alike: colours read from the
    # noisy picture itself would keep its noise.
    def first_pass():
        wp.launch(bilateral, dim=noisy.shape, inputs=[noisy, noisy, smoothed, RADIUS, 1.5, 0.35], device=args.device)

    def second_pass():
        wp.launch(bilateral, dim=noisy.shape, inputs=[noisy, smoothed, filtered, RADIUS, 2.5, 0.07], device=args.device)

    def timed(step):
        start = time.perf_counter()
        step()
        wp.synchronize_device(args.device)
        return time.perf_counter() - start

    first_launch = timed(first_pass)
    timed(second_pass)
    run = sorted(timed(lambda: (first_pass(), second_pass())) for _ in range(5))[2]
    one_launch = run / 2.0

    start = time.perf_counter()
    guide = bilateral_numpy(noisy.numpy(), noisy.numpy(), 1.5, 0.35)
    expected = bilateral_numpy(noisy.numpy(), guide, 2.5, 0.07)
    numpy_seconds = time.perf_counter() - start
    worst = float(np.abs(filtered.numpy() - expected).max())

    args.out.mkdir(parents=True, exist_ok=True)
    result_pixels = np.round(np.clip(filtered.numpy(), 0.0, 1.0) * 255.0).astype(np.uint8)
    for name, pixels in (("before", noisy_pixels), ("after", result_pixels)):
        imsave(args.out / f"denoise-{name}.png", pixels, check_contrast=False)
    side_by_side = np.concatenate([clean_pixels, noisy_pixels, result_pixels], axis=1)
    imsave(args.out / "denoise-clean-before-after.png", side_by_side, check_contrast=False)

    rows, cols = noisy.shape
    window = 2 * RADIUS + 1
    print(f"denoise: {args.photo}, {cols} x {rows} pixels, two passes of {window} x {window}, on {args.device}")
    print(f"  import inkle            {IMPORT_SECONDS * 1e3:9.1f} ms")
    print(f"  compile, first launch   {max(first_launch - one_launch, 0.0) * 1e3:9.1f} ms")
    print(f"  filter, both passes     {run * 1e3:9.1f} ms   ({rows * cols / run / 1e6:.1f} Mpixel/s)")
    print(f"  the same in numpy       {numpy_seconds * 1e3:9.1f} ms   ({numpy_seconds / run:.0f} times as long)")
    before, after = psnr(noisy, clean, args.device), psnr(filtered, clean, args.device)
    print(f"  PSNR                    {before:9.2f} dB before, {after:.2f} dB after")
    print(f"  largest difference from numpy {worst:.1e}")
    print(f"  pictures in {args.out}/: denoise-before.png, denoise-after.png, denoise-clean-before-after.png")
    if worst > 1e-4 or after < before + 3.0:
        sys.exit("denoise: the filtered picture is not what it should be")


if __name__ == "__main__":
    main()
