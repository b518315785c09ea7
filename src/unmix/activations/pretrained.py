"""Hugging Face models from a folder of this machine, and texts as their batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from unmix.activations.batches import BATCH, require_size
from unmix.errors import InputError, require


@dataclass(frozen=True, eq=False)
class Texts:
    """Texts as batches of tokens with their attention masks, for `record`.

    Parameters
    ----------
    texts : one an input.
    tokenizer : of a Hugging Face model, or anything that is called like it; it should pad on the right.
    longest : the most tokens that the model takes; a longer text is refused.

    Examples
    --------
    >>> import torch
    >>> def tokenizer(texts, **how):
    ...     return {"input_ids": torch.tensor([[len(text)] for text in texts])}
    >>> [batch["input_ids"].tolist() for batch in Texts(["a", "bcd", "ef"], tokenizer, batch=2)]
    [[[1], [3]], [[2]]]
    """

    texts: Sequence[str]
    tokenizer: Callable[..., Any]
    longest: int | None = None
    batch: int = BATCH

    def __post_init__(self) -> None:
        require_size(self.batch)

    def __len__(self) -> int:
        return -(-len(self.texts) // self.batch)

    def __iter__(self) -> Iterator[Any]:
        for a in range(0, len(self.texts), self.batch):
            tokens = self.tokenizer(list(self.texts[a : a + self.batch]), padding=True, return_tensors="pt")
            length = tokens["input_ids"].shape[1]
            require(
                self.longest is None or length <= self.longest,
                f"one of the texts {a + 1} to {a + self.batch} has {length} tokens and the model takes {self.longest}: "
                "split it.",
            )
            if not torch.as_tensor(tokens.get("token_type_ids", 1)).any():
                # Models take that for granted; GPT-2 would add its word 0 to every token, Llama has no such input.
                del tokens["token_type_ids"]
            yield tokens


@dataclass(frozen=True, eq=False)
class Pretrained:
    """A model of Hugging Face, and where it is from."""

    folder: Path
    model: nn.Module

    def texts(self, texts: Sequence[str], batch: int = BATCH) -> Texts:
        """Batches of texts, by the tokenizer that is kept with the model."""
        transformers = _transformers()
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                self.folder, local_files_only=True, trust_remote_code=False
            )
        except (OSError, ValueError, KeyError, ImportError) as error:
            raise InputError(f"{self.folder} has no tokenizer that can be read: {_first_line(error)}") from error
        tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token or tokenizer.unk_token  # masked in any case
        require(tokenizer.pad_token is not None, f"the tokenizer of {self.folder} has no token to pad with: give one.")
        tokenizer.padding_side = "right"  # left of a text it would move its positions, by as much as the batch is long
        config: Any = self.model.config
        return Texts(texts, tokenizer, getattr(config, "max_position_embeddings", None), batch)


def pretrained(folder: str | Path) -> Pretrained:
    """A Hugging Face model from a folder, with its head; nothing is downloaded, and nothing is unpickled.

    The folder is as `save_pretrained` of the model (and of its tokenizer) writes it: config.json and safetensors. A
    model that brings code of its own is refused.
    """
    transformers = _transformers()
    path = Path(folder)
    require((path / "config.json").is_file(), f"{path} is no folder of a Hugging Face model: it has no config.json.")
    try:
        with torch.random.fork_rng(devices=[]):  # layers are initialised before they are read
            config = transformers.AutoConfig.from_pretrained(path, local_files_only=True, trust_remote_code=False)
            saved = getattr(transformers, (config.architectures or ["AutoModel"])[0], transformers.AutoModel)
            ours = isinstance(saved, type) and issubclass(saved, (transformers.PreTrainedModel, transformers.AutoModel))
            require(ours, f"{path} is of no model of transformers: save it anew with save_pretrained.")
            model = saved.from_pretrained(path, use_safetensors=True, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{path} cannot be read as a Hugging Face model: {_first_line(error)}") from error
    if hasattr(model.config, "use_cache"):
        model.config.use_cache = False  # what was computed for earlier tokens is kept for generation only
    return Pretrained(path, model)


def _transformers() -> Any:
    try:
        import transformers  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise InputError("a Hugging Face model needs transformers: pip install 'unmix[hf]'.") from None
    return transformers


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
