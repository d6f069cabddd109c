# SPDX-License-Identifier: Apache-2.0
"""Passmith in Python: rewritten models that run, a backend of torch.compile, and extraction of subgraphs.

    model = passmith.load("model.pmz")
    y = model(x)
"""
from ._error import Error
from ._model import Model, Value, load
from ._program import compile, extract

__all__ = ["Error", "Model", "Value", "compile", "extract", "load"]
