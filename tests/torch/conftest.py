"""Tiny models with random weights, built and saved here: what loads them is what loads real ones."""

import json

import pytest

WORDS = [
    "tea",
    "mint",
    "shed",
    "gateway",
    "port",
    "the",
    "of",
    "plant",
    "is",
    "query",
    "passage",
    ":",
    "茶",
    "薄荷",
    "网",
    "关",
    "端",
    "口",
    "为",
    "这",
    "个",
    "句",
    "子",
    "生",
    "成",
    "表",
    "示",
]
WORDS += list("以用于检索相关文章：?？.") + [
    f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz0123456789"
]
WORDS += list("abcdefghijklmnopqrstuvwxyz0123456789")
LONGEST = 24


def _parts(folder):
    folder.mkdir(parents=True)
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *dict.fromkeys(WORDS)]), "utf-8"
    )
    from transformers import BertConfig, BertTokenizerFast

    tokenizer = BertTokenizerFast(str(vocabulary), model_max_length=LONGEST)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        initializer_range=0.5,  # so that texts differ although nothing was learnt
    )
    return tokenizer, config


@pytest.fixture
def save_model(tmp_path):
    """Saves an embedding model under a name and gives its folder."""

    def save(name="tiny", *, seed=7, pooling="cls", prompts=None):
        import torch
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
        from transformers import BertModel

        torch.manual_seed(seed)
        raw = tmp_path / f"raw-{name}-{seed}"
        tokenizer, config = _parts(raw)
        BertModel(config).save_pretrained(raw)
        tokenizer.save_pretrained(raw)
        transformer = Transformer(str(raw), max_seq_length=LONGEST)
        folder = tmp_path / name
        SentenceTransformer(
            modules=[transformer, Pooling(config.hidden_size, pooling_mode=pooling), Normalize()],
            device="cpu",
        ).save(str(folder), create_model_card=False)
        if prompts is not None:
            path = folder / "config_sentence_transformers.json"
            path.write_text(
                json.dumps({**json.loads(path.read_text()), "prompts": prompts}, ensure_ascii=False)
            )
        return folder

    return save


@pytest.fixture
def save_encoder(tmp_path):
    """Saves a cross-encoder and gives its folder."""

    def save(labels=1):
        import torch
        from transformers import BertForSequenceClassification

        torch.manual_seed(11)
        folder = tmp_path / f"encoder-{labels}"
        tokenizer, config = _parts(folder)
        config.num_labels = labels
        BertForSequenceClassification(config).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return folder

    return save
