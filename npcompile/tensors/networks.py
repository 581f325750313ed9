"""Functions of ``torch.nn.functional`` as compositions: activations, losses, norms, attention."""

from __future__ import annotations

import math
from typing import Any

from npcompile.tensors.arithmetic import is_tensor
from npcompile.tensors.expressions import composition

_F = "nn.functional."


def _fresh(input: Any, inplace: Any) -> None:
    """Refuses to write into an operand."""
    if inplace:
        raise input.refuse("in place")


# ------------------------------------------------------------------ activations


@composition(_F + "relu6")
def relu6(input: Any, inplace: Any = False) -> Any:
    """Numbers between 0 and 6."""
    _fresh(input, inplace)
    return input.clamp(0.0, 6.0)


@composition(_F + "hardtanh")
def hardtanh(input: Any, min_val: Any = -1.0, max_val: Any = 1.0, inplace: Any = False) -> Any:
    """Numbers between bounds."""
    _fresh(input, inplace)
    if min_val > max_val:
        raise input.refuse("bounds the wrong way round: Python raises")
    return input.clamp(min_val, max_val)


@composition(_F + "elu")
def elu(input: Any, alpha: Any = 1.0, inplace: Any = False) -> Any:
    """Exponentials less 1 for negative numbers."""
    _fresh(input, inplace)
    return input.where(~(input <= 0), input.expm1() * alpha)


@composition("selu", _F + "selu", method=False)
def selu(input: Any, inplace: Any = False) -> Any:
    """The scaled exponential unit."""
    _fresh(input, inplace)
    scale, alpha = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717
    return (input * scale).where(~(input <= 0), input.expm1() * (alpha * scale))


@composition("celu", _F + "celu", method=False)
def celu(input: Any, alpha: Any = 1.0, inplace: Any = False) -> Any:
    """The exponential unit with a continuous slope."""
    _fresh(input, inplace)
    if alpha == 0:
        raise input.refuse("alpha of 0: Python raises")
    return input.where(~(input <= 0), (input * (1.0 / alpha)).expm1() * alpha)


@composition(_F + "leaky_relu")
def leaky_relu(input: Any, negative_slope: Any = 0.01, inplace: Any = False) -> Any:
    """Negative numbers with a smaller slope."""
    _fresh(input, inplace)
    return input.where(input > 0, input * negative_slope)


@composition("prelu", _F + "prelu")
def prelu(input: Any, weight: Any) -> Any:
    """Negative numbers with a slope that is given, one for all or one for each channel."""
    if weight.ndim > 1 or weight.dtype != input.dtype:
        raise input.refuse("a weight of several axes, or of another dtype")
    if weight.ndim == 1 and input.ndim > 2:
        weight = weight.reshape(-1, *[1] * (input.ndim - 2))
    if weight.ndim == 1 and input.ndim < 2:
        raise input.refuse("a weight for each channel of a vector")
    return input.where(input > 0, weight * input)


@composition(_F + "gelu")
def gelu(input: Any, approximate: Any = "none") -> Any:
    """Numbers times the normal distribution's function of them."""
    if approximate == "tanh":
        inner = math.sqrt(2 / math.pi) * (input + 0.044715 * (input * input * input))
        return 0.5 * input * (1.0 + inner.tanh())
    if approximate != "none":
        raise input.refuse("an approximation that torch does not know: Python raises")
    return input * 0.5 * (1.0 + (input * math.sqrt(0.5)).erf())


@composition(_F + "silu")
def silu(input: Any, inplace: Any = False) -> Any:
    """Numbers times their logistic function."""
    _fresh(input, inplace)
    return input / (1.0 + (-input).exp())


@composition(_F + "mish")
def mish(input: Any, inplace: Any = False) -> Any:
    """Numbers times the hyperbolic tangent of softplus."""
    _fresh(input, inplace)
    return input * input.exp().log1p().tanh()


@composition(_F + "softplus")
def softplus(input: Any, beta: Any = 1.0, threshold: Any = 20.0) -> Any:
    """``log(1 + exp(beta x)) / beta``, or x where that is the same."""
    scaled = input * beta
    return input.where(scaled > threshold, scaled.exp().log1p() / beta)


