"""The network of the bundled model as an ONNX graph: twelve post-norm BERT layers.

Two forms of the same graph. The *float* form multiplies in float32; it is slow, and exists to be measured. The *byte*
form multiplies bytes, as fast as a CPU can: each weight column is rounded to signed bytes with its own scale, each
token's activations to unsigned bytes with theirs ("vector-wise" quantisation, Dettmers et al. 2022, arXiv:2208.07339).

Byte activations lose precision where a few channels are much larger than the rest. So before a product that follows a
layer norm, every channel is shifted by its mean and divided by a power of its range, and the weights are multiplied
by the same ("SmoothQuant", Xiao et al. 2022, arXiv:2211.10438): both come free of cost, folded into the layer norm.
GELU is never below -0.17, so its values are shifted up by that and use the whole unsigned byte.

Nothing depends on the other texts of a batch, so a text has one vector however it is batched; and texts batched
together have equal length, so there is no padding and no mask.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from hindsight_core.embedding.e5.graph import Graph
from hindsight_core.embedding.e5.weights import Weights
from hindsight_core.ports import Doubles, Floats

CONTRIB = "com.microsoft"
_EPSILON = 1e-12
_GELU_SHIFT = 0.17
_SMOOTHING = 0.6
_SMALLEST_RANGE = 1e-3


class Ranges:
    """How the channels of one layer norm's output spread: running mean and extremes over tokens.

    Args:
        width: Number of channels.
    """

    def __init__(self, width: int) -> None:
        self._sum: Doubles = np.zeros(width)
        self._low: Doubles = np.full(width, np.inf)
        self._high: Doubles = np.full(width, -np.inf)
        self._count = 0

    def see(self, rows: Floats) -> None:
        """Take in activations, shape (tokens, width)."""
        self._sum += rows.sum(0, dtype=np.float64)
        self._low = np.minimum(self._low, rows.min(0))
        self._high = np.maximum(self._high, rows.max(0))
        self._count += len(rows)

    def shift_and_scale(self) -> tuple[Doubles, Doubles]:
        """Per channel: what to subtract, and what to divide by."""
        mean = self._sum / self._count
        spread = np.maximum(np.maximum(self._high - mean, mean - self._low), _SMALLEST_RANGE)
        return mean, spread**_SMOOTHING


def float_encoder(weights: Weights) -> bytes:
    """The float form; results: hidden states, then the output of the layer norm before each of 2 x 12 products."""
    encoder = _Encoder(weights, None, 0)
    return encoder.model({})


def byte_encoder(weights: Weights, ranges: Sequence[Ranges], levels: int, notes: dict[str, str]) -> bytes:
    """The byte form; result: hidden states.

    Args:
        weights: The weights.
        ranges: Of each of the further results of the float form, in order.
        levels: Largest magnitude of a weight: 127; or 63 for CPUs whose byte products saturate at 16 bits (AVX2
            without VNNI: 2 * 255 * 64 is the most that fits).
        notes: Stored with the model.
    """
    return _Encoder(weights, ranges, levels).model(notes)


class _Encoder:
    """Builds the graph; `ranges` None makes the float form."""

    def __init__(self, weights: Weights, ranges: Sequence[Ranges] | None, levels: int) -> None:
        self.weights = weights
        self.ranges = ranges
        self.levels = levels
        self.graph = Graph()
        self.norms: list[str] = []
        self.unit = self._constant(1 / 127)
        self.whole = self._constant(1 / 255)
        self.middle = self.graph.constant(np.uint8(128))
        self.bottom = self.graph.constant(np.uint8(0))
        edges = [self.graph.constant(np.array([part * weights.width])) for part in range(4)]
        last = self.graph.constant(np.array([-1]))
        self.thirds = [(start, stop, last) for start, stop in pairwise(edges)]

    def model(self, notes: dict[str, str]) -> bytes:
        """Input: embedded tokens (batch, length, width), without padding."""
        width = self.weights.width
        sums, norm = "tokens", "emb.ln"
        for layer in range(self.weights.layers):
            sums, norm = self._layer(f"l{layer}", sums, norm)
        hidden = self._norm(sums, norm, np.zeros(width), np.ones(width))
        results = [hidden, *(self.norms if self.ranges is None else [])]
        return self.graph.model(
            {"tokens": ("batch", "length", width)},
            dict.fromkeys(results, ("batch", "length", width)),
            notes,
        )

    def _layer(self, name: str, sums: str, norm: str) -> tuple[str, str]:
        """One layer: from sums (before the norm `norm`) to sums, and the name of the norm that follows them."""
        add, bias = self.graph.add, self.weights.floats
        # A product's bias is added along with the residual, by way of the layer norm that gives the residual.
        product, offset, residual = self._after_norm(
            sums, norm, [f"{name}.q", f"{name}.k", f"{name}.v"], bias(f"{name}.ao.b")
        )
        parts = [add("Slice", product, *bounds) for bounds in self.thirds]
        mixed = add("MultiHeadAttention", *parts, offset, domain=CONTRIB, num_heads=self.weights.heads)
        sums = add("Add", self._symmetric(mixed, self._matrix([f"{name}.ao"])), residual)

        down = self._matrix([f"{name}.fo"], inputs=4 * self.weights.width)
        correction = 0.0 if self.ranges is None else _GELU_SHIFT * self._rounded(down).sum(1)
        product, offset, residual = self._after_norm(
            sums, f"{name}.aln", [f"{name}.fi"], bias(f"{name}.fo.b") - correction
        )
        wide = add("BiasGelu", product, offset, domain=CONTRIB)
        return add("Add", self._shifted(wide, down), residual), f"{name}.oln"

    def _after_norm(
        self, sums: str, norm: str, products: list[str], added: Doubles | Floats
    ) -> tuple[str, str, str]:
        """Products of a norm, still without bias; their bias; and the norm itself + `added`, as residual."""
        width = self.weights.width
        mean, scale = np.zeros(width), np.ones(width)
        if self.ranges is not None:
            mean, scale = self.ranges[len(self.norms)].shift_and_scale()
        narrowed = self._norm(sums, norm, -mean, scale)
        self.norms.append(narrowed)
        matrix = self._matrix(products)
        bias = np.concatenate([self.weights.floats(f"{product}.b") for product in products]) + matrix @ mean
        return (
            self._symmetric(narrowed, matrix * scale),
            self.graph.constant(bias.astype(np.float32)),
            self._norm(sums, norm, added, np.ones(width)),
        )

    def _norm(self, sums: str, norm: str, shift: Doubles | Floats, scale: Doubles) -> str:
        """(layer norm + shift) / scale, per channel."""
        gain, bias = self.weights.floats(f"{norm}.w"), self.weights.floats(f"{norm}.b")
        parts = [self.graph.constant((x / scale).astype(np.float32)) for x in (gain, bias + shift)]
        return self.graph.add("LayerNormalization", sums, *parts, axis=-1, epsilon=_EPSILON)

    def _symmetric(self, values: str, matrix: Doubles) -> str:
        """Values @ matrix.T, for values spread around 0."""
        if self.ranges is None:
            return self._float_product(values, matrix)
        largest = self.graph.add("ReduceMax", self.graph.add("Abs", values), axes=[-1], keepdims=1)
        return self._byte_product(values, largest, matrix, self.unit, self.middle)

    def _shifted(self, values: str, matrix: Doubles) -> str:
        """Values @ matrix.T, for results of GELU; the byte form gives (values + shift) @ matrix.T."""
        if self.ranges is None:
            return self._float_product(values, matrix)
        values = self.graph.add("Add", values, self._constant(_GELU_SHIFT))
        largest = self.graph.add("ReduceMax", values, axes=[-1], keepdims=1)
        return self._byte_product(values, largest, matrix, self.whole, self.bottom)

    def _float_product(self, values: str, matrix: Doubles) -> str:
        return self.graph.add("MatMul", values, self.graph.constant(matrix.T.astype(np.float32)))

    def _byte_product(self, values: str, largest: str, matrix: Doubles, step: str, zero: str) -> str:
        shares = self.graph.add("Div", values, largest)
        rounded = self.graph.add("QuantizeLinear", shares, step, zero)
        scale = np.abs(matrix).max(1) / self.levels
        columns = self.graph.constant(np.rint(matrix / scale[:, None]).astype(np.int8).T)
        scales = self.graph.constant(scale.astype(np.float32))
        product = self.graph.add("MatMulIntegerToFloat", rounded, columns, step, scales, zero, domain=CONTRIB)
        return self.graph.add("Mul", product, largest)

    def _rounded(self, matrix: Doubles) -> Doubles:
        """The matrix as `_byte_product` sees it."""
        scale = np.abs(matrix).max(1, keepdims=True) / self.levels
        rounded: Doubles = np.rint(matrix / scale) * scale
        return rounded

    def _matrix(self, names: list[str], inputs: int | None = None) -> Doubles:
        parts = [self.weights.matrix(f"{name}.w", inputs or self.weights.width) for name in names]
        return np.concatenate(parts).astype(np.float64)

    def _constant(self, value: float) -> str:
        return self.graph.constant(np.float32(value))
