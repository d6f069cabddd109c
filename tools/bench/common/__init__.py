# SPDX-License-Identifier: Apache-2.0
"""What several tools of tools/bench share: PyTorch's modes, exports, held-out models, draws, files of times."""
