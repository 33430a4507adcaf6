# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints messages of an editor for a language server: a document is opened, becomes
nested too deeply in its second line, and is repaired; another one is opened deep."""
import json
import sys

DEEP = "[" * 100_000
TEXT = "func.func @m() {\n  return\n}\nfunc.func @m() { return }\n"


def document(uri, **more):
    return {"textDocument": {"uri": uri, **more}}


def opened(uri, text):
    return {"method": "textDocument/didOpen",
            "params": document(uri, languageId="mlir", version=1, text=text)}


def changed(uri, version, text):
    return {"method": "textDocument/didChange",
            "params": {**document(uri, version=version),
                       "contentChanges": [{"text": text}]}}


EDITED, WHOLE = "test:///edited.mlir", "test:///whole.mlir"
MESSAGES = [
    {"id": 0, "method": "initialize",
     "params": {"processId": 1, "rootPath": "mlir", "capabilities": {}}},
    opened(EDITED, TEXT),
    changed(EDITED, 2, TEXT.replace("  return", "  return" + DEEP)),
    changed(EDITED, 3, TEXT),
    opened(WHOLE, "module attributes {a = " + DEEP),
    {"id": 1, "method": "shutdown"},
    {"method": "exit"},
]
style = sys.argv[1]
for message in MESSAGES:
    text = json.dumps({"jsonrpc": "2.0", **message})
    if style == "delimited":
        print(text + "\n// -----")
    else:
        print(f"Content-Length: {len(text)}\r\n\r\n{text}", end="", flush=True)
