# SPDX-License-Identifier: Apache-2.0
# What one PyTorch call does not say: pads that differ, operands that may be numbers, indices that count from the end.


def _fold(f, *operands):
    first, *rest = sorted(operands, key=lambda x: not torch.is_tensor(x))  # numbers last
    for x in rest:
        first = f(first, x)
    return first


def _max(a, b):
    return torch.maximum(a, b) if torch.is_tensor(b) else torch.clamp(a, min=b)


def _min(a, b):
    return torch.minimum(a, b) if torch.is_tensor(b) else torch.clamp(a, max=b)


def _clip(x, low, high):
    if low is None and high is None:
        return x
    if low is not None and high is not None and torch.is_tensor(low) != torch.is_tensor(high):
        return torch.clamp(torch.clamp(x, min=low), max=high)
    return torch.clamp(x, low, high)


def _div(a, b, dtype):
    if dtype.is_floating_point:
        return a / b
    a = a if torch.is_tensor(a) else torch.full((), a, dtype=b.dtype, device=b.device)
    return torch.div(a, b, rounding_mode="trunc")


def _mod(a, b, fmod):
    return torch.fmod(a, b) if fmod else torch.remainder(a, b)


def _selu(x, alpha, gamma):
    if abs(alpha - 1.6732632) < 1e-6 and abs(gamma - 1.0507010) < 1e-6:
        return F.selu(x)
    return gamma * F.elu(x, alpha)


def _shrink(x, bias, lambd):
    return torch.where(x < -lambd, x + bias, torch.where(x > lambd, x - bias, torch.zeros_like(x)))


def _is_inf(x, negative, positive):
    if negative and positive:
        return torch.isinf(x)
    return torch.isposinf(x) if positive else torch.isneginf(x)


def _where(c, a, b, dtype):
    y = torch.where(c, a, b)
    return y if torch.is_tensor(a) or torch.is_tensor(b) else y.to(dtype)


def _arg(f, x, axis, keepdims, last):
    if not last:
        return f(x, axis, keepdims != 0)
    return x.shape[axis] - 1 - f(torch.flip(x, (axis,)), axis, keepdims != 0)


def _cum_sum(x, axis, exclusive, reverse):
    axis = int(axis)
    if reverse:
        x = torch.flip(x, (axis,))
    y = torch.cumsum(x, axis)
    if exclusive:
        y = y - x
    return torch.flip(y, (axis,)) if reverse else y


def _layer_norm(x, w, b, axis, epsilon):
    shape = x.shape[axis:]
    w = w if w.shape == shape else w.expand(shape)
    b = b if b is None or b.shape == shape else b.expand(shape)
    return F.layer_norm(x, shape, w, b, epsilon)


def _gemm(a, b, c, alpha, beta, trans_a, trans_b):
    if c is not None and c.dim() == 1 and trans_b and not trans_a and alpha == 1 and beta == 1:
        return F.linear(a, b, c)
    a = a.t() if trans_a else a
    b = b.t() if trans_b else b
    if c is None:
        y = torch.mm(a, b)
        return y if alpha == 1 else alpha * y
    return torch.addmm(c, a, b, beta=beta, alpha=alpha)


def _uneven(x, pads, value=0.0):
    """Pads that are not the same at both ends are taken off the operator."""
    n = len(pads) // 2
    if pads[:n] == pads[n:]:
        return x, pads[:n]
    return F.pad(x, [pads[i + e * n] for i in reversed(range(n)) for e in (0, 1)], value=value), (0,) * n


def _conv(x, w, b, strides, pads, dilations, group):
    x, pads = _uneven(x, pads)
    f = (F.conv1d, F.conv2d, F.conv3d)[len(strides) - 1]
    return f(x, w, b, strides, pads, dilations, group)


