"""The softmax over many labels against the naive formula, in value, gradient and memory."""

import subprocess
import sys

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import unmix as um
from unmix.kernels import log_partition_sum, partition
from unmix.objectives import cross_entropy


def found_and_expected(fast, naive, f, w):
    results = []
    for formula, inputs in ((fast, (f, w)), (naive, (f.double(), w.double()))):
        leaves = [t.clone().requires_grad_() for t in inputs]
        value = formula(*leaves)
        value.backward()
        results.append([value.detach(), *(leaf.grad for leaf in leaves)])
    return results


def assert_equal(found, expected, tolerance):
    for a, b in zip(found, expected, strict=True):
        assert (a.double() - b.double()).abs().max() <= tolerance * max(1.0, b.abs().max().item())


def draw(b, n, d, scale, seed, dtype):
    g = torch.Generator().manual_seed(seed)
    f, w = torch.randn(b, d, generator=g), torch.randn(n, d, generator=g)
    return (scale * f).to(dtype), w.to(dtype)


@given(
    b=st.integers(1, 9),
    n=st.integers(1, 40),
    d=st.integers(1, 6),
    scale=st.sampled_from([1e-3, 1.0, 40.0]),
    dtype=st.sampled_from([torch.float32, torch.float64]),
    seed=st.integers(0, 99),
)
def test_the_sum_is_the_naive_formula(b, n, d, scale, dtype, seed):
    f, w = draw(b, n, d, scale, seed, dtype)
    results = found_and_expected(log_partition_sum, lambda f, w: torch.logsumexp(f @ w.mT, 1).sum(), f, w)
    assert_equal(*results, 1e-5 if dtype == torch.float32 else 1e-12)


@pytest.mark.parametrize("method", ["_many", "_tiled"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("scale", [1e-3, 3.0, 40.0])
def test_tiles_are_the_naive_formula(method, dtype, scale, monkeypatch):
    monkeypatch.setattr(partition, "FEW_LABELS", 0)
    monkeypatch.setattr(partition, "_many", getattr(partition, method))
    monkeypatch.setattr(partition, "TILE_ROWS", 5)
    monkeypatch.setattr(partition, "TILE_LABELS", 7)
    f, w = draw(13, 31, 4, scale, 0, dtype)
    results = found_and_expected(log_partition_sum, lambda f, w: torch.logsumexp(f @ w.mT, 1).sum(), f, w)
    assert_equal(*results, 1e-5 if dtype == torch.float32 else 1e-12)


def test_threads_share_the_labels_out(monkeypatch):
    monkeypatch.setattr(partition, "FEW_LABELS", 0)
    monkeypatch.setattr(partition, "ENTRIES_WORTH_A_THREAD", 100)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    f, w = draw(13, 31, 4, 3.0, 0, torch.float32)
    results = found_and_expected(log_partition_sum, lambda f, w: torch.logsumexp(f @ w.mT, 1).sum(), f, w)
    assert_equal(*results, 1e-5)


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("beta", [1.0, 2.5])
def test_cross_entropy_is_that_of_torch(smoothing, beta):
    f, w = draw(12, 20, 4, 1.0, 1, torch.float64)
    y = torch.randint(20, (12,), generator=torch.Generator().manual_seed(2))

    def naive(f, w):
        return torch.nn.functional.cross_entropy(beta * f @ w.mT, y, label_smoothing=smoothing)

    results = found_and_expected(lambda f, w: cross_entropy(f, w, y, beta, smoothing), naive, f, w)
    assert_equal(*results, 1e-12)


def test_the_gradient_of_beta_is_exact():
    f, w = draw(12, 20, 4, 1.0, 1, torch.float64)
    y = torch.randint(20, (12,), generator=torch.Generator().manual_seed(2))
    beta = torch.tensor(1.7, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda b: cross_entropy(f, w, y, b, 0.1), (beta,))


@pytest.mark.parametrize("few", [partition.FEW_LABELS, 0])
def test_what_is_not_a_number_stays_so(few, monkeypatch):
    monkeypatch.setattr(partition, "FEW_LABELS", few)
    f, w = draw(4, 6, 3, 1.0, 0, torch.float32)
    f[2, 1] = torch.nan
    assert log_partition_sum(f, w).isnan()


@pytest.mark.parametrize("few", [partition.FEW_LABELS, 0])
def test_tables_that_do_not_fit_are_refused(few, monkeypatch):
    monkeypatch.setattr(partition, "FEW_LABELS", few)
    f, w, y = torch.ones(3, 2), torch.ones(4, 2), torch.tensor([0, 1, 3])
    for rows in (torch.ones(4, 3), torch.ones(4, 1), w.double()):
        with pytest.raises(um.InputError, match="one width, dtype and device"):
            log_partition_sum(f, rows)
    for labels in (torch.tensor([0, 1, 4]), torch.tensor([0, -1, 1])):
        with pytest.raises(um.InputError, match="each from 0 to 3"):
            cross_entropy(f, w, labels)
    with pytest.raises(um.InputError, match="β must be positive"):
        cross_entropy(f, w, y, beta=-1.0)
    with pytest.raises(um.InputError, match="a share below 1"):
        cross_entropy(f, w, y, label_smoothing=5.0)


STEP = """
import resource, torch
torch.set_num_threads(1)
from unmix.objectives import cross_entropy
n = int(__import__("sys").argv[1])
g = torch.Generator().manual_seed(0)
w = torch.randn(n, 10, generator=g).requires_grad_()
w.grad = torch.zeros_like(w)
f, y = torch.randn(64, 10, generator=g), torch.randint(n, (64,), generator=g)
cross_entropy(f, w[:100].detach(), y % 100).item()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
cross_entropy(f, w, y).backward()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_a_million_labels_need_memory_for_their_weights_alone():
    """64 × 1,000,000 scores would take 256 MB, and their softmax as much again."""
    run = subprocess.run([sys.executable, "-c", STEP, "1000000"], capture_output=True, text=True, check=True)
    assert int(run.stdout) / 1024 < 200  # megabytes; the gradient of the weights is 40, and exists three times
