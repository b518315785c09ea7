"""f and g are the model's own: f·g + b are its logits, over families of Hugging Face and plain modules, or refused."""

import inspect
import warnings

import numpy as np
import pytest
import torch
from torch import nn

import unmix as um
from unmix.activations import EachToken, Flatten, LastToken, head, record

SIZES = {
    **dict.fromkeys(["vocab_size"], 40),
    **dict.fromkeys(["hidden_size", "embedding_size"], 16),
    **dict.fromkeys(["intermediate_size", "encoder_ffn_dim", "decoder_ffn_dim", "ffn_dim", "d_ff", "hidden_dim"], 20),
    **dict.fromkeys(["num_hidden_layers", "encoder_layers", "decoder_layers", "num_decoder_layers"], 1),
    **dict.fromkeys(["num_attention_heads", "encoder_attention_heads", "decoder_attention_heads"], 2),
    **dict.fromkeys(["num_key_value_heads", "num_experts", "num_local_experts"], 2),
    **dict.fromkeys(["head_dim", "d_kv", "image_size"], 8),
    **dict.fromkeys(["max_position_embeddings"], 32),
    **{"patch_size": 4, "num_labels": 5, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2},
    **{"logits_scaling": 8.0, "depths": [1, 1], "hidden_sizes": [8, 8]},
}
OWN = "of layer .* are not the model's logits: "
CAPPED = OWN + r"they are soft-capped at ±30 \(\w*soft_?cap\w* of its config\)"
SCALED = OWN + r"they are 0\.\d+ times what it gives \(logit\w+ of its config\)"
NAMED = OWN + r"they are what layer classifier\.out_proj gives: name it, head\(model, 'classifier\.out_proj'\)"
MEAN = OWN + "they are the mean of what it and cls_classifier give"

# A few sizes make each tiny; those with a reason are refused by it, and of all others f·g + b must be the logits.
CAUSAL = "GPT2LMHeadModel LlamaForCausalLM MistralForCausalLM MixtralForCausalLM Qwen2ForCausalLM GemmaForCausalLM "
CAUSAL += "OPTForCausalLM GPTNeoXForCausalLM PhiForCausalLM FalconForCausalLM BloomForCausalLM StableLmForCausalLM "
CAUSAL += "MptForCausalLM OlmoForCausalLM MambaForCausalLM BertLMHeadModel XLMWithLMHeadModel BartForCausalLM "
CAUSAL += "Gemma2ForCausalLM RecurrentGemmaForCausalLM CohereForCausalLM GraniteForCausalLM"
MASKED = "BertForMaskedLM RobertaForMaskedLM AlbertForMaskedLM DistilBertForMaskedLM ElectraForMaskedLM "
MASKED += "DebertaV2ForMaskedLM MPNetForMaskedLM SqueezeBertForMaskedLM MobileBertForMaskedLM BertForPreTraining"
PAIRS = "T5ForConditionalGeneration BartForConditionalGeneration MBartForConditionalGeneration MarianMTModel "
PAIRS += "PegasusForConditionalGeneration M2M100ForConditionalGeneration"
TEXTS = "BertForSequenceClassification GPT2ForSequenceClassification LlamaForSequenceClassification "
TEXTS += "T5ForSequenceClassification BartForSequenceClassification XLMRobertaForSequenceClassification"
IMAGES = "ViTForImageClassification DeiTForImageClassification DeiTForImageClassificationWithTeacher "
IMAGES += "BeitForImageClassification ResNetForImageClassification"
REFUSED = {
    "Gemma2ForCausalLM": CAPPED,
    "RecurrentGemmaForCausalLM": CAPPED,
    "CohereForCausalLM": SCALED,
    "GraniteForCausalLM": SCALED,
    "MobileBertForMaskedLM": r"did not call cls\.predictions\.decoder",  # it multiplies by the weights itself
    "XLMRobertaForSequenceClassification": NAMED,  # which defines its classifier before the rest
    "DeiTForImageClassificationWithTeacher": MEAN,
}
ROWS = {CAUSAL: EachToken(), MASKED: EachToken(), PAIRS: EachToken(), TEXTS: LastToken(), IMAGES: Flatten()}


def drawn(model, seed=0):
    """The model with all weights and biases drawn at random: biases start at zero, where they hide."""
    generator = torch.Generator().manual_seed(seed)
    biases = [buffer for name, buffer in model.named_buffers() if "bias" in name and buffer.is_floating_point()]
    with torch.no_grad():
        for numbers in (*model.parameters(), *biases):
            numbers.copy_(torch.randn(numbers.shape, generator=generator) * 0.3)
    return model.eval()


