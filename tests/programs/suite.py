"""The tests that transformers has for every model, for three of them; `scripts/programs --suite` copies this into its tests."""

import unittest
from typing import ClassVar

import torch

for _name in ("nms", "qnms"):  # see packages.py
    torch.library.define(f"torchvision::{_name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")

from transformers import (  # noqa: E402
    BertConfig,
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForNextSentencePrediction,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertLMHeadModel,
    BertModel,
    GPT2Config,
    GPT2ForQuestionAnswering,
    GPT2ForSequenceClassification,
    GPT2ForTokenClassification,
    GPT2LMHeadModel,
    GPT2Model,
    LlamaConfig,
    LlamaForCausalLM,
    LlamaForQuestionAnswering,
    LlamaForSequenceClassification,
    LlamaForTokenClassification,
    LlamaModel,
)

from .test_configuration_common import ConfigTester  # noqa: E402
from .test_modeling_common import ModelTesterMixin, ids_tensor, random_attention_mask  # noqa: E402


class Tester:
    """A small configuration and inputs for it, with the names that transformers' tests ask for."""

    is_training = True
    batch_size, seq_length, key_length, encoder_seq_length, decoder_seq_length = 13, 7, 7, 7, 7
    vocab_size, hidden_size, num_hidden_layers, num_attention_heads, intermediate_size = 99, 32, 2, 4, 37
    num_choices, num_labels, type_sequence_label_size = 4, 3, 2

    def __init__(self, parent, config_class, options):
        self.parent, self.config_class, self.options = parent, config_class, options

    def get_config(self):
        """The configuration."""
        return self.config_class(vocab_size=self.vocab_size, pad_token_id=self.vocab_size - 1, **self.options)

    def prepare_config_and_inputs_for_common(self):
        """The configuration, and the inputs of a model."""
        shape = [self.batch_size, self.seq_length]
        ids = ids_tensor(shape, self.vocab_size - 1)
        return self.get_config(), {"input_ids": ids, "attention_mask": random_attention_mask(shape)}

    prepare_config_and_inputs = prepare_config_and_inputs_for_common


class Models(ModelTesterMixin):
    """What the tests of three models have in common."""

    def setUp(self):
        self.model_tester = Tester(self, self.config_class, self.options)
        self.config_tester = ConfigTester(self, config_class=self.config_class, hidden_size=32)


class GPT(Models, unittest.TestCase):
    """GPT-2."""

    config_class = GPT2Config
    options: ClassVar = {
        "n_embd": 32, "n_layer": 2, "n_head": 4, "n_inner": 37, "n_positions": 64, "bos_token_id": 98, "eos_token_id": 98,
    }  # fmt: skip
    all_model_classes = (
        GPT2Model, GPT2LMHeadModel, GPT2ForQuestionAnswering, GPT2ForSequenceClassification, GPT2ForTokenClassification,
    )  # fmt: skip


SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 37}


class Bert(Models, unittest.TestCase):
    """BERT."""

    config_class = BertConfig
    options: ClassVar = {**SMALL, "max_position_embeddings": 64}
    all_model_classes = (
        BertModel, BertLMHeadModel, BertForMaskedLM, BertForMultipleChoice, BertForNextSentencePrediction,
        BertForQuestionAnswering, BertForSequenceClassification, BertForTokenClassification,
    )  # fmt: skip


class Llama(Models, unittest.TestCase):
    """LLaMA."""

    config_class = LlamaConfig
    options: ClassVar = {**SMALL, "num_key_value_heads": 2, "max_position_embeddings": 64}
    all_model_classes = (
        LlamaModel, LlamaForCausalLM, LlamaForSequenceClassification, LlamaForQuestionAnswering,
        LlamaForTokenClassification,
    )  # fmt: skip
