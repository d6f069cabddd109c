#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# core_passes.sh - real models: each first-party pass matches and is right somewhere in them.
#
# Needs the model graphs in $PASSMITH_SHARED/models/core (default ../shared); without them the script is skipped.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

core=${PASSMITH_SHARED:-../shared}/models/core
[ -d "$core" ] || {
	echo "there is no $core"
	exit 77
}
pm extract "$core"/*.onnx --db "$tmp/core.db" --quiet
exits 0 "extract all of them"

# pass, a model whose subgraphs it is evaluated on, of at most so many Mflop and in two shapes: each variant runs over a
# dozen times on the emulator and on the reference. "-": its subgraphs hold products that take minutes so; a bundled
# model, named last, stands for them
while read -r p model mflop; do
	pm task make --db "$tmp/core.db" --for "$build/passes/$p.so" --top 1 --shapes 3
	exits 0 "$p matches a subgraph of the core models"
	if [ "$model" = - ]; then
		pm eval "models/$mflop.gpt" --pass "$build/passes/$p.so" --quiet
		exits 0 "$p is right at t = -5 in $mflop"
		continue
	fi
	pm extract "$core/$model".onnx --db "$tmp/$p.db" --quiet
	pm task make --db "$tmp/$p.db" --for "$build/passes/$p.so" --top 1 --name "$p" --shapes 2 \
		--max-elements 40000 --max-mflop "$mflop"
	pm eval "$p" --db "$tmp/$p.db" --pass "$build/passes/$p.so" --quiet
	exits 0 "$p is right at t = -5 on every variant"
done <<'EOF'
silu timm__test_efficientnet.r160_in1k 50
bias_gelu - bert_encoder_layer
add_layer_norm transformers-auto-model__hf-tiny-model-private_tiny-random-FNetForSequenceClassification 50
masked_mean_pool transformers-auto-model__ibm-research_MoLFormer-XL-both-10pct 50
roll_slice_add_layer_norm - swin_block
scaled_masked_softmax transformers-auto-model__noamr_bert-finetuned-ner 50
bn_relu timm__lcnet_050.ra2_in1k 20
EOF
tap_done
