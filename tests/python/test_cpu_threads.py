"""The threads that launches on the CPU use, and what does not depend on them."""

import os
import threading

import numpy as np
import pytest
from _support import child_path, differs_from_warp, run_child
from _wp import wp

pytestmark = differs_from_warp("its kernels run on one thread of the CPU")

N = 300_000


@wp.kernel
def wave(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    s = float(0.0)
    for k in range(i % 50):
        s += wp.sin(x[i] + float(k))
    y[i] = s


@wp.kernel
def count(x: wp.array(dtype=float), bins: wp.array(dtype=int)):
    i = wp.tid()
    wp.atomic_add(bins, int(x[i] * float(bins.shape[0])), 1)


@wp.kernel(module_options={"deterministic": wp.DeterministicMode.RUN_TO_RUN}, module="unique")
def total_in_order(x: wp.array(dtype=float), sums: wp.array(dtype=float), places: wp.array(dtype=int)):
    i = wp.tid()
    places[i] = wp.int32(wp.atomic_add(sums, i % 7, x[i]) > 0.5)


@pytest.fixture
def threads():
    yield
    wp.config.cpu_threads = None


@pytest.fixture
def x():
    return wp.array(np.random.default_rng(5).random(N, dtype=np.float32), dtype=float, device="cpu")


def launches(kernel, x, *shapes):
    """What the kernel computes with 1, 2 and 5 threads, three times each: what is measured on the way changes cuts."""
    for count in (1, 2, 5):
        wp.config.cpu_threads = count
        for _ in range(3):
            outs = [wp.zeros(shape, dtype=dtype, device="cpu") for shape, dtype in shapes]
            wp.launch(kernel, dim=N, inputs=[x, *outs], device="cpu")
            yield [out.numpy() for out in outs]


def test_results_do_not_depend_on_the_number_of_threads(threads, x):
    first, *others = launches(wave, x, (N, float))
    assert np.isfinite(first[0]).all() and np.abs(first[0]).max() > 1.0
    for other in others:
        np.testing.assert_array_equal(other[0], first[0])


@pytest.mark.parametrize("bins", [1, 16, 1000, 400_000])
def test_sums_of_integers_do_not_depend_on_the_number_of_threads(threads, x, bins):
    wanted = np.bincount((x.numpy() * np.float32(bins)).astype(int), minlength=bins)
    for (counted,) in launches(count, x, (bins, int)):
        np.testing.assert_array_equal(counted, wanted)


def test_deterministic_sums_and_old_values_are_always_the_same(threads, x):
    first, *others = launches(total_in_order, x, (7, float), (N, int))
    for i in range(7):
        np.testing.assert_allclose(first[0][i], x.numpy()[i::7].sum(dtype=np.float64), rtol=1e-3)
    for other in others:
        for got, wanted in zip(other, first):
            np.testing.assert_array_equal(got, wanted)


def test_large_results_are_seen_by_whoever_comes_next(threads):
    # Such launches write past the caches, but for what does not begin where a vector may.
    @wp.kernel
    def double(x: wp.array(dtype=float), y: wp.array(dtype=float)):
        i = wp.tid()
        y[i] = 2.0 * x[i]

    n = (64 << 20) // 4
    values = np.arange(n + 1, dtype=np.float32) % 4093
    x, y, z = (wp.array(v, dtype=float, device="cpu") for v in (values, values * 0, values * 0))
    for count in (1, 2, 5):
        wp.config.cpu_threads = count
        for first in (0, 1):
            y.zero_()
            z.zero_()
            wp.launch(double, dim=n, inputs=[x[:n], y[first : first + n]], device="cpu")
            wp.launch(double, dim=n, inputs=[y[first : first + n], z[first : first + n]], device="cpu")
            np.testing.assert_array_equal(z.numpy()[first : first + n], 4.0 * values[:n])
            np.testing.assert_array_equal(z.numpy()[n - first * n], 0.0)


def test_what_is_added_to_may_share_memory_with_what_is_read(threads):
    values = np.zeros(N, dtype=np.int32)
    shared = wp.array(values, dtype=int, device="cpu")

    @wp.kernel
    def both(a: wp.array(dtype=int), b: wp.array(dtype=int), seen: wp.array(dtype=int)):
        i = wp.tid()
        wp.atomic_add(a, i % 100, 1)
        seen[i] = b[i % 100]

    seen = wp.zeros(N, dtype=int, device="cpu")
    for count in (1, 2, 2, 2):
        wp.config.cpu_threads = count
        shared.zero_()
        wp.launch(both, dim=N, inputs=[shared, shared, seen], device="cpu")
        np.testing.assert_array_equal(shared.numpy()[:100], N // 100)
        # A thread sees its own addition at least.
        assert seen.numpy().min() >= 1


def test_kernels_that_update_memory_may_run_at_once(threads, x):
    wp.config.cpu_threads = 2

    @wp.kernel(module="unique")
    def tally(x: wp.array(dtype=float), bins: wp.array(dtype=float), all: wp.array(dtype=int)):
        b = int(x[wp.tid()] * 50.0)
        wp.atomic_add(bins, b, 1.0)
        wp.atomic_add(all, b, 1)

    shared = wp.zeros(50, dtype=int, device="cpu")
    own = [wp.zeros(50, dtype=float, device="cpu") for _ in range(4)]

    def work(bins):
        for _ in range(20):
            wp.launch(tally, dim=N, inputs=[x, bins, shared], device="cpu")

    runners = [threading.Thread(target=work, args=(bins,)) for bins in own]
    for runner in runners:
        runner.start()
    for runner in runners:
        runner.join()
    wanted = 20 * np.bincount((x.numpy() * np.float32(50.0)).astype(int), minlength=50)
    for bins in own:
        np.testing.assert_array_equal(bins.numpy(), wanted)
    np.testing.assert_array_equal(shared.numpy(), 4 * wanted)


def test_the_environment_says_how_many_threads(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import os, numpy as np, inkle as wp\n"
        "wp.config.quiet = True\n"
        "@wp.kernel\n"
        "def slow(y: wp.array(dtype=float)):\n"
        "    i = wp.tid()\n"
        "    for k in range(400):\n"
        "        y[i] = wp.sin(y[i] + float(k))\n"
        "y = wp.zeros(100_000, dtype=float, device='cpu')\n"
        "for _ in range(3): wp.launch(slow, dim=100_000, inputs=[y], device='cpu')\n"
        "print(sum(open(f'/proc/self/task/{t}/comm').read().startswith('inkle-cpu') for t in os.listdir('/proc/self/task')))\n"
        "wp.config.cpu_threads = 4\n"
        "for _ in range(3): wp.launch(slow, dim=100_000, inputs=[y], device='cpu')\n"
        "print(sum(open(f'/proc/self/task/{t}/comm').read().startswith('inkle-cpu') for t in os.listdir('/proc/self/task')))\n"
    )
    if not os.path.exists("/proc/self/task"):
        pytest.skip("the system does not list a process's threads")
    out = run_child(program, env={"INKLE_CPU_THREADS": "3"})
    # The launching thread is one of them.
    assert out.stdout.split() == ["2", "3"]


@pytest.mark.parametrize("wrong", [0, -1, 1 << 20, "many", 1.5])
def test_impossible_numbers_are_refused(threads, wrong):
    before = wp.config.cpu_threads
    with pytest.raises(ValueError, match="cpu_threads"):
        wp.config.cpu_threads = wrong
    assert wp.config.cpu_threads == before


FORKS = """
import os, signal, threading, warnings
import numpy as np
from _wp import wp

warnings.simplefilter("ignore")

@wp.kernel
def count(a: wp.array(dtype=int), out: wp.array(dtype=int)):
    wp.atomic_add(out, a[wp.tid()], 1)

N = 500_000
a, out = wp.array(np.ones(N), dtype=int, device="cpu"), wp.zeros(10, dtype=int, device="cpu")
wp.launch(count, dim=N, inputs=[a, out], device="cpu")
ended = threading.Event()

def others():
    while not ended.is_set():
        wp.launch(count, dim=N, inputs=[a, out], device="cpu")

thread = threading.Thread(target=others)
thread.start()
fine = 0
for _ in range(5):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        out.zero_()
        wp.launch(count, dim=N, inputs=[a, out], device="cpu")
        os._exit(0 if out.numpy()[1] == N else 1)
    fine += os.waitpid(child, 0)[1] == 0
ended.set()
thread.join()
print(fine)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
def test_a_process_that_is_forked_during_a_launch_launches_too(tmp_path):
    program = tmp_path / "forks.py"
    program.write_text(FORKS)
    assert run_child(program, env=child_path()).stdout.split() == ["5"]
