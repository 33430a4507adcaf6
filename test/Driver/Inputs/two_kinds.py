# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes two clusters that can't grow: one with nodes of two kinds, and one whose fabric
connects two nodes.

  two_kinds.py CLUSTER.json KINDS.json CLOSED.json
"""
import json
import sys

source, kinds, closed = sys.argv[1:]
with open(source) as file:
    cluster = json.load(file)
node = cluster.pop("node")
small = {"devices": 4, "nvlink": node["nvlink"], "nics": {"count": 4, "speed_gbit": 400}}
mixed = dict(cluster, name="kinds", node_kinds={"large": node, "small": small},
             nodes=[{"kind": "large", "count": 1}, {"kind": "small", "count": 1}])
with open(kinds, "w") as file:
    json.dump(mixed, file)
levels = [{"name": "leaf", "span": 1}, {"name": "spine", "span": 2}]
fabric = dict(cluster["fabric"], levels=levels)
with open(closed, "w") as file:
    json.dump(dict(cluster, name="closed", node=node, fabric=fabric), file)