@composition(_F + "logsigmoid")
def logsigmoid(input: Any) -> Any:
    """The logarithm of the logistic function."""
    return input.clamp(None, 0.0) - (-input.abs()).exp().log1p()


@composition(_F + "softsign")
def softsign(input: Any) -> Any:
    """``x / (1 + |x|)``"""
    return input / (input.abs() + 1)


@composition(_F + "tanhshrink")
def tanhshrink(input: Any) -> Any:
    """``x - tanh(x)``"""
    return input - input.tanh()


@composition(_F + "softshrink")
def softshrink(input: Any, lambd: Any = 0.5) -> Any:
    """Numbers moved towards 0."""
    if lambd < 0:
        raise input.refuse("a negative width: Python raises")
    less = (input + lambd).where(input < -lambd, input * 0.0)
    return (input - lambd).where(input > lambd, less)


@composition(_F + "hardsigmoid")
def hardsigmoid(input: Any, inplace: Any = False) -> Any:
    """The logistic function in three lines."""
    _fresh(input, inplace)
    return (input + 3.0).clamp(0.0, 6.0) * (1.0 / 6.0)


@composition(_F + "hardswish")
def hardswish(input: Any, inplace: Any = False) -> Any:
    """Numbers times that."""
    _fresh(input, inplace)
    return input * (input + 3.0).clamp(0.0, 6.0) * (1.0 / 6.0)


@composition(_F + "glu")
def glu(input: Any, dim: Any = -1) -> Any:
    """The first half times the logistic function of the second."""
    if not input.ndim:
        raise input.refuse("of no axes: Python raises")
    parts = input.chunk(2, dim)
    if len(parts) != 2 or not _same_shape(*parts):
        raise input.refuse("of an axis of odd length: Python raises")
    return parts[0] * parts[1].sigmoid()


@composition(_F + "softmin")
def softmin(input: Any, dim: Any, dtype: Any = None) -> Any:
    """The softmax of negative numbers."""
    return (-input).softmax(dim, dtype)


# ------------------------------------------------------------------ losses


def _reduced(loss: Any, reduction: Any) -> Any:
    if reduction == "mean":
        return loss.mean()
    if reduction == "sum":
        return loss.sum()
    if reduction != "none":
        raise loss.refuse("a reduction that torch does not know: Python raises")
    return loss


def _alike(input: Any, *others: Any) -> None:
    """Refuses operands of other shapes, of which torch warns, and of other dtypes."""
    for x in others:
        if x.dtype != input.dtype or not _same_shape(input, x):
            raise input.refuse("of unlike shapes or dtypes")


def _same_shape(one: Any, other: Any) -> bool:
    equal = one.ctx.facts.equal
    return one.ndim == other.ndim and all(map(equal, one.shape, other.shape))


def _current(input: Any, *old: Any) -> None:
    """Refuses options of old."""
    if any(x is not None for x in old):
        raise input.refuse("options that torch warns of")


@composition(_F + "mse_loss")
def mse_loss(input: Any, target: Any, size_average: Any = None, reduce: Any = None,
             reduction: Any = "mean", weight: Any = None) -> Any:
    """Squares of differences."""
    _current(input, size_average, reduce, weight)
    _alike(input, target)
    return _reduced((input - target).square(), reduction)


@composition(_F + "l1_loss")
def l1_loss(input: Any, target: Any, size_average: Any = None, reduce: Any = None,
            reduction: Any = "mean", weight: Any = None) -> Any:
    """Absolute differences."""
    _current(input, size_average, reduce, weight)
    _alike(input, target)
    return _reduced((input - target).abs(), reduction)


@composition(_F + "smooth_l1_loss")
def smooth_l1_loss(input: Any, target: Any, size_average: Any = None, reduce: Any = None,
                   reduction: Any = "mean", beta: Any = 1.0) -> Any:
    """Absolute differences, squares of small ones."""
    _current(input, size_average, reduce)
    _alike(input, target)
    error = (input - target).abs()
    if beta < 0:
        raise input.refuse("a negative beta: Python raises")
    if beta == 0:
        return _reduced(error, reduction)
    small = 0.5 * error * error / beta
    return _reduced(small.where(error < beta, error - 0.5 * beta), reduction)


