"""The verb `record`."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from unmix.activations import fingerprint
from unmix.activations.alike import require_same_inputs, require_same_rows
from unmix.activations.batches import Batch, Batches, Call
from unmix.activations.folder import State, Writer
from unmix.activations.head import Head
from unmix.activations.ids import batch_names, names_of, require_all_named
from unmix.activations.recorder import Recorder
from unmix.activations.result import Activations, load
from unmix.activations.rows import Flatten, Rows
from unmix.configuration import to_config
from unmix.errors import RunFolderError, require, require_kind
from unmix.lock import require_free
from unmix.meter import meter
from unmix.training.folder import LOCK, RunFolder

SECONDS = 5.0  # between two checkpoints: as much is done again after a kill
FLATTEN = Flatten()


def record(
    model: nn.Module,
    inputs: Any,
    layers: Sequence[str],
    folder: str | Path,
    *,
    head: Head | None = None,
    rows: Rows = FLATTEN,
    ids: Iterable[Any] | None = None,
    batch: int | None = None,
    call: Call | None = None,
    dtype: Any = np.float32,
    progress: bool = True,
) -> Activations:
    """Write what layers of a network give for all inputs to files, a table a layer, and map them.

    Rows go to the files batch by batch and never are in memory together. Killed and called again, it goes on where it
    was; with another model, other inputs or other settings the folder is refused.

    Parameters
    ----------
    model : runs in evaluation mode, without gradients; it is left as it was.
    inputs : an array or tensor, a dictionary of them, a torch Dataset, or an iterable of batches such as a DataLoader
        that does not shuffle. A dictionary is passed as keyword arguments, of a tuple the first part.
    layers : names of `layers_of(model)`.
    folder : for `<layer>.npy`, `ids.txt` and `groups.txt`, and with a head `f.npy` and `model.npz` (f, g and bias).
    head : `head(model)`: record its input too, as f. Refused unless f·g + b are the model's logits on the first batch.
    rows : how an output of more than two axes becomes rows: `Flatten()`, `Mean()`, `LastToken()`, `EachToken()`.
    ids : the name of each input; by default 0, 1, ….
    batch : rows of a batch, 64 by default. Inputs that come in batches keep theirs.
    call : `call(model, batch)` instead of `model(batch)`; with a head, it returns the logits, or what has them.
    dtype : of the files: float32, float16 or float64.
    progress : whether to show it on stderr.

    Examples
    --------
    >>> import tempfile
    >>> network = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    >>> x = torch.arange(30.0).reshape(10, 3)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     found = record(network, x, ["0", "1"], place, progress=False)
    ...     bool(np.allclose(found["1"], network[:2](x).detach()))
    True
    """
    require_kind(model, nn.Module, "the model", "a torch.nn.Module")
    require_kind(rows, Rows, "rows", "um.activations.EachToken()")
    asked, kind = _layers(layers), _kind(dtype)
    require(
        head is None or isinstance(head, Head),
        f"head must be weights with their layer's name: head=um.activations.head(model{_argument(head)}).",
    )
    recorder = Recorder(model, asked, head, rows, call, getattr(torch, kind.name))
    batches, names = Batches.of(inputs, batch, named=ids is not None), names_of(ids)
    if names is not None and batches.rows is not None:
        require_all_named(names, batches.rows)
    config = {
        "model": fingerprint.of_model(model),
        "layers": list(asked),
        "head": head.name if head else None,
        "rows": to_config(rows),
        "ids": fingerprint.of_texts(names) if names else None,
        "batch": batches.size,
        "call": getattr(call, "__qualname__", type(call).__qualname__) if call else None,
        "dtype": kind.name,
    }
    place = RunFolder(folder)
    place.check(config)
    require_free(place.path / LOCK)
    with meter(batches.count or 0, shown=progress) as (bar, task):
        if batches.count is None:
            bar.tasks[0].total = None  # a bar that moves without an end
        for inputs_so_far in _recorded(recorder, batches, names, place, config, kind):
            bar.update(task, advance=1, description=f"{inputs_so_far:,} inputs")
    return load(folder)


def _recorded(
    recorder: Recorder,
    batches: Batches,
    names: list[str] | None,
    place: RunFolder,
    config: dict[str, Any],
    kind: np.dtype[Any],
) -> Iterator[int]:
    """Record batch by batch; of those in the files already only the first is run, to see that all is alike."""
    state, seen = State.of(place.path), fingerprint.Fingerprint()
    count = inputs = 0
    synced = time.monotonic()
    writer: Writer | None = None
    first: tuple[Batch, list[str]] | None = None
    with ExitStack() as stack:

        def opened(widths: dict[str, int]) -> Writer:
            stack.enter_context(place.claimed(config))  # only now: a first batch that is refused leaves no folder
            if State.of(place.path) != state:
                raise RunFolderError(f"another process went on with {place.path} meanwhile: call again.")
            return stack.enter_context(closing(Writer(place, state, widths, kind)))

        stack.enter_context(recorder.listening())
        for batch in batches:
            ids = batch_names(names, inputs, batch)
            count, inputs = count + 1, inputs + len(batch)
            seen.add_all(batch.tensors())
            if count <= state.batches:
                first = first or (batch, ids)
                require_same_inputs(count < state.batches or str(seen) == state.inputs, place.path)
                if count == state.batches:
                    require_same_rows(recorder.rows_of(*first)[0], recorder.model, place.path, state, kind)
            else:
                require_same_inputs(not state.done, place.path)
                found, labels, groups = recorder.rows_of(batch, ids)
                writer = writer or opened({name: values.shape[1] for name, values in found.items()})
                writer.append(found, labels, groups)
                if count == 1 or time.monotonic() - synced > SECONDS:
                    writer.checkpoint(count, str(seen))
                    synced = time.monotonic()
            yield inputs
        require_same_inputs(count >= state.batches, place.path)
        if names is not None:
            require_all_named(names, inputs)
        if not state.done:
            (writer or opened(state.widths)).finish(count, str(seen), recorder.head)


def _layers(given: Any) -> tuple[str, ...]:
    example = given if isinstance(given, str) else "conv2"
    said = f"layers must be a list of names, such as [{example!r}], not {given!r:.80} (layers_of lists them)."
    require(isinstance(given, Iterable) and not isinstance(given, str), said)
    names = tuple(given)
    require(all(isinstance(name, str) for name in names), said)
    return names


def _kind(dtype: Any) -> np.dtype[Any]:
    """In the machine's own byte order."""
    try:
        kind = np.dtype(dtype).newbyteorder("=")
    except TypeError:
        kind = np.dtype(object)
    require(kind.name in ("float16", "float32", "float64"), f"dtype must be float16, float32 or float64, not {dtype}.")
    return kind


def _argument(head: object) -> str:
    return f", {head!r}" if isinstance(head, str) else ""
