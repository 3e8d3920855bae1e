"""A model's folder, as sentence-transformers and its exporters leave it.

tokenizer.json                       the tokenizer
onnx/model.onnx or model.onnx        the network, for ONNX Runtime
modules.json, 1_Pooling/config.json  how hidden states become one vector, and whether it is scaled to length 1
sentence_bert_config.json            tokens it reads at most
config_sentence_transformers.json    prompts
config.json                          the same for models that know nothing of sentence-transformers
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from hindsight_core.errors import InvalidInput

_GRAPHS = ("onnx/model.onnx", "model.onnx")
_MOST_TOKENS = 512
_BLOCK = 1 << 16
_BLOCKS = 64
_POOLINGS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_lasttoken": "last",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFolder:
    """What a folder says of its model.

    Attributes:
        path: The folder.
        graph: The ONNX file.
        pooling: "cls", "mean", "max" or "last".
        max_tokens: Tokens the model reads at most, marks included.
        prompts: Prompts by name.
        pad_id: Fills up the shorter texts of a batch.
    """

    path: Path
    graph: Path
    pooling: str
    max_tokens: int
    prompts: dict[str, str] = field(default_factory=dict)
    pad_id: int = 0


def read_folder(path: str | Path, file: str | None = None) -> ModelFolder:
    """Read what a folder says of its model.

    Args:
        path: The folder.
        file: Its ONNX file, where it has several.

    Raises:
        InvalidInput: Something is missing or cannot be read, or the model needs what is not done here.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise InvalidInput(f"no folder {folder}; a model is a folder with tokenizer.json and model.onnx")
    if not (folder / "tokenizer.json").is_file():
        raise InvalidInput(f"{folder} holds no tokenizer.json")
    graph = next((folder / name for name in ([file] if file else _GRAPHS) if (folder / name).is_file()), None)
    if graph is None:
        raise InvalidInput(f"{folder} holds no {file or ' or '.join(_GRAPHS)}; name the file with file=")
    config = _json(folder / "config.json")
    sentence = _json(folder / "sentence_bert_config.json")
    limits = (
        sentence.get("max_seq_length"),
        _json(folder / "tokenizer_config.json").get("model_max_length"),
        config.get("max_position_embeddings"),
    )
    # A tokenizer without a limit says 10**30. XLM-RoBERTa counts positions from 2.
    max_tokens = next((n for n in limits if isinstance(n, int) and 0 < n < 1 << 20), _MOST_TOKENS)
    prompts = _json(folder / "config_sentence_transformers.json").get("prompts") or {}
    pad = config.get("pad_token_id")
    return ModelFolder(
        path=folder,
        graph=graph,
        pooling=_pooling(folder),
        max_tokens=max_tokens,
        prompts={str(name): str(text) for name, text in prompts.items()},
        pad_id=pad if isinstance(pad, int) else 0,
    )


def _pooling(folder: Path) -> str:
    modules = _json(folder / "modules.json", of=list)
    if not modules:
        return "mean"
    kinds = [(str(module.get("type", "")).rpartition(".")[2], module.get("path", "")) for module in modules]
    if other := [kind for kind, _ in kinds if kind not in ("Transformer", "Pooling", "Normalize")]:
        raise InvalidInput(f"{folder} has a module {other[0]}, which only sentence-transformers can run")
    where = next((where for kind, where in kinds if kind == "Pooling"), None)
    config: dict[str, Any] = {} if where is None else _json(folder / where / "config.json")
    named = config.get("pooling_mode")  # newer releases write its name
    chosen = (
        [named] if isinstance(named, str) else [name for key, name in _POOLINGS.items() if config.get(key)]
    )
    chosen = ["last" if name == "lasttoken" else str(name) for name in chosen] or ["mean"]
    if len(chosen) > 1 or chosen[0] not in _POOLINGS.values():
        raise InvalidInput(
            f"{folder} pools by {' and '.join(chosen)}, which only sentence-transformers can run"
        )
    return chosen[0]


def _json(path: Path, of: type[Any] = dict) -> Any:
    """A JSON file of the folder; empty where there is none."""
    if not path.is_file():
        return of()
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path} cannot be read: {type(error).__name__}") from error
    if not isinstance(held, of):
        raise InvalidInput(f"{path} does not hold a JSON {'object' if of is dict else 'list'}")
    return held


def digest_of(files: Iterable[Path], *settings: str) -> str:
    """Twelve characters that tell models apart.

    Of each file its size and up to 64 blocks, spread evenly: another training changes every block, and a network of two
    gigabytes is not read from end to end at every start.
    """
    digest = blake2b("\0".join(settings).encode("utf-8", "surrogatepass"), digest_size=6)
    for path in sorted(files):
        size = path.stat().st_size
        digest.update(f"\0{path.name}\0{size}\0".encode())
        blocks = min(_BLOCKS, -(-size // _BLOCK))
        step = (size - _BLOCK) // (blocks - 1) if blocks > 1 else 0
        with path.open("rb") as file:
            for number in range(blocks):
                file.seek(number * step)
                digest.update(file.read(_BLOCK))
    return digest.hexdigest()