@composition(_F + "huber_loss")
def huber_loss(input: Any, target: Any, reduction: Any = "mean", delta: Any = 1.0,
               weight: Any = None) -> Any:
    """Squares of small differences, else lines."""
    _current(input, weight)
    _alike(input, target)
    if delta <= 0:
        raise input.refuse("a delta that is not positive: Python raises")
    error = (input - target).abs()
    small = 0.5 * error * error
    return _reduced(small.where(error <= delta, delta * (error - 0.5 * delta)), reduction)


@composition(_F + "soft_margin_loss")
def soft_margin_loss(input: Any, target: Any, size_average: Any = None, reduce: Any = None,
                     reduction: Any = "mean") -> Any:
    """``log(1 + exp(-target input))``"""
    _current(input, size_average, reduce)
    _alike(input, target)
    return _reduced((-target * input).exp().log1p(), reduction)


@composition(_F + "hinge_embedding_loss", "hinge_embedding_loss", method=False)
def hinge_embedding_loss(input: Any, target: Any, margin: Any = 1.0, size_average: Any = None,
                         reduce: Any = None, reduction: Any = "mean") -> Any:
    """Distances of pairs that are alike, and hinges of others."""
    if type(reduction) is int:
        raise input.refuse("a reduction by its number")
    _current(input, size_average, reduce)
    _alike(input, target)
    far = (margin - input).clamp(0.0).where(~(target == 1), target * 0.0)
    near = input.where(~(target == -1), target * 0.0)
    return _reduced(far + near, reduction)


@composition(_F + "margin_ranking_loss", "margin_ranking_loss", method=False)
def margin_ranking_loss(input1: Any, input2: Any, target: Any, margin: Any = 0.0,
                        size_average: Any = None, reduce: Any = None,
                        reduction: Any = "mean") -> Any:
    """Hinges of differences."""
    if type(reduction) is int:
        raise input1.refuse("a reduction by its number")
    _current(input1, size_average, reduce)
    _alike(input1, input2, target)
    return _reduced((-target * (input1 - input2) + margin).clamp(0.0), reduction)




@composition(_F + "binary_cross_entropy_with_logits", "binary_cross_entropy_with_logits",
             method=False)
def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, reduce: Any = None,
    reduction: Any = "mean", pos_weight: Any = None,
) -> Any:
    """The cross entropy of logits."""
    if type(reduction) is int or type(size_average) is int:
        raise input.refuse("a reduction by its number")
    _current(input, size_average, reduce)
    _alike(input, target)
    tail = (-input.abs()).exp().log1p() + (-input).clamp(0.0)
    if pos_weight is not None:
        loss = (1 - target) * input + ((pos_weight - 1) * target + 1) * tail
    else:
        loss = (1 - target) * input + tail
    return _reduced(loss if weight is None else loss * weight, reduction)


@composition(_F + "kl_div")
def kl_div(input: Any, target: Any, size_average: Any = None, reduce: Any = None,
           reduction: Any = "mean", log_target: Any = False) -> Any:
    """Kullback and Leibler's divergence."""
    _current(input, size_average, reduce)
    _alike(input, target)
    if log_target:
        loss = target.exp() * (target - input)
    else:
        loss = target.xlogy(target) - target * input
    if reduction == "batchmean" and input.ndim:
        return loss.sum() / loss.shape[0] if isinstance(loss.shape[0], int) else _refuse(loss)
    if reduction == "mean":
        raise input.refuse("the mean: torch warns")
    return _reduced(loss, reduction)


def _refuse(x: Any) -> Any:
    raise x.refuse("a batch whose length only the run knows")


@composition(_F + "poisson_nll_loss")
def poisson_nll_loss(
    input: Any, target: Any, log_input: Any = True, full: Any = False, size_average: Any = None,
    eps: Any = 1e-8, reduce: Any = None, reduction: Any = "mean",
) -> Any:
    """The negative logarithm of Poisson's likelihood."""
    _current(input, size_average, reduce)
    _alike(input, target)
    if full:
        raise input.refuse("Stirling's terms")
    loss = input.exp() - target * input if log_input else input - target * (input + eps).log()
    return _reduced(loss, reduction)




