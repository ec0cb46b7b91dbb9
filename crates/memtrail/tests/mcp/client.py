"""Talks to a server with the official Python client: reads what to do as JSON, and prints what it got."""

import asyncio
import json
import sys

from mcp import ClientSession, MCPError, StdioServerParameters, stdio_client


def plain(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


async def call(session, tool, arguments):
    try:
        return plain(await session.call_tool(tool, arguments))
    except MCPError as error:
        return {"protocol_error": {"code": error.error.code, "message": error.error.message}}


async def main():
    todo = json.load(sys.stdin)
    server = StdioServerParameters(command=todo["command"], args=todo["args"])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        introduced = plain(await session.initialize())
        tools = plain(await session.list_tools())["tools"]
        results = [await call(session, tool, arguments) for tool, arguments in todo["calls"]]
    print(json.dumps({"introduced": introduced, "tools": tools, "results": results}))


asyncio.run(main())
