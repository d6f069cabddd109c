#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# mcp.sh [--schema DIR] - drives passmith mcp with the official Python SDK of the protocol, versions 2 and 1, as clients.
#
# Each SDK is installed by pip (PyPI: mcp) into an environment of its own below BUILD/check-mcp, where it stays. Each
# message of the server is validated by the SDK's models, and against the published JSON schemas when --schema names a
# folder that holds them as REVISION.json or REVISION/schema.json (such as 2026-07-28.json).
# Environment: BUILD (build). Needs python3 (3.10 or newer) with venv, and the network for the first run.
set -eu
cd "$(dirname "$0")/../.."
build=$(cd "${BUILD:-build}" && pwd)
schema=
while [ $# -gt 0 ]; do
	case $1 in
	--schema) schema=$(cd "${2:?--schema needs a folder}" && pwd) && shift 2 ;;
	*) echo "usage: tools/check/mcp.sh [--schema DIR]" >&2; exit 2 ;;
	esac
done
export PASSMITH_ROOT=$PWD PASSMITH_BUILD=$build
[ -x "$build/passmith" ] || { echo "mcp: $build/passmith is not built; run make first" >&2; exit 3; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$build/passmith" extract models/llama_block.gpt --db "$work/w.db" -j 1 >/dev/null
"$build/passmith" task make --db "$work/w.db" --for "$build/passes/silu.so" --top 1 --name silu --shapes 2 --max-elements 2000 >/dev/null

bad=0
for version in 'mcp>=2,<3' 'mcp<2'; do
	venv=$build/check-mcp/${version#mcp}
	venv=${venv//[<>=,]/_}
	if ! "$venv/bin/python" -c 'import mcp, jsonschema' 2>/dev/null; then
		python3 -m venv "$venv" && "$venv/bin/pip" -q --disable-pip-version-check install "$version" jsonschema
	fi
	mkdir -p "$work/space"
	cp "$build/passes/silu.so" "$build/tests/plugin/hanging_silu.so" "$work/space"
	"$venv/bin/python" tools/check/mcp_clients.py --log "$work/log" --schema "$schema" -- \
		"$build/passmith" mcp --quiet --db "$work/w.db" --workspace "$work/space" || bad=1
	rm -rf "$work/space"
done
exit $bad
