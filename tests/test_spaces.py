"""Spaces: samples lie in them, volumes are right, bad ones are refused."""

import math

import pytest
import torch

from unmix import Box, Euclidean, InputError, Sphere


@pytest.mark.parametrize("space", [Sphere(2), Sphere(10), Sphere(3, radius=2.5), Box(1), Box(4, -1.0, 3.0)])
def test_uniform_samples_lie_in_the_space_and_cover_it(space, generator):
    z = space.uniform(20_000, generator, torch.float64)
    assert space.contains(z, 1e-12)
    # Both spaces are symmetric about their midpoint, so the mean is there to 5 standard errors.
    middle = 0 if isinstance(space, Sphere) else (space.low + space.high) / 2
    assert (z.mean(0) - middle).abs().max() < 5 * z.std() / math.sqrt(len(z))


@pytest.mark.parametrize(("d", "area"), [(2, 2 * math.pi), (3, 4 * math.pi), (4, 2 * math.pi**2)])
def test_sphere_area(d, area):
    assert math.exp(Sphere(d).log_volume) == pytest.approx(area)
    assert math.exp(Sphere(d, radius=3.0).log_volume) == pytest.approx(area * 3 ** (d - 1))


def test_box_volume():
    assert math.exp(Box(3, -1.0, 1.0).log_volume) == pytest.approx(8)


def test_origin_lies_in_the_space():
    for space in (Sphere(5, radius=2.0), Box(3, 0.25, 1.0), Euclidean(2)):
        assert space.contains(space.origin[None], 1e-12)


def test_euclidean_space_has_no_uniform_law():
    with pytest.raises(InputError, match="no uniform law"):
        Euclidean(2).uniform(3)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Sphere(1), "dimension 2 or more"),
        (lambda: Sphere(True), "dimension 2 or more"),
        (lambda: Sphere(3, radius=0.0), "positive, finite radius"),
        (lambda: Sphere(3, radius=math.nan), "positive, finite radius"),
        (lambda: Box(0), "dimension 1 or more"),
        (lambda: Box(2, 1.0, 0.0), "finite low < high"),
        (lambda: Box(2, 0.0, math.inf), "finite low < high"),
        (lambda: Euclidean(0), "dimension 1 or more"),
    ],
)
def test_bad_spaces_are_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()