def _conv_transpose(x, w, b, strides, pads, output_padding, group, dilations):
    n = len(strides)
    assert pads[:n] == pads[n:], "ConvTranspose with pads that differ"
    f = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[n - 1]
    return f(x, w, b, strides, pads[:n], output_padding or (0,) * n, group, dilations)


def _max_pool(x, kernel, strides, pads, dilations, ceil_mode):
    x, pads = _uneven(x, pads, float("-inf"))
    f = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[len(kernel) - 1]
    return f(x, kernel, strides, pads, dilations, ceil_mode != 0)


def _average_pool(x, kernel, strides, pads, ceil_mode, include):
    n = len(kernel)
    assert pads[:n] == pads[n:] or include, "AveragePool with pads that differ and do not count"
    x, pads = _uneven(x, pads)
    f = (F.avg_pool1d, F.avg_pool2d, F.avg_pool3d)[n - 1]
    return f(x, kernel, strides, pads, ceil_mode != 0, include != 0)


def _slice(x, starts, ends, axes, steps):
    index, back = [slice(None)] * x.dim(), []
    for s, e, a, k in zip(starts, ends, axes, steps):
        n = x.shape[a]
        if k > 0:
            index[a] = slice(s, min(e, n), k)
            continue
        s = min(s + n if s < 0 else s, n - 1)
        e = e + n if -n <= e < 0 else e
        picked = range(s, max(e, -1), k)
        index[a] = slice(picked[-1], picked[0] + 1, -k) if len(picked) else slice(0, 0)
        back.append(a)
    x = x[tuple(index)]
    return torch.flip(x, back) if back else x


def _front(i, n):
    return torch.where(i < 0, i + n, i)


def _gather(x, i, axis):
    if not torch.is_tensor(i):
        return x.select(axis, i)
    if axis == 0 and x.dim() == 2 and i.dim() > 0:
        return F.embedding(i, x)
    y = torch.index_select(x, axis, i.reshape(-1))
    return y.reshape(x.shape[:axis] + i.shape + x.shape[axis + 1:])


def _scatter_elements(x, i, updates, axis, reduction):
    if reduction == "none":
        return torch.scatter(x, axis, i, updates)
    name = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}[reduction]
    return torch.scatter_reduce(x, axis, i, updates, name)


def _gather_nd(x, i, batch_dims):
    if batch_dims:
        flat = [_gather_nd(a, b, batch_dims - 1) for a, b in zip(x, i)]
        return torch.stack(flat)
    return x[i.unbind(-1)]


def _scatter_nd(x, i, updates, reduction):
    assert reduction in ("none", "add"), "ScatterND with " + reduction
    return x.clone().index_put_(i.unbind(-1), updates, accumulate=reduction == "add")


def _pad(x, value, pads, mode):
    n = len(pads) // 2
    pads = [pads[i + e * n] for i in reversed(range(n)) for e in (0, 1)]
    while len(pads) > 2 and mode != "constant" and pads[-1] == 0 and pads[-2] == 0:
        pads = pads[:-2]
    mode = {"constant": "constant", "edge": "replicate", "reflect": "reflect", "wrap": "circular"}[mode]
    if mode == "constant":
        return F.pad(x, pads, value=0 if value is None else value)
    return F.pad(x, pads, mode)


def _depth_to_space(x, block, mode):
    n, c, h, w = x.shape
    if mode == "CRD":
        return F.pixel_shuffle(x, block)
    x = x.reshape(n, block, block, c // (block * block), h, w).permute(0, 3, 4, 1, 5, 2)
    return x.reshape(n, c // (block * block), h * block, w * block)


def _space_to_depth(x, block):
    n, c, h, w = x.shape
    x = x.reshape(n, c, h // block, block, w // block, block).permute(0, 3, 5, 1, 2, 4)
    return x.reshape(n, c * block * block, h // block, w // block)


def _trilu(x, k, upper):
    k = 0 if k is None else int(k)
    return torch.triu(x, k) if upper else torch.tril(x, k)
