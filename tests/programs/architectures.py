"""Architectures of transformers from small configurations, with weights of NumPy's numbers: training, and generation."""

import numpy as np
import torch
import transformers

from .packages import numbers

transformers.logging.set_verbosity_error()

SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
ARCHITECTURES = {
    "gpt2": (
        "GPT2LMHeadModel",
        "GPT2Config",
        {
            "vocab_size": 97,
            "n_embd": 32,
            "n_layer": 2,
            "n_head": 4,
            "n_positions": 64,
            "bos_token_id": 1,
            "eos_token_id": 2,
        },
    ),
    "gpt_neo": (
        "GPTNeoForCausalLM",
        "GPTNeoConfig",
        {
            "vocab_size": 97,
            "hidden_size": 32,
            "num_layers": 2,
            "num_heads": 4,
            "attention_types": [[["global", "local"], 1]],
            "max_position_embeddings": 64,
            "window_size": 4,
            "bos_token_id": 1,
            "eos_token_id": 2,
        },
    ),
    "gpt_neox": (
        "GPTNeoXForCausalLM",
        "GPTNeoXConfig",
        dict(vocab_size=97, **SMALL, max_position_embeddings=64, bos_token_id=1, eos_token_id=2),
    ),
    "gptj": (
        "GPTJForCausalLM",
        "GPTJConfig",
        {
            "vocab_size": 97,
            "n_embd": 32,
            "n_layer": 2,
            "n_head": 4,
            "n_positions": 64,
            "rotary_dim": 4,
            "bos_token_id": 1,
            "eos_token_id": 2,
        },
    ),
    "llama": (
        "LlamaForCausalLM",
        "LlamaConfig",
        dict(vocab_size=97, **SMALL, max_position_embeddings=64, num_key_value_heads=2),
    ),
    "mistral": (
        "MistralForCausalLM",
        "MistralConfig",
        dict(vocab_size=97, **SMALL, max_position_embeddings=64, num_key_value_heads=2, sliding_window=4),
    ),
    "mixtral": (
        "MixtralForCausalLM",
        "MixtralConfig",
        dict(vocab_size=97, **SMALL, max_position_embeddings=64, num_key_value_heads=2, num_local_experts=4),
    ),
    "qwen2": (
        "Qwen2ForCausalLM",
        "Qwen2Config",
        dict(vocab_size=97, **SMALL, max_position_embeddings=64, num_key_value_heads=2),
    ),
    "qwen3": (
        "Qwen3ForCausalLM",
        "Qwen3Config",
        dict(vocab_size=97, **SMALL, max_position_embeddings=64, num_key_value_heads=2, head_dim=8),
    ),
    "gemma": (
        "GemmaForCausalLM",
        "GemmaConfig",
        dict(vocab_size=97, **SMALL, max_position_embeddings=64, num_key_value_heads=2, head_dim=8),
    ),
    "gemma2": (
        "Gemma2ForCausalLM",
        "Gemma2Config",
        dict(vocab_size=97, **SMALL, max_position_embeddings=64, num_key_value_heads=2, head_dim=8, sliding_window=4),
    ),
    "phi": ("PhiForCausalLM", "PhiConfig", dict(vocab_size=97, **SMALL, max_position_embeddings=64)),
    "phi3": (
        "Phi3ForCausalLM",
        "Phi3Config",
        dict(
            vocab_size=97,
            **SMALL,
            max_position_embeddings=64,
            num_key_value_heads=2,
            pad_token_id=0,
            bos_token_id=1,
            eos_token_id=2,
        ),
    ),
    "falcon": (
        "FalconForCausalLM",
        "FalconConfig",
        {
            "vocab_size": 97,
            "hidden_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "bos_token_id": 1,
            "eos_token_id": 2,
        },
    ),
    "bloom": ("BloomForCausalLM", "BloomConfig", {"vocab_size": 97, "hidden_size": 32, "n_layer": 2, "n_head": 4}),
    "opt": (
        "OPTForCausalLM",
        "OPTConfig",
        {
            "vocab_size": 97,
            "hidden_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "ffn_dim": 64,
            "max_position_embeddings": 64,
            "word_embed_proj_dim": 32,
        },
    ),
    "olmo": ("OlmoForCausalLM", "OlmoConfig", dict(vocab_size=97, **SMALL, max_position_embeddings=64)),
    "stablelm": (
        "StableLmForCausalLM",
        "StableLmConfig",
        dict(vocab_size=97, **SMALL, max_position_embeddings=64, num_key_value_heads=2),
    ),
    "starcoder2": (
        "Starcoder2ForCausalLM",
        "Starcoder2Config",
        dict(
            vocab_size=97,
            **SMALL,
            max_position_embeddings=64,
            num_key_value_heads=2,
            sliding_window=None,
            bos_token_id=1,
            eos_token_id=2,
        ),
    ),
    "cohere": (
        "CohereForCausalLM",
        "CohereConfig",
        dict(vocab_size=97, **SMALL, max_position_embeddings=64, num_key_value_heads=2),
    ),
    "granite": (
        "GraniteForCausalLM",
        "GraniteConfig",
        dict(vocab_size=97, **SMALL, max_position_embeddings=64, num_key_value_heads=2),
    ),
    "mamba": (
        "MambaForCausalLM",
        "MambaConfig",
        {"vocab_size": 97, "hidden_size": 32, "num_hidden_layers": 2, "state_size": 8},
    ),
    "rwkv": (
        "RwkvForCausalLM",
        "RwkvConfig",
        {"vocab_size": 97, "hidden_size": 32, "num_hidden_layers": 2, "context_length": 32},
    ),
    "bert": ("BertForMaskedLM", "BertConfig", dict(vocab_size=97, **SMALL, max_position_embeddings=64)),
    "roberta": ("RobertaForMaskedLM", "RobertaConfig", dict(vocab_size=97, **SMALL, max_position_embeddings=66)),
    "distilbert": (
        "DistilBertForMaskedLM",
        "DistilBertConfig",
        {"vocab_size": 97, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64, "max_position_embeddings": 64},
    ),
    "albert": (
        "AlbertForMaskedLM",
        "AlbertConfig",
        dict(vocab_size=97, **SMALL, max_position_embeddings=64, embedding_size=16),
    ),
    "electra": (
        "ElectraForMaskedLM",
        "ElectraConfig",
        dict(vocab_size=97, **SMALL, max_position_embeddings=64, embedding_size=16),
    ),
    "deberta": ("DebertaForMaskedLM", "DebertaConfig", dict(vocab_size=97, **SMALL, max_position_embeddings=64)),
    "debertav2": (
        "DebertaV2ForMaskedLM",
        "DebertaV2Config",
        dict(
            vocab_size=97,
            **SMALL,
            max_position_embeddings=64,
            relative_attention=True,
            position_buckets=8,
            pos_att_type=["p2c", "c2p"],
        ),
    ),
    "mpnet": ("MPNetForMaskedLM", "MPNetConfig", dict(vocab_size=97, **SMALL, max_position_embeddings=66)),
    "xlnet": (
        "XLNetLMHeadModel",
        "XLNetConfig",
        {"vocab_size": 97, "d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 64},
    ),
    "funnel": (
        "FunnelForMaskedLM",
        "FunnelConfig",
        {
            "vocab_size": 97,
            "block_sizes": [1, 1],
            "d_model": 32,
            "n_head": 4,
            "d_head": 8,
            "d_inner": 64,
            "num_decoder_layers": 1,
        },
    ),
    "longformer": (
        "LongformerForMaskedLM",
        "LongformerConfig",
        dict(vocab_size=97, **SMALL, max_position_embeddings=66, attention_window=4),
    ),
    "convbert": (
        "ConvBertForMaskedLM",
        "ConvBertConfig",
        dict(vocab_size=97, **SMALL, max_position_embeddings=64, embedding_size=16),
    ),
    "modernbert": (
        "ModernBertForMaskedLM",
        "ModernBertConfig",
        dict(vocab_size=97, **SMALL, max_position_embeddings=64, pad_token_id=0, local_attention=4),
    ),
    "t5": (
        "T5ForConditionalGeneration",
        "T5Config",
        {
            "vocab_size": 97,
            "d_model": 32,
            "d_kv": 8,
            "d_ff": 64,
            "num_layers": 2,
            "num_heads": 4,
            "decoder_start_token_id": 0,
        },
    ),
    "bart": (
        "BartForConditionalGeneration",
        "BartConfig",
        {
            "vocab_size": 97,
            "d_model": 32,
            "encoder_layers": 2,
            "decoder_layers": 2,
            "encoder_attention_heads": 4,
            "decoder_attention_heads": 4,
            "encoder_ffn_dim": 64,
            "decoder_ffn_dim": 64,
            "max_position_embeddings": 64,
            "forced_eos_token_id": None,
        },
    ),
    "pegasus": (
        "PegasusForConditionalGeneration",
        "PegasusConfig",
        {
            "vocab_size": 97,
            "d_model": 32,
            "encoder_layers": 2,
            "decoder_layers": 2,
            "encoder_attention_heads": 4,
            "decoder_attention_heads": 4,
            "encoder_ffn_dim": 64,
            "decoder_ffn_dim": 64,
            "max_position_embeddings": 64,
            "forced_eos_token_id": None,
        },
    ),
    "marian": (
        "MarianMTModel",
        "MarianConfig",
        {
            "vocab_size": 97,
            "d_model": 32,
            "encoder_layers": 2,
            "decoder_layers": 2,
            "encoder_attention_heads": 4,
            "decoder_attention_heads": 4,
            "encoder_ffn_dim": 64,
            "decoder_ffn_dim": 64,
            "max_position_embeddings": 64,
            "pad_token_id": 0,
            "eos_token_id": 2,
            "decoder_start_token_id": 0,
            "forced_eos_token_id": None,
        },
    ),
    "vit": ("ViTForImageClassification", "ViTConfig", dict(**SMALL, image_size=16, patch_size=4, num_labels=5)),
    "deit": ("DeiTForImageClassification", "DeiTConfig", dict(**SMALL, image_size=16, patch_size=4, num_labels=5)),
    "beit": ("BeitForImageClassification", "BeitConfig", dict(**SMALL, image_size=16, patch_size=4, num_labels=5)),
    "swin": (
        "SwinForImageClassification",
        "SwinConfig",
        {
            "image_size": 16,
            "patch_size": 2,
            "embed_dim": 16,
            "depths": [1, 1],
            "num_heads": [2, 2],
            "window_size": 2,
            "num_labels": 5,
        },
    ),
    "convnext": (
        "ConvNextForImageClassification",
        "ConvNextConfig",
        {
            "hidden_sizes": [8, 16],
            "depths": [1, 1],
            "num_stages": 2,
            "patch_size": 2,
            "num_labels": 5,
            "image_size": 16,
        },
    ),
    "resnet": (
        "ResNetForImageClassification",
        "ResNetConfig",
        {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1], "num_labels": 5},
    ),
    "dinov2": (
        "Dinov2ForImageClassification",
        "Dinov2Config",
        {
            "hidden_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "image_size": 16,
            "patch_size": 4,
            "num_labels": 5,
        },
    ),
    "clip": (
        "CLIPModel",
        "CLIPConfig",
        {
            "text_config": dict(
                vocab_size=97, **SMALL, max_position_embeddings=16, projection_dim=16, eos_token_id=2, bos_token_id=1
            ),
            "vision_config": dict(**SMALL, image_size=16, patch_size=4, projection_dim=16),
            "projection_dim": 16,
        },
    ),
    "wav2vec2": (
        "Wav2Vec2ForCTC",
        "Wav2Vec2Config",
        dict(
            vocab_size=97,
            **SMALL,
            conv_dim=[8, 8],
            conv_stride=[4, 2],
            conv_kernel=[8, 4],
            num_feat_extract_layers=2,
            num_conv_pos_embeddings=4,
            num_conv_pos_embedding_groups=2,
            apply_spec_augment=False,
            pad_token_id=0,
        ),
    ),
    "whisper": (
        "WhisperForConditionalGeneration",
        "WhisperConfig",
        {
            "vocab_size": 97,
            "d_model": 32,
            "encoder_layers": 1,
            "decoder_layers": 1,
            "encoder_attention_heads": 4,
            "decoder_attention_heads": 4,
            "encoder_ffn_dim": 64,
            "decoder_ffn_dim": 64,
            "max_source_positions": 16,
            "max_target_positions": 32,
            "num_mel_bins": 8,
            "decoder_start_token_id": 1,
            "pad_token_id": 0,
            "bos_token_id": 1,
            "eos_token_id": 2,
            "suppress_tokens": None,
            "begin_suppress_tokens": None,
        },
    ),
}
"""The model, its configuration, and the options of that."""