def family(name, **more):
    transformers = pytest.importorskip("transformers")
    kind = getattr(transformers, name)
    known = {*inspect.signature(kind.config_class).parameters, *kind.config_class.attribute_map}
    sizes = {key: value for key, value in SIZES.items() if key in known}
    with torch.random.fork_rng(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what it was not trained
        model = kind(kind.config_class(**sizes | {"decoder_start_token_id": 1} | more))
    if hasattr(model.config, "use_cache"):
        model.config.use_cache = False
    return drawn(model)


def given(kind):
    """Three inputs, each text with the end that classifiers read."""
    generator = torch.Generator().manual_seed(1)
    if kind == IMAGES:
        return {"pixel_values": torch.randn(3, 3, 8, 8, generator=generator)}
    codes = torch.randint(3, 40, (3, 6), generator=generator)
    codes[:, -1] = 2
    texts = {"input_ids": codes, "attention_mask": torch.ones_like(codes)}
    return texts | {"decoder_input_ids": codes} if kind == PAIRS else texts


def quietly(model, inputs, folder, **how):
    return record(model, inputs, [], folder, progress=False, **how).model("m")


def logits_by(canonical):
    return canonical.f @ canonical.g.T + (0 if canonical.bias is None else canonical.bias)


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in ROWS for name in kind.split()])
def test_f_g_and_bias_give_the_logits_or_are_refused(kind, name, tmp_path):
    model, inputs = family(name), given(kind)
    with torch.no_grad():
        output = model(**inputs)
    if name in REFUSED:
        with pytest.raises(um.InputError, match=REFUSED[name]) as said:
            quietly(model, inputs, tmp_path / "run", head=head(model), rows=ROWS[kind])
        assert "\n" not in str(said.value)
        assert not (tmp_path / "run").exists()
        return
    logits = output.logits if "logits" in output else output.prediction_logits
    ours = logits_by(quietly(model, inputs, tmp_path / "run", head=head(model), rows=ROWS[kind]))
    theirs = logits.flatten(0, -2).double().numpy()
    np.testing.assert_allclose(ours, theirs, atol=1e-5 * np.abs(theirs).max())


def test_a_bias_outside_the_layer_is_added(tmp_path):
    model = family("BartForConditionalGeneration")
    outer = model.final_logits_bias.numpy()[0]
    assert np.abs(outer).max() > 0.1
    assert head(model).bias is None
    found = quietly(model, given(PAIRS), tmp_path / "bart", head=head(model), rows=EachToken())
    np.testing.assert_array_equal(found.bias, outer)


def test_a_pooler_and_a_projection_are_no_heads(tmp_path):
    with pytest.raises(
        um.InputError, match=r"no logits of 16 labels.*\(last_hidden_state, pooler_output\): load it with"
    ):
        quietly(model := family("BertModel"), given(MASKED), tmp_path / "run", head=head(model))
    sizes = {
        key: SIZES[key] for key in ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads")
    }
    parts = {"text_config": sizes | {"vocab_size": 40}, "vision_config": sizes | {"image_size": 8, "patch_size": 4}}
    model = family("CLIPModel", **parts, projection_dim=12)
    with pytest.raises(um.InputError, match=r"no logits of 12 labels.*logits_per_image, logits_per_text"):
        quietly(model, given(MASKED) | given(IMAGES), tmp_path / "run", head=head(model))
    assert not (tmp_path / "run").exists()


def test_one_of_two_heads_by_name(tmp_path):
    model, images = family("DeiTForImageClassificationWithTeacher"), given(IMAGES)
    named = head(model, "cls_classifier")
    found = quietly(model, images, tmp_path, head=named, call=lambda model, batch: model(**batch).cls_logits)
    with torch.no_grad():
        np.testing.assert_allclose(logits_by(found), model(**images).cls_logits, atol=1e-5)


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16, torch.float64])
def test_models_of_other_precisions(kind, tmp_path):
    found = {}
    for name in ("LlamaForCausalLM", "BartForConditionalGeneration", "Gemma2ForCausalLM"):
        model, inputs = family(name).to(kind), given(PAIRS if name.startswith("Bart") else CAUSAL)
        try:
            found[name] = quietly(model, inputs, tmp_path / name, head=head(model), rows=EachToken(), dtype=np.float64)
        except um.InputError as error:
            assert "soft-capped" in str(error)  # noqa: PT017  # two of the three are to be recorded
        else:
            with torch.no_grad():
                theirs = model(**inputs).logits.flatten(0, 1).double().numpy()
            off = np.abs(logits_by(found[name]) - theirs).max() / np.abs(theirs).max()
            assert off < (1e-14 if kind == torch.float64 else 2 * torch.finfo(kind).eps)
    assert list(found) == ["LlamaForCausalLM", "BartForConditionalGeneration"]


class Plain(nn.Module):
    """A classifier whose last-defined linear layer is not its last, and what is done to its logits."""

    def __init__(self, after=None):
        super().__init__()
        self.head, self.hidden = nn.Linear(8, 5), nn.Linear(3, 8)
        self.after = after or (lambda logits: logits)

    def forward(self, x):
        return self.after(self.head(torch.tanh(self.hidden(x))))


