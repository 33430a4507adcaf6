# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Validates JSON outputs against docs/report.schema.json.

  check_schema.py SCHEMA FILE...
"""

import json
import sys

import jsonschema


def main(schema, *files):
    with open(schema) as file:
        validator = jsonschema.Draft202012Validator(json.load(file))
    validator.check_schema(validator.schema)
    assert files, "no file is given"
    for name in files:
        with open(name) as file:
            output = json.load(file)
        # Errors of the definition that the output names say more than that none
        # of the three fits.
        kind = {"proteus-report/1": "report", "proteus-comparison/1": "comparison",
                "proteus-memory/1": "memory_report"}[output["schema"]]
        own = validator.evolve(schema={**validator.schema, "oneOf": [{"$ref": f"#/$defs/{kind}"}]})
        for error in own.iter_errors(output):
            details = [f"{list(e.absolute_path)}: {e.message[:300]}" for e in error.context or [error]]
            sys.exit(f"{name}: " + "\n".join(details))


if __name__ == "__main__":
    main(*sys.argv[1:])
