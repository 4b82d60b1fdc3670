"""What a report of a problem should say about the installation: versions, settings and devices."""

import importlib.metadata
import os
import platform
import sys

from inkle import _native, config
from inkle._native import get_cuda_driver_version, get_devices, version

_FRAMEWORKS = ("torch", "jax", "jaxlib")


def get_warp_version():
    """The version of the API that inkle implements."""
    return config.version


def get_warp_clang_version():
    """The version of the API that the compiler implements: the same."""
    return config.version


def get_llvm_version():
    """The version of LLVM that compiles kernels."""
    return _native.llvm_version


def get_nvrtc_version():
    """inkle compiles for GPUs without NVRTC."""
    return None


def get_libmathdx_version():
    """inkle has no part of MathDx; the version is empty."""
    return ""


def _installed(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _device_facts(device):
    facts = {"alias": device.alias, "name": device.name}
    if device.is_cuda:
        facts["arch"] = f"sm_{device.arch}"
        facts["sm_count"] = device.sm_count
        facts["memory_gb"] = device.total_memory / 2**30
        facts["mempool_enabled"] = _native.is_mempool_enabled(device)
        facts["pci_bus_id"] = device.pci_bus_id
        for name in (
            "is_cpu_memory_access_from_gpu_supported",
            "is_gpu_memory_access_from_cpu_supported",
            "is_cpu_gpu_atomic_supported",
        ):
            facts[name] = bool(getattr(device, name, False))
    return facts


def _facts():
    driver = get_cuda_driver_version() if _native.is_cuda_available() else None
    facts = {
        "inkle": version,
        "warp_python": get_warp_version(),
        "warp_native": get_warp_version(),
        "warp_clang": get_warp_clang_version(),
        "llvm": get_llvm_version(),
        "numpy": _installed("numpy") or "not installed",
        "python": sys.version.replace("\n", " "),
        "platform": platform.platform(),
        "cuda_enabled": True,
        "cuda_toolkit": None,
        "cuda_driver": driver,
        "nvrtc": get_nvrtc_version(),
        "cuda_compatibility": False,
        "mathdx_enabled": False,
        "libmathdx": get_libmathdx_version(),
        "cubql_enabled": False,
        "nanovdb": None,
        "host_compiler": None,
        "debug": config.mode == "debug",
        "verify_fp": bool(config.verify_fp),
        "fast_math": False,
        "kernel_cache": str(_native.kernel_cache_dir()),
        "cpu_count": os.cpu_count(),
        "devices": [_device_facts(device) for device in get_devices()],
    }
    facts.update({name: found for name in _FRAMEWORKS if (found := _installed(name)) is not None})
    return facts


def _section(title, lines):
    print(title)
    for name, value in lines:
        print(f"  {name + ':':<18}{value}")
    print()


def print_diagnostics():
    """Prints versions, settings and devices, for reports of problems, and returns them as a dictionary."""
    facts = _facts()
    software = [("inkle", facts["inkle"]), ("Warp API", facts["warp_python"]), ("LLVM", facts["llvm"])]
    software += [("NumPy", facts["numpy"]), ("Python", facts["python"]), ("Platform", facts["platform"])]
    software += [(name, facts[name]) for name in _FRAMEWORKS if name in facts]
    _section("Software", software)
    driver = facts["cuda_driver"]
    _section("CUDA", [("Driver", "not available" if driver is None else ".".join(map(str, driver)))])
    settings = [("Debug", facts["debug"]), ("Verify FP", facts["verify_fp"])]
    _section("Settings", [*settings, ("Kernel cache", facts["kernel_cache"])])
    for device in facts["devices"]:
        lines = [("Name", device["name"])]
        if "arch" in device:
            lines += [
                ("Architecture", device["arch"]),
                ("Multiprocessors", device["sm_count"]),
                ("Memory", f"{device['memory_gb']:.1f} GiB"),
                ("Memory pool", device["mempool_enabled"]),
                ("PCI bus", device["pci_bus_id"]),
                ("GPU->CPU mem", device["is_cpu_memory_access_from_gpu_supported"]),
                ("CPU->GPU mem", device["is_gpu_memory_access_from_cpu_supported"]),
                ("CPU/GPU atomics", device["is_cpu_gpu_atomic_supported"]),
            ]
        _section(f"Device {device['alias']}", lines)
    return facts
