#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# mcp_clients.py - one session for each way in which the installed SDK connects: lists, calls of every tool, resources,
# prompts, progress, cancellation, errors; then each message that the server said is validated.
#
# mcp_clients.py --log PREFIX [--schema DIR] -- SERVER...     The last line counts; exit 1 when something is wrong.
import argparse
import asyncio
import importlib.metadata
import json
import pathlib
import sys

NEW, OLD = "2026-07-28", "2025-11-25"
MAJOR = int(importlib.metadata.version("mcp").split(".")[0])
if MAJOR >= 2:
    from mcp import Client, StdioServerParameters
    from mcp.shared.exceptions import MCPError as ProtocolError
else:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client
    from mcp.shared.exceptions import McpError as ProtocolError

# What each tool is called with; a tool that is not here is called without arguments, which it may refuse in a sentence.
CALLS = [
    ("list_tasks", {}), ("show_task", {"task": "silu"}), ("show_graph", {"task": "silu"}), ("show_graph", {"model": "models/llama_block.gpt"}),
    ("search_docs", {"query": "pattern"}), ("show_api", {"name": "Softmax"}), ("new_pass", {"name": "NAME"}),
    ("write_file", {"path": "notes.txt", "text": "one\ntwo\n"}), ("edit_file", {"path": "notes.txt", "old_text": "two", "new_text": "zwei"}),
    ("read_file", {"path": "notes.txt"}), ("list_files", {}), ("build", {"pass": "NAME.c", "wait_s": 60}), ("check", {"pass": "silu.so", "wait_s": 60}),
    ("explain", {"pass": "silu.so", "task": "silu", "wait_s": 60}), ("evaluate", {"pass": "silu.so", "task": "silu", "level": "quick", "wait_s": 60}),
    ("get_run", {"run": "r1"}), ("profile", {"pass": "silu.so", "task": "silu", "wait_s": 60}), ("submit", {"pass": "silu.so", "task": "silu", "wait_s": 60}), ("leaderboard", {}),
    ("exemplars", {"task": "silu"}),
]
# Wrong values are answers, as is a tool that cannot do what it is asked.
WRONG = [("read_file", {"path": "../x"}), ("read_file", {}), ("get_run", {"run": "r9999"}), ("build", {"pass": 7}), ("evaluate", {"pass": "none.so", "task": "silu"})]
# Never ends: it is cancelled.
ENDLESS = ("evaluate", {"pass": "hanging_silu.so", "model": "models/llama_block.gpt", "level": "quick", "wait_s": 60})

done, wrong = 0, []


def need(ok, what):
    global done
    done += 1
    if not ok:
        wrong.append(what)


async def refused(call, codes, what):
    try:
        await call
        need(False, f"{what}: it was not refused")
    except ProtocolError as e:
        need(e.error.code in codes, f"{what}: the code is {e.error.code}")


def field(result, new, old):
    return getattr(result, new if hasattr(result, new) else old)


async def calls(client, names, new):
    """`new` is the name of a pass that the workspace does not have yet."""
    told = []

    async def progress(done_, total, message):
        told.append(done_)

    called = set()
    for name, args in CALLS + [(n, {}) for n in names]:
        if name not in names or (not args and name in called):
            continue
        called.add(name)
        args = {k: v.replace("NAME", new) if isinstance(v, str) else v for k, v in args.items()}
        before = len(told)
        result = await client.call_tool(name, args, progress_callback=progress)
        bad = field(result, "is_error", "isError")
        text = result.content[0].text
        need(not bad or not args or name in ("show_task", "compare"), f"{name} went wrong: {text}")
        need(bool(text), f"{name}: no text")
        if not bad:
            need(json.loads(text) == field(result, "structured_content", "structuredContent"), f"{name}: text and structure differ")
        need(told[before:] == sorted(set(told[before:])), f"{name}: progress did not rise: {told[before:]}")
    for name, args in WRONG:
        result = await client.call_tool(name, args)
        need(field(result, "is_error", "isError") and result.content[0].text.endswith("."), f"{name} {args}: no sentence")


async def session(client, mode, era):
    tools = (await client.list_tools()).tools
    names = [t.name for t in tools]
    need(names == [t.name for t in (await client.list_tools()).tools], "the order of tools changed")
    need(len(names) >= 10, "there are few tools")
    need(all(field(t, "output_schema", "outputSchema") for t in tools), "a tool has no schema of its answer")
    await calls(client, names, "mine_" + mode.replace("-", "_"))
    resources = (await client.list_resources()).resources
    for r in resources[:20]:
        contents = (await client.read_resource(r.uri)).contents
        need(len(contents) == 1 and bool(contents[0].text), f"{r.uri} is empty")
    need(bool(resources), "there are no resources")
    need((await client.list_resource_templates()) is not None, "no list of templates")
    prompts = [p.name for p in (await client.list_prompts()).prompts]
    need(prompts == ["write_a_pass", "why_is_it_slow"], f"prompts are {prompts}")
    for name, args in (("write_a_pass", {"task": "silu"}), ("why_is_it_slow", {"run": "r1"})):
        text = (await client.get_prompt(name, args)).messages[0].content.text
        need(list(args.values())[0] in text and "{{" not in text, f"the prompt {name} is not filled in")
    await refused(client.call_tool("no_such_tool", {}), [-32602], "an unknown tool")
    await refused(client.get_prompt("no_such_prompt", {}), [-32602], "an unknown prompt")
    await refused(client.get_prompt("write_a_pass", {}), [-32602], "a prompt without its argument")
    await refused(client.read_resource("passmith://no/such"), [-32602] if era == NEW else [-32002], "an unknown resource")
    both = await asyncio.gather(client.call_tool("list_files", {}), client.call_tool("check", {"pass": "silu.so", "wait_s": 60}), client.list_tools())
    need(len(both) == 3, "calls side by side")
    try:
        await asyncio.wait_for(client.call_tool(*ENDLESS), 1.5)
        need(False, "what never ends has ended")
    except (TimeoutError, asyncio.TimeoutError):
        need(True, "")
    if MAJOR < 2:
        need((await client.send_ping()) is not None, "no answer to ping")
    need(bool((await client.call_tool("list_files", {})).content), "no answer after a cancelled call")