class Adapted(nn.Linear):
    """A linear layer that gives more than its weights say."""

    def forward(self, x):
        return super().forward(x) + 0.01 * x[..., :1]


def plain(after=None, layer=None):
    with torch.random.fork_rng():
        model = Plain(after)
        model.head = layer or model.head
    return drawn(model)


X = torch.linspace(-2, 3, 21).reshape(7, 3)


def test_the_last_defined_layer_is_not_the_last(tmp_path):
    model = plain()
    with pytest.raises(um.InputError, match=r"of layer hidden .* they are what layer head gives: name it, head\(model"):
        quietly(model, X, tmp_path / "run", head=head(model))
    assert not (tmp_path / "run").exists()
    found = quietly(model, X, tmp_path / "run", head=head(model, "head"))
    np.testing.assert_allclose(logits_by(found), model(X).detach(), atol=1e-6)


@pytest.mark.parametrize(
    "after",
    [lambda a: a.log_softmax(1), lambda a: a.softmax(1), lambda a: (a, a.sum()), lambda a: {"logits": a, "loss": 0}],
)
def test_the_same_distribution_in_another_shape(after, tmp_path):
    """A softmax, its logarithm, and logits among other outputs: p(y|x) is that of f·g + b."""
    model = plain(after)
    found = quietly(model, X, tmp_path, head=head(model, "head"))
    np.testing.assert_allclose(logits_by(found), plain()(X).detach(), atol=1e-6)


@pytest.mark.parametrize(
    ("words", "after"),
    [
        ("they are 3 times what it gives: record the layer before it", lambda a: 3 * a),
        ("they are the sigmoid of what it gives", torch.sigmoid),
        ("they differ by the same numbers in every row", lambda a: a + torch.arange(5)),
        ("they differ by up to .*, so the model changes them", lambda a: a / a.norm(dim=1, keepdim=True)),
        ("they differ by up to .*, so the model changes them", lambda a: 30 * torch.tanh(a / 30)),
        ("they differ by up to .*, so the model changes them", lambda a: a * 0),
        (
            "those of 1 of 5 labels are infinite or NaN, which no",
            lambda a: a.masked_fill(torch.arange(5) == 2, -torch.inf),
        ),
        ("there are 2 of them a row and the layer gives 5", lambda a: a[:, :2]),
        ("no logits of 5 labels, .*embedding", lambda a: {"embedding": a}),
        ("no logits of 5 labels, .*a NoneType", lambda a: None),
        ("shape 5×7 where layer head is given 7 rows", lambda a: a.T),
    ],
)
def test_what_a_model_does_to_its_logits_is_told(words, after, tmp_path):
    model = plain(after)
    with pytest.raises(um.InputError, match=words) as said:
        quietly(model, X, tmp_path / "run", head=head(model, "head"))
    assert "\n" not in str(said.value)
    assert not (tmp_path / "run").exists()


def test_a_layer_that_does_not_give_what_its_weights_say(tmp_path):
    with torch.random.fork_rng():
        model = plain(layer=Adapted(8, 5))
    with pytest.raises(um.InputError, match="layer head gives other numbers than f·g \\+ bias of its weights"):
        quietly(model, X, tmp_path / "run", head=head(model, "head"))
    assert not (tmp_path / "run").exists()


def test_sums_of_many_products_are_not_taken_for_another_layer(tmp_path):
    """Rounding grows with the number of summands, and where they cancel: logits of 1 as differences of 1,000."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = nn.Sequential(nn.Identity(), nn.Linear(20_000, 10))
    x = torch.randn(8, 20_000, generator=torch.Generator().manual_seed(2))
    x[:, :2] = torch.tensor([3e3, -3e3])
    with torch.no_grad():
        model[1].weight[:, :2] = 1.0
    found = quietly(model, x, tmp_path, head=head(model))
    assert np.abs(logits_by(found)).max() < 10


def test_the_bias_is_there_after_a_stop(tmp_path):
    """What a run that goes on knows of the model it knows from its first batch, which is run again."""
    model = family("BartForConditionalGeneration")
    inputs = {name: torch.cat([values] * 3) for name, values in given(PAIRS).items()}
    how = {"head": head(model), "rows": EachToken()}

    def batches(stop):
        for a in range(0, 9, 3):
            if stop and a:
                raise KeyboardInterrupt
            yield {name: values[a : a + 3] for name, values in inputs.items()}

    with pytest.raises(KeyboardInterrupt):
        quietly(model, batches(True), tmp_path, **how)
    found = quietly(model, batches(False), tmp_path, **how)
    np.testing.assert_array_equal(found.bias, model.final_logits_bias[0])
