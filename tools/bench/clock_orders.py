#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clock_orders.py SAMPLES.jsonl... - how far the ratios of equal sides lie apart, by the order of samples in a block.

The lines are those of tests/gpu/time_blocks. All sides of a run are one graph, so the same samples can be given to sides in
any order after the fact. For each order it prints the deviation of the blocks' logarithmic ratios, scaled to six samples, as
the JSON of which tools/gen/results_pages.py makes a table. The lines were taken in blocks of six, five samples of each side before them.
"""
import json
import math
import random
import statistics
import sys

SIDES, BEFORE, MOST_APART = 3, 15, 0.5


def mirrored(order):
    return order + order[::-1]


def twice(order):
    return 2 * mirrored(order)


def deviation(times, design, seed):
    rng, ratios, at = random.Random(seed), [], 0
    length = len(design(list(range(SIDES))))
    while at + length <= len(times):
        order = list(range(SIDES))
        rng.shuffle(order)
        total = [0] * SIDES
        for side, t in zip(design(order), times[at:at + length]):
            total[side] += t
        at += length
        ratios.append(math.log(total[0] / total[1]))
    ratios = [r for r in ratios if abs(r) < MOST_APART]  # a sample in thousands takes twice as long
    return statistics.pstdev(ratios) * math.sqrt(length / 6)


def main():
    graphs = {}
    for name in sys.argv[1:]:
        with open(name) as f:
            for line in f:
                run = json.loads(line)
                graphs.setdefault(run["graph"], []).append([max(s[2] - run["overhead_ns"], 1) for s in run["samples"][BEFORE:]])
    out = [{"graph": g, "us": round(statistics.median(t for times in runs for t in times) / 1000, 2),
            **{d.__name__: [round(deviation(times, d, 1), 5) for times in runs] for d in (mirrored, twice)}} for g, runs in graphs.items()]
    print(json.dumps({"graphs": out}, indent=1))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main()