async def run(server, log, mode):
    params = StdioServerParameters(command="sh", args=["-c", 'tee "$0.in" | "$@" | tee "$0.out"', log, *server])
    if MAJOR >= 2:
        async with Client(params, mode=mode) as client:
            version = client.session.protocol_version
            need(version == (OLD if mode == "legacy" else NEW), f"mode {mode} speaks {version}")
            await session(client, mode, version)
    else:
        async with stdio_client(params) as (r, w), ClientSession(r, w) as client:
            version = (await client.initialize()).protocolVersion
            need(version == OLD, f"it speaks {version}")
            await session(client, mode, version)


# --- what the server said ---------------------------------------------------------------------------------------


def model_check(method, version, result):
    if MAJOR >= 2:
        from mcp_types import methods
        methods.validate_server_result(method, version, result)
        return
    import mcp.types as t
    models = {"initialize": t.InitializeResult, "tools/list": t.ListToolsResult, "tools/call": t.CallToolResult, "resources/list": t.ListResourcesResult,
              "resources/read": t.ReadResourceResult, "resources/templates/list": t.ListResourceTemplatesResult, "prompts/list": t.ListPromptsResult,
              "prompts/get": t.GetPromptResult, "ping": t.EmptyResult}
    models[method].model_validate(result)


def message_check(line):
    if MAJOR >= 2:
        from mcp_types import jsonrpc_message_adapter
        jsonrpc_message_adapter.validate_json(line)
    else:
        from mcp.types import JSONRPCMessage
        JSONRPCMessage.model_validate_json(line)


def notification_check(version, message):
    if MAJOR >= 2:
        from mcp_types import methods
        methods.parse_server_notification(message["method"], version, message.get("params"))
    else:
        from mcp.types import ServerNotification
        ServerNotification.model_validate({k: v for k, v in message.items() if k != "jsonrpc"})


RESULTS = {"initialize": "InitializeResult", "server/discover": "DiscoverResult", "tools/list": "ListToolsResult", "tools/call": "CallToolResult",
           "resources/list": "ListResourcesResult", "resources/read": "ReadResourceResult", "resources/templates/list": "ListResourceTemplatesResult",
           "prompts/list": "ListPromptsResult", "prompts/get": "GetPromptResult", "ping": "EmptyResult"}


class Schemas:
    def __init__(self, folder):
        self.known = {}
        for version in (NEW, OLD):
            for path in (pathlib.Path(folder) / f"{version}.json", pathlib.Path(folder) / version / "schema.json") if folder else ():
                if path.is_file():
                    self.known[version] = json.loads(path.read_text())

    def check(self, version, name, value):
        schema = self.known.get(version)
        if schema is None:
            return 0
        import jsonschema
        where = "$defs" if "$defs" in schema else "definitions"
        jsonschema.Draft202012Validator({**schema, "$ref": f"#/{where}/{name}"}).validate(value)
        return 1


def validate(log, schemas):
    """Each line that the server said; returns how many were checked by models, and by schemas."""
    asked, version, n, by_schema, answered = {}, OLD, 0, 0, {}
    for line in pathlib.Path(log + ".in").read_text().splitlines():
        m = json.loads(line)
        if "id" in m:
            asked[m["id"]] = (m["method"], ((m.get("params") or {}).get("_meta") or {}).get("io.modelcontextprotocol/protocolVersion"))
    if asked and all(v for _, v in asked.values()):
        version = NEW
    for line in pathlib.Path(log + ".out").read_text().splitlines():
        n += 1
        try:
            m = json.loads(line)
            message_check(line)
            if "method" in m:
                notification_check(version, m)
                by_schema += schemas.check(version, "ProgressNotification", m)
                need(m["params"]["progressToken"] not in answered, f"progress after the answer: {line}")
                continue
            method, era = asked[m["id"]]
            need(m["id"] not in answered, f"a second answer: {line[:200]}")
            answered[m["id"]] = 1
            if "result" in m:
                model_check(method, era or version, m["result"])
                by_schema += schemas.check(era or version, RESULTS[method], m["result"])
            by_schema += schemas.check(era or version, "JSONRPCMessage", m)
        except Exception as e:  # whatever a model says of it
            need(False, f"{line[:300]}: {type(e).__name__}: {str(e)[:600]}")
    return n, by_schema


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--log", required=True)
    p.add_argument("--schema", default="")
    p.add_argument("server", nargs="+")
    a = p.parse_args()
    schemas = Schemas(a.schema)
    for mode in ("auto", "legacy", NEW) if MAJOR >= 2 else ("handshake",):
        asyncio.run(run(a.server, a.log, mode))
        n, by_schema = validate(a.log, schemas)
        print(f"mcp {importlib.metadata.version('mcp')}, {mode}: {n} messages of the server by the models, {by_schema} times by a published schema")
    for w in wrong:
        print("wrong:", w)
    print(f"{done - len(wrong)} checks passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
