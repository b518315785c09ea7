"""Shared by all tests: shapes are checked at run time, one torch thread, and no network or display."""

from jaxtyping import install_import_hook

# Compiled kernels cannot be wrapped; they are tested against the naive formula instead. Moments, indeterminacy and
# measures are called thousands of times a test: `test_shapes.py` checks them once, in a process of its own.
CHECKED = [
    f"unmix.{name}"
    for name in (
        "spaces", "laws", "similarities", "mixings", "processes", "encoders", "objectives", "model", "theory",
        "training", "audit", "factors", "tables", "comparison", "canonical", "activations",
    )
]  # fmt: skip
install_import_hook(CHECKED, "runtime_types.check")

import pytest  # noqa: E402
import torch  # noqa: E402
from hypothesis import settings  # noqa: E402

settings.register_profile("unmix", deadline=None, max_examples=30, derandomize=True)
settings.load_profile("unmix")
torch.set_num_threads(1)


@pytest.fixture
def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


@pytest.fixture(autouse=True)
def global_randomness_is_untouched():
    """Nothing in unmix may draw from, or seed, torch's global generator."""
    before = torch.random.get_rng_state()
    yield
    assert torch.equal(before, torch.random.get_rng_state()), "the global random state was used"
