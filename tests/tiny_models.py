"""Tiny models with random weights, one of each kind, whose tokens are the words ``w0`` to ``w39``."""

WORDS = [f"w{number}" for number in range(40)]
_SPECIAL = ["[PAD]", "[UNK]", "[BOS]", "[CLS]", "[SEP]"]
_SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
_STACKS = {"d_model": 32, "vocab_size": len(WORDS) + len(_SPECIAL), "pad_token_id": 0, "decoder_start_token_id": 2}


def tokenizer_of(words, *, marks=False, begin=False, longest=32):
    """A tokenizer of words; ``marks`` puts texts between ``[CLS]`` and ``[SEP]``, ``begin`` after ``[BOS]``."""
    import tokenizers
    import transformers

    numbers = {name: number for number, name in enumerate([*_SPECIAL, *words])}
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel(numbers, unk_token="[UNK]"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    if marks:
        ends = [(name, numbers[name]) for name in ("[CLS]", "[SEP]")]
        words.post_processor = tokenizers.processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=ends)
    elif begin:
        words.post_processor = tokenizers.processors.TemplateProcessing("[BOS] $A", special_tokens=[("[BOS]", 2)])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="[PAD]", unk_token="[UNK]", bos_token="[BOS]", model_max_length=longest,
        **({"mask_token": "[UNK]"} if marks else {}),  # what random weights know as little of
    )  # fmt: skip


def models_of_all_kinds():
    """Name → a function that makes the model, and whether its tokenizer marks the ends of texts."""
    import transformers as library

    n, eos = len(WORDS) + len(_SPECIAL), {"bos_token_id": 2, "eos_token_id": 2}
    sizes = {"vocab_size": n, "max_position_embeddings": 32, **_SIZES}
    return {
        "bert": (lambda: library.BertForMaskedLM(library.BertConfig(**sizes)), True),
        "xlm-roberta": (lambda: library.XLMRobertaForMaskedLM(library.XLMRobertaConfig(**sizes, pad_token_id=0)), True),
        "gpt2": (lambda: library.GPT2LMHeadModel(
            library.GPT2Config(vocab_size=n, n_positions=32, n_embd=32, n_layer=2, n_head=2, **eos)
        ), False),
        "llama": (lambda: library.LlamaForCausalLM(
            library.LlamaConfig(**sizes, num_key_value_heads=2, **eos)
        ), False),
        "t5": (lambda: library.T5ForConditionalGeneration(
            library.T5Config(d_kv=16, d_ff=32, num_layers=2, num_heads=2, **_STACKS)
        ), True),
        "mt5": (lambda: library.MT5ForConditionalGeneration(
            library.MT5Config(d_kv=16, d_ff=32, num_layers=2, num_heads=2, **_STACKS)
        ), True),
        "mbart": (lambda: library.MBartForConditionalGeneration(library.MBartConfig(
            encoder_layers=2, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2,
            encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=33, **_STACKS, **eos
        )), True),
    }  # fmt: skip
