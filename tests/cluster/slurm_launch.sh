#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# slurm_launch.sh FOLDER PROGRAM cluster work DIR --shard K - starts a worker as `plan --launch` has it done, and does to it
# what tests/cluster/slurm.sh has laid down in FOLDER for shard K:
#
#   open          not there: waits for it, or for a signal, which ends it
#   full/K        as long as it is there no file may become larger than 64 KiB
#   kill/K        its content: milliseconds, and "worker" (with all that it started) or "element" (the shell that Slurm
#                 started too): SIGKILL after them. A worker that is finished by then still counts as killed. It is for one
#                 run, which renames it to did/kill.K.
set -u
faults=$1
shift
shard=${*: -1}

# exec: Slurm's script signals this process.
until [ -e "$faults/open" ]; do sleep 0.1; done
if [ -e "$faults/full/$shard" ]; then
	ulimit -f 64
	exec "$@"
fi
mv "$faults/kill/$shard" "$faults/did/kill.$shard" 2>/dev/null || exec "$@"

read -r ms what <"$faults/did/kill.$shard"
# A group of its own: what a worker starts is in groups and sessions of their own, and ends when it does.
"$@" &
worker=$!
sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
kill -KILL "$worker" 2>/dev/null
[ "$what" != element ] || kill -KILL "$PPID"
kill -KILL $$
