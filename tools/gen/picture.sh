#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# picture.sh [--check] - draws docs/pipeline.svg, the picture of README.md; with --check fails when it is not fresh.
#
# Five panels in a row: model, subgraph, task, pass, score. Each has a title, a drawing, two lines and a command.
set -eu
cd "$(dirname "$0")/../.."
file=docs/pipeline.svg

draw()
{
	awk '
	function text(x, y, size, class, s) {
		printf "<text x=\"%g\" y=\"%g\" font-size=\"%g\" class=\"%s\">%s</text>\n", x, y, size, class, s
	}
	function line(x1, y1, x2, y2) {
		printf "<line x1=\"%g\" y1=\"%g\" x2=\"%g\" y2=\"%g\" class=\"edge\"/>\n", x1, y1, x2, y2
	}
	function node(x, y, class) { printf "<circle cx=\"%g\" cy=\"%g\" r=\"8\" class=\"%s\"/>\n", x, y, class }
	function box(x, y, w, h, class) {
		printf "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" rx=\"4\" class=\"%s\"/>\n", x, y, w, h, class
	}
	# A panel at x: its frame and words, and an arrow to the next one.
	function panel(k, title, first, second, command,    x) {
		x = LEFT + k * STEP
		box(x, 20, WIDTH, 250, "panel")
		text(x + WIDTH / 2, 50, 18, "title", title)
		text(x + WIDTH / 2, 208, 13, "word", first)
		text(x + WIDTH / 2, 226, 13, "word", second)
		text(x + WIDTH / 2, 254, 12, "command", command)
		if (k < 4)
			printf "<path d=\"M %g 127 h 18 m -7 -6 l 7 6 l -7 6\" class=\"arrow\"/>\n", x + WIDTH + 5
		return x
	}
	# x * sigmoid(x): an input, two operators; `used` colours the operators.
	function silu(x, y, used) {
		line(x, y, x, y + 60)
		line(x, y, x + 26, y + 30)
		line(x + 26, y + 30, x, y + 60)
		node(x + 26, y + 30, used)
		node(x, y + 60, used)
	}
	BEGIN {
		LEFT = 10; WIDTH = 172; STEP = 200
		print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 992 290\" width=\"992\" height=\"290\" role=\"img\""
		print "  aria-label=\"A model is cut into subgraphs, these become tasks, a pass is run on a task, and gets a score.\">"
		print "<!-- Made by tools/gen/picture.sh. -->"
		print "<style>"
		print "text { font-family: sans-serif; text-anchor: middle; fill: #222 }"
		print ".title { font-weight: bold } .command { font-family: monospace; fill: #0072b2 }"
		print ".small { font-family: monospace } .panel { fill: #fafafa; stroke: #999 }"
		print ".edge { stroke: #777; stroke-width: 1.5 } .arrow { fill: none; stroke: #222; stroke-width: 2 }"
		print ".node { fill: #bbb } .used { fill: #e69f00 } .kernel { fill: #0072b2 } .eager { fill: #bbb }"
		print ".shape { fill: #e69f00; stroke: #fff }"
		print "</style>"
		print "<rect width=\"992\" height=\"290\" fill=\"#fff\"/>"

		x = panel(0, "Model", "a real ONNX file", "of any size", "passmith import") + WIDTH / 2 - 14
		line(x, 70, x, 98)
		line(x, 98, x - 30, 128)
		line(x - 30, 128, x, 158)
		node(x, 70, "node")
		line(x, 158, x, 186)
		silu(x, 98, "used")
		node(x, 98, "node")
		node(x - 30, 128, "node")
		node(x, 186, "node")

		x = panel(1, "Subgraph", "operators that one", "kernel could replace", "passmith extract") + WIDTH / 2 - 14
		silu(x, 98, "used")
		node(x, 98, "node")

		x = panel(2, "Task", "many shapes,", "three element types", "passmith task make") + 16
		for (r = 0; r < 3; r++) { # a row for each type, a column for each shape
			box(x + 38, 78 + r * 40, 8, 8, "shape")
			box(x + 60, 72 + r * 40, 18, 24, "shape")
			box(x + 92, 76 + r * 40, 46, 12, "shape")
			text(x + 14, 86 + r * 40, 11, "small", r == 0 ? "f32" : r == 1 ? "f16" : "bf16")
		}

		x = panel(3, "Pass", "a pattern and", "a CUDA kernel", "passmith build") + WIDTH / 2
		text(x, 88, 12, "small", "OP(Mul, V(X),")
		text(x, 104, 12, "small", "OP(Sigmoid, V(X)))")
		printf "<path d=\"M %g 116 v 20 m -6 -7 l 6 7 l 6 -7\" class=\"arrow\"/>\n", x
		box(x - 45, 146, 90, 32, "kernel")
		printf "<text x=\"%g\" y=\"167\" font-size=\"13\" style=\"fill: #fff\">one kernel</text>\n", x

		x = panel(4, "Score", "matched? right?", "faster? ES(t), AS", "passmith eval") + 20
		text(x + 24, 82, 11, "small", "before")
		box(x, 88, 132, 22, "eager")
		text(x + 20, 130, 11, "small", "after")
		box(x, 136, 88, 22, "kernel")
		text(x + 112, 153, 14, "word", "1.5x")
		text(x + 64, 182, 12, "word", "30 of 30 right")
		print "</svg>"
	}'
}

case ${1:-} in
'') draw >$file.tmp && mv $file.tmp $file ;;
--check)
	draw | cmp -s - $file || {
		echo "picture.sh: $file is not fresh; run: tools/gen/picture.sh" >&2
		exit 1
	}
	;;
*)
	echo "picture.sh [--check]" >&2
	exit 2
	;;
esac
