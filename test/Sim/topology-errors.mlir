// A machine that does not hold together is refused with one message that names the
// place: where the cluster is asked for, its file, and the line of a dump. Nothing is
// written.

// RUN: rm -rf %t && split-file %s %t && mkdir %t/out

// The machines themselves are fine.
// RUN: sed -e 's/dp = 4/dp = 2/' %S/Inputs/all-reduce.mlir > %t/pair.mlir
// RUN: cp %t/good.xml %t/topo.xml
// RUN: proteus-opt %t/pair.mlir --simulate=cluster=%t/dump.json -o /dev/null
// RUN: proteus-opt %S/Inputs/all-reduce.mlir --simulate=cluster=%t/node.json -o /dev/null

// An NVLink of which one end was lost.
// RUN: sed -e '11d' %t/good.xml > %t/topo.xml
// RUN: not proteus-opt %t/pair.mlir --simulate="cluster=%t/dump.json report=%t/out/r.json trace=%t/out/t.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: pair.mlir:9:1: error: {{.*}}dump.json: topo.xml:5: 2 nvlinks lead to '0000:12:00.0', but 0 come back: both ends must list a link
// CUT-NOT: error:

// An NVLink to a device that has another name.
// RUN: sed -e '5s/0000:12/0000:42/' %t/good.xml > %t/topo.xml
// RUN: not proteus-opt %t/pair.mlir --simulate="cluster=%t/dump.json report=%t/out/r.json trace=%t/out/t.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=RENAMED
// RENAMED: dump.json: topo.xml:11: 2 nvlinks lead to '0000:11:00.0', but 0 come back: both ends must list a link
// RENAMED-NOT: error:

// A dump with one GPU visible: links to the other are left out, and that is said.
// RUN: sed -e '9,13d' -e '8d' %t/good.xml > %t/topo.xml
// RUN: sed -e 's/"n_gpu_per_node": 2/"n_gpu_per_node": 1/' %t/dump.json > %t/one.json
// RUN: sed -e 's/dp = 4/dp = 1/' %S/Inputs/all-reduce.mlir > %t/one.mlir
// RUN: proteus-opt %t/one.mlir --simulate=cluster=%t/one.json -o /dev/null 2>&1 | FileCheck %s --check-prefix=HIDDEN
// HIDDEN: remark: topo.xml:5: the nvlink to '0000:12:00.0' is left out: that GPU is not in the file

// Two devices of one name, two of one number.
// RUN: sed -e '9s/0000:12/0000:11/' %t/good.xml > %t/topo.xml
// RUN: not proteus-opt %t/pair.mlir --simulate="cluster=%t/dump.json report=%t/out/r.json trace=%t/out/t.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=BUS
// BUS: dump.json: topo.xml:9: bus id '0000:11:00.0' is used twice
// BUS-NOT: error:
// RUN: sed -e '10s/dev="1"/dev="0"/' %t/good.xml > %t/topo.xml
// RUN: not proteus-opt %t/pair.mlir --simulate="cluster=%t/dump.json report=%t/out/r.json trace=%t/out/t.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: dump.json: topo.xml:10: gpu dev 0 is used twice
// NUMBER-NOT: error:

// A port without speed.
// RUN: sed -e 's/speed="100000"/speed="0"/' %t/good.xml > %t/topo.xml
// RUN: not proteus-opt %t/pair.mlir --simulate="cluster=%t/dump.json report=%t/out/r.json trace=%t/out/t.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=SPEED
// SPEED: dump.json: topo.xml:16: attribute 'speed' of 'net' must be a whole number from 1 to 100000000, got '0'
// SPEED-NOT: error:

// Two nodes and no port between them. The dump is good for one node.
// RUN: sed -e '14,18d' %t/good.xml > %t/topo.xml
// RUN: proteus-opt %t/pair.mlir --simulate=cluster=%t/dump.json -o /dev/null
// RUN: sed -e 's/"n_node": 1/"n_node": 2/' %t/dump.json > %t/two.json
// RUN: not proteus-opt %t/pair.mlir --simulate="cluster=%t/two.json report=%t/out/r.json trace=%t/out/t.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=NODES
// NODES: two.json: nodes can't reach each other: there are 2, but node 'topo.xml' has no NIC; add 'nics' or use one node
// NODES-NOT: error:

// A dump that was cut short, and one that is not there.
// RUN: head -n 12 %t/good.xml > %t/topo.xml
// RUN: not proteus-opt %t/pair.mlir --simulate="cluster=%t/dump.json report=%t/out/r.json trace=%t/out/t.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: dump.json: topo.xml:{{1[23]}}: malformed XML:
// SHORT-NOT: error:
// RUN: rm %t/topo.xml
// RUN: not proteus-opt %t/pair.mlir --simulate="cluster=%t/dump.json report=%t/out/r.json trace=%t/out/t.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: dump.json: can't read the topology 'topo.xml': {{.*}}; put an NCCL topology dump there
// MISSING-NOT: error:

// The same for nodes that are written as JSON: the way between the sockets is cut,
// a link without bandwidth, a device that is placed twice, nodes below different
// switches.
// RUN: sed -e 's/"generation": 3/"sockets_linked": false/' %t/node.json > %t/sockets.json
// RUN: not proteus-opt %S/Inputs/all-reduce.mlir --simulate="cluster=%t/sockets.json report=%t/out/r.json trace=%t/out/t.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=SOCKETS
// SOCKETS: all-reduce.mlir:9:1: error: {{.*}}sockets.json: gpu 2 has no route to gpu 0; connect it by 'nvlink' or 'pcie' at node
// SOCKETS-NOT: error:
// RUN: sed -e 's/"generation": 3/"socket_gbps": 0/' %t/node.json > %t/zero.json
// RUN: not proteus-opt %S/Inputs/all-reduce.mlir --simulate="cluster=%t/zero.json report=%t/out/r.json trace=%t/out/t.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: zero.json: expected a positive number at node.pcie.socket_gbps, got 0
// ZERO-NOT: error:
// RUN: sed -e 's/\[2, 3\]/[2, 2]/' %t/node.json > %t/twice.json
// RUN: not proteus-opt %S/Inputs/all-reduce.mlir --simulate="cluster=%t/twice.json report=%t/out/r.json trace=%t/out/t.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: twice.json: device 2 is placed twice in the PCIe tree at node.pcie.cpus[1]
// TWICE-NOT: error:
// RUN: sed -e 's/"span": 2/"span": 1/' %t/node.json > %t/span.json
// RUN: not proteus-opt %S/Inputs/all-reduce.mlir --simulate="cluster=%t/span.json report=%t/out/r.json trace=%t/out/t.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=SPAN
// SPAN: span.json: nodes can't reach each other: one unit of the highest level of the fabric ('leaf') spans 1 nodes, but there are 2; leave out its 'span' or add a level
// SPAN-NOT: error:

// Nothing has been written in all these runs.
// RUN: ls -A %t/out | FileCheck %s --check-prefix=EMPTY --allow-empty
// EMPTY-NOT: {{.}}

//--- dump.json
{"n_node": 1, "n_gpu_per_node": 2, "gpu_gflops": 10000, "gpu_memory": 16000,
 "gpu_memory_bw": 500, "gpu_to_gpu": 44, "inter_node": 12.5, "topology": "topo.xml"}

//--- good.xml
<system version="1">
  <cpu numaid="0" arch="x86_64" vendor="AuthenticAMD" familyid="23" modelid="49">
    <pci busid="0000:11:00.0" class="0x030200">
      <gpu dev="0" sm="70" gdr="1">
        <nvlink target="0000:12:00.0" count="2" tclass="0x030200"/>
      </gpu>
    </pci>
    <!-- the other one -->
    <pci busid="0000:12:00.0" class="0x030200">
      <gpu dev="1" sm="70" gdr="1">
        <nvlink target="0000:11:00.0" count="2" tclass="0x030200"/>
      </gpu>
    </pci>
    <pci busid="0000:13:00.0" class="0x020700">
      <nic>
        <net name="mlx5_0" dev="0" speed="100000" port="1" guid="0x1" gdr="1"/>
      </nic>
    </pci>
  </cpu>
</system>

//--- node.json
{"name": "two sockets",
 "device": {"name": "small", "peak_tflops": {"f32": 10}, "memory_gb": 16, "memory_bandwidth_gbps": 500},
 "node": {
   "devices": 4, "nics": {"count": 1, "speed_gbit": 100},
   "pcie": {"generation": 3, "cpus": [{"devices": [0, 1], "nics": [0]}, {"devices": [2, 3]}]}},
 "nodes": 2,
 "fabric": {"levels": [{"name": "leaf", "span": 2}]}}