IMAGES = {"vit", "deit", "beit", "swin", "convnext", "resnet", "dinov2"}
WITHOUT_GENERATION = {"xlnet", "rwkv", "whisper"}
GENERATING = ("CausalLM", "LMHeadModel", "ConditionalGeneration", "MTModel")


def model(name):
    """The model, without dropout, whose weights are small normal numbers, and near 1 in normalisations."""
    kind, configuration, options = ARCHITECTURES[name]
    config = getattr(transformers, configuration)(**options)
    for each in dir(config):
        if ("drop" in each or each.endswith("pdrop")) and isinstance(getattr(config, each, None), float):
            setattr(config, each, 0.0)
    made = getattr(transformers, kind)(config)
    draw = np.random.default_rng(0)
    with torch.no_grad():
        for key, parameter in sorted(made.named_parameters()):
            values = np.asarray(draw.standard_normal(tuple(parameter.shape)) * 0.05)
            if key.endswith("weight") and ("norm" in key.lower() or "ln_" in key):
                values = values + 1
            parameter.copy_(torch.from_numpy(np.asarray(values, "float32")))
    return made.train()


def inputs(name):
    """What the model is called with."""
    ids = torch.from_numpy(np.random.default_rng(1).integers(3, 97, (2, 12)))
    if name in IMAGES:
        return {"pixel_values": numbers(2, 3, 16, 16), "labels": torch.tensor([1, 3])}
    if name == "clip":
        ids[:, -1] = 2
        return {"input_ids": ids, "pixel_values": numbers(2, 3, 16, 16), "return_loss": True}
    if name == "wav2vec2":
        return {"input_values": numbers(2, 400), "labels": ids[:, :4]}
    if name == "whisper":
        return {"input_features": numbers(2, 8, 32), "labels": ids}
    return {"input_ids": ids, "labels": ids}


def run(name):
    """Losses and norms of gradients in three steps of AdamW, and tokens that the model generates, greedily and by beams."""
    made, given = model(name), inputs(name)
    optimizer, found = torch.optim.AdamW(made.parameters(), lr=1e-3), []
    for _ in range(3):
        optimizer.zero_grad()
        loss = made(**given).loss
        loss.backward()
        squares = [float((p.grad.double() ** 2).sum()) for p in made.parameters() if p.grad is not None]
        found += [loss.item(), sum(squares) ** 0.5]
        optimizer.step()
    if "input_ids" in given and name not in WITHOUT_GENERATION and type(made).__name__.endswith(GENERATING):
        made.eval()
        for beams in (1, 3):
            options = {"do_sample": False, "num_beams": beams, "max_new_tokens": 6, "min_new_tokens": 6}
            found += made.generate(given["input_ids"][:, :5], **options).flatten().tolist()
    return found