# ------------------------------------------------------------------ norms and distances


@composition(_F + "normalize")
def normalize(input: Any, p: Any = 2.0, dim: Any = 1, eps: Any = 1e-12, out: Any = None) -> Any:
    """Vectors of length 1."""
    if out is not None or p != 2 or not input.ndim:
        raise input.refuse("out=, or another norm than the Euclidean")
    return input / input.norm(2, dim, True).clamp(eps).do("Tensor.expand_as", input)


@composition("cosine_similarity", _F + "cosine_similarity", method=False)
def cosine_similarity(x1: Any, x2: Any, dim: Any = 1, eps: Any = 1e-8) -> Any:
    """The cosine of the angle between vectors."""
    if x1.dtype != x2.dtype or not x1.ndim or not _same_shape(x1, x2):
        raise x1.refuse("of shapes or dtypes that may be unlike")
    lengths = [x.square().sum(dim, True).sqrt().clamp(eps) for x in (x1, x2)]
    return ((x1 / lengths[0]) * (x2 / lengths[1])).sum(dim)


@composition("pairwise_distance", _F + "pairwise_distance", method=False)
def pairwise_distance(x1: Any, x2: Any, p: Any = 2.0, eps: Any = 1e-6, keepdim: Any = False) -> Any:
    """The distances of vectors."""
    if p != 2 or x1.dtype != x2.dtype or not x1.ndim or not _same_shape(x1, x2):
        raise x1.refuse("another distance than the Euclidean, or of unlike operands")
    return (x1 - x2 + eps).norm(2, -1, keepdim)


@composition("layer_norm", _F + "layer_norm", method=False)
def layer_norm(input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None,
               eps: Any = 1e-5, cudnn_enable: Any = True) -> Any:
    """Numbers less their mean over the last axes, over their deviation."""
    shape = normalized_shape if isinstance(normalized_shape, (tuple, list)) else (normalized_shape,)
    axes = tuple(range(-len(shape), 0))
    if not shape or len(shape) > input.ndim:
        raise input.refuse("over axes that are not there: Python raises")
    _ends_like(input, shape)
    found = _normal(input.contiguous(), axes, eps)
    return _affine(found, weight, bias, shape)


def _ends_like(input: Any, shape: Any) -> None:
    """Demands the lengths of the last axes."""
    from npcompile.ops.arguments import integer, require
    from npcompile.tensors.expressions import plain

    for n, given in zip(input.shape[-len(shape):], shape):
        wanted = integer(input.ctx, plain(given), "layer_norm")
        require(input.ctx, "==", n, wanted, "layer_norm: another shape")


def _normal(input: Any, axes: Any, eps: Any) -> Any:
    moved = input - input.mean(axes, True)
    return moved / (moved.square().mean(axes, True) + eps).sqrt()


def _affine(found: Any, weight: Any, bias: Any, shape: Any) -> Any:
    for x in (weight, bias):
        if x is not None:
            if x.ndim != len(shape) or x.dtype != found.dtype:
                raise found.refuse("weights of another shape or dtype")
            _ends_like(x, shape)
    found = found if weight is None else found * weight
    return found if bias is None else found + bias


@composition("rms_norm", _F + "rms_norm", method=False)
def rms_norm(input: Any, normalized_shape: Any, weight: Any = None, eps: Any = None) -> Any:
    """Numbers over the root of their mean square."""
    import numpy as np

    shape = tuple(normalized_shape)
    if not shape or len(shape) > input.ndim:
        raise input.refuse("over axes that are not there: Python raises")
    _ends_like(input, shape)
    axes = tuple(range(-len(shape), 0))
    least = float(np.finfo(input.dtype).eps) if eps is None else eps
    input = input.contiguous()
    found = input * (input.square().mean(axes, True) + least).rsqrt()
    return _affine(found, weight, None, shape)


@composition("group_norm", _F + "group_norm", method=False)
def group_norm(input: Any, num_groups: Any, weight: Any = None, bias: Any = None,
               eps: Any = 1e-5, cudnn_enabled: Any = True) -> Any:
    """Numbers less their mean over groups of channels, over their deviation."""
    from npcompile.ops.arguments import pinned

    if input.ndim < 2 or type(num_groups) is not int or num_groups < 1:
        raise input.refuse("of less than two axes: Python raises")
    channels = pinned(input.ctx, input.shape[1])
    batch = pinned(input.ctx, input.shape[0])
    if channels % num_groups or not channels or not batch:
        raise input.refuse("groups of unlike size: Python raises")
    grouped = input.contiguous().reshape(batch, num_groups, -1)
    found = _normal(grouped, (-1,), eps).do("Tensor.view_as", input)
    return _by_channel(found, weight, bias)


def _by_channel(found: Any, weight: Any, bias: Any) -> Any:
    for x in (weight, bias):
        if x is not None and (x.ndim != 1 or x.dtype != found.dtype):
            raise found.refuse("weights of another shape or dtype")
    more = [1] * (found.ndim - 2)
    found = found if weight is None else found * weight.reshape(-1, *more)
    return found if bias is None else found + bias.reshape(-1, *more)


@composition("instance_norm", _F + "instance_norm", method=False)
def instance_norm(
    input: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None,
    bias: Any = None, use_input_stats: Any = True, momentum: Any = 0.1, eps: Any = 1e-5,
    cudnn_enabled: Any = True,
) -> Any:
    """Numbers less their mean in each channel, over their deviation."""
    if running_mean is not None or running_var is not None or not use_input_stats:
        raise input.refuse("running statistics")
    if input.ndim < 3:
        raise input.refuse("of less than three axes: Python raises")
    found = _normal(input.contiguous(), tuple(range(2, input.ndim)), eps)
    return _by_channel(found, weight, bias)


@composition("batch_norm", _F + "batch_norm", method=False)
def batch_norm(
    input: Any, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None,
    training: Any = False, momentum: Any = 0.1, eps: Any = 1e-5, cudnn_enabled: Any = True,
) -> Any:
    """Numbers less a mean that is given, over a deviation that is given, by channels."""
    if training or running_mean is None or running_var is None or input.ndim < 2:
        raise input.refuse("statistics of the operand")
    stats = (running_mean, running_var)
    if any(x.ndim != 1 or x.dtype != input.dtype for x in stats):
        raise input.refuse("statistics of another shape or dtype")
    more = [1] * (input.ndim - 2)
    mean, var = (x.reshape(-1, *more) for x in stats)
    return _by_channel((input - mean) * (var + eps).rsqrt(), weight, bias)


# ------------------------------------------------------------------ products


@composition(_F + "linear")
def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """``input @ weight.T + bias``"""
    if input.dtype != weight.dtype or weight.ndim not in (1, 2) or not input.ndim:
        raise input.refuse("of unlike dtypes, or of other numbers of axes")
    found = input @ (weight.t() if weight.ndim == 2 else weight)
    if bias is None:
        return found
    if bias.dtype != found.dtype or bias.ndim > found.ndim:
        raise input.refuse("a bias of another shape or dtype")
    return found + bias


@composition(_F + "scaled_dot_product_attention")
def attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: Any = 0.0,
    is_causal: Any = False, scale: Any = None, enable_gqa: Any = False,
) -> Any:
    """Values weighted by the softmax of products of queries and keys."""
    from npcompile.ops.arguments import pinned

    if dropout_p or is_causal or enable_gqa or query.ndim < 2:
        raise query.refuse("dropout, a causal mask or groups of queries")
    if attn_mask is not None and attn_mask.dtype != query.dtype:
        raise query.refuse("a mask of another dtype")
    if len({query.dtype, key.dtype, value.dtype}) > 1 or len(
            {query.ndim, key.ndim, value.ndim}) > 1:
        raise query.refuse("of unlike dtypes or ranks")
    factor = 1 / math.sqrt(pinned(query.ctx, query.shape[-1])) if scale is None else scale
    scores = (query @ key.transpose(-2, -1)) * factor
    if is_tensor(attn_mask):
        scores = scores + attn_mask
    return scores.softmax(-1) @ value
