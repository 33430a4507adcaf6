// Nodes that are described by an NCCL topology dump: an all-reduce takes the time
// that the links of the dump and the constants of docs/collectives.md give.

// RUN: rm -rf %t && split-file %s %t

// Four GPUs below two PCIe switches. One ring passes every link once per direction,
// at 12 GB/s: 6 steps after the base.
// RUN: proteus-opt %S/Inputs/all-reduce.mlir --simulate="cluster=%t/pcie.json report=%t/pcie-r.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/pcie-r.json "in_ring('pcie', 4 * MB, 4, 12 * GBps)"

// A dump is beside the file that names it, which is beside the module that names that.
// RUN: sed -e 's/^module/& attributes {proteus.cluster = "pcie.json"}/' %S/Inputs/all-reduce.mlir > %t/names.mlir
// RUN: proteus-opt %t/names.mlir --simulate=report=%t/names-r.json -o /dev/null
// RUN: cmp %t/pcie-r.json %t/names-r.json

// 1 KiB takes the low-latency protocol.
// RUN: sed -e 's/1000x1000/16x16/' %S/Inputs/all-reduce.mlir > %t/tiny4.mlir
// RUN: proteus-opt %t/tiny4.mlir --simulate="cluster=%t/pcie.json report=%t/tiny-r.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/tiny-r.json "low('pcie', 6, wire('pcie', 1024, 4, 12 * GBps))"

// In the root complex of an Intel CPU peers load links by 6/5: 10 GB/s.
// RUN: sed -e 's/AuthenticAMD/GenuineIntel/' %t/pcie.xml > %t/intel.xml
// RUN: sed -e 's/pcie.xml/intel.xml/' %t/pcie.json > %t/intel.json
// RUN: proteus-opt %S/Inputs/all-reduce.mlir --simulate="cluster=%t/intel.json report=%t/intel-r.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/intel-r.json "in_ring('pcie', 4 * MB, 4, 12 * GBps / load(6 / 5))"

// A pair below one switch does not pass the CPU: 12 GB/s whoever made it.
// RUN: sed -e 's/dp = 4/dp = 2/' %S/Inputs/all-reduce.mlir > %t/reduce2.mlir
// RUN: proteus-opt %t/reduce2.mlir --simulate="cluster=%t/intel.json report=%t/pair-r.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/pair-r.json "in_ring('pcie', 4 * MB, 2, 12 * GBps)"

// A link that was renegotiated to 8 lanes holds all back.
// RUN: sed -e '/narrow/s/link_width="16"/link_width="8"/' %t/pcie.xml > %t/lanes.xml
// RUN: sed -e 's/pcie.xml/lanes.xml/' %t/pcie.json > %t/lanes.json
// RUN: proteus-opt %S/Inputs/all-reduce.mlir --simulate="cluster=%t/lanes.json report=%t/lanes-r.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/lanes-r.json "in_ring('pcie', 4 * MB, 4, 6 * GBps)"

// Two such nodes. Of 100 Gbit/s 0.92 are left; 12 of 14 steps stay inside, the
// others take 14 us, and a long all-reduce across nodes 1.4 times as long.
// RUN: sed -e 's/dp = 4/dp = 8/' -e 's/1000x1000/10000x1000/' %S/Inputs/all-reduce.mlir > %t/reduce8-long.mlir
// RUN: sed -e 's/"n_node": 1/"n_node": 2/' %t/pcie.json > %t/two.json
// RUN: proteus-opt %t/reduce8-long.mlir --simulate="cluster=%t/two.json report=%t/two-r.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/two-r.json "1.4 * (8.4 + 12 * 5.7 + 2 * 14) + (14 + extra('pcie')) / 8 * 40 * MB / (0.92 * 12.5 * GBps)"

// Eight GPUs with 12 NVLinks each to switches, 22 GB/s per link. Ampere: 0.34
// parts more than the 14 of the ring, and the cost to fill the pipeline.
// RUN: sed -e 's/dp = 4/dp = 8/' %S/Inputs/all-reduce.mlir > %t/reduce8.mlir
// RUN: proteus-opt %t/reduce8.mlir --simulate="cluster=%t/nvswitch.json report=%t/nvswitch-r.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/nvswitch-r.json "simple('ampere-nvlink', 14, wire('ampere-nvlink', 4 * MB, 8, 12 * 22 * GBps))"

// The same with compute capability 9.0: 20.6 GB/s per link, and the switch adds.
// RUN: sed -e 's/sm="80"/sm="90"/' %t/nvswitch.xml > %t/hopper.xml
// RUN: sed -e 's/nvswitch.xml/hopper.xml/' %t/nvswitch.json > %t/hopper.json
// RUN: proteus-opt %t/reduce8-long.mlir --simulate="cluster=%t/hopper.json report=%t/hopper-r.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/hopper-r.json "in_switch('hopper-nvlink', 9 / 8 * 40 * MB / (12 * 20.6 * GBps))"

//--- pcie.json
{"n_node": 1, "n_gpu_per_node": 4, "gpu_gflops": 10000, "gpu_memory": 16000,
 "gpu_memory_bw": 500, "gpu_to_gpu": 12, "inter_node": 12.5, "topology": "pcie.xml"}

//--- pcie.xml
<!-- One socket, two PCIe switches with two GPUs each, one port of 100 Gbit/s at the
     first switch; all links are PCIe 3.0 x16. -->
<system version="1">
  <cpu numaid="0" arch="x86_64" vendor="AuthenticAMD" familyid="23" modelid="49">
    <pci busid="0000:10:00.0" class="0x060400" link_speed="8 GT/s" link_width="16">
      <pci busid="0000:11:00.0" class="0x030200" link_speed="8 GT/s" link_width="16">
        <gpu dev="0" sm="80" gdr="1"/>
      </pci>
      <pci busid="0000:12:00.0" class="0x030200" link_speed="8 GT/s" link_width="16">
        <gpu dev="1" sm="80" gdr="1"/>
      </pci>
      <pci busid="0000:13:00.0" class="0x020700" link_speed="8 GT/s" link_width="16">
        <nic>
          <net name="mlx5_0" dev="0" speed="100000" port="1" guid="0x1" gdr="1"/>
        </nic>
      </pci>
    </pci>
    <pci busid="0000:20:00.0" class="0x060400" link_speed="8 GT/s" link_width="16">
      <pci busid="0000:21:00.0" class="0x030200" link_speed="8 GT/s" link_width="16">
        <gpu dev="2" sm="80" gdr="1"/>
      </pci>
      <pci busid="0000:22:00.0" class="0x030200" link_speed="8 GT/s" link_width="16"> <!-- narrow -->
        <gpu dev="3" sm="80" gdr="1"/>
      </pci>
    </pci>
  </cpu>
</system>

//--- nvswitch.json
{"n_node": 1, "n_gpu_per_node": 8, "gpu_gflops": 19500, "gpu_memory": 80000,
 "gpu_memory_bw": 2000, "gpu_to_gpu": 264, "inter_node": 25, "topology": "nvswitch.xml"}

//--- nvswitch.xml
<!-- Eight GPUs, 6 NVLinks each to two NVSwitches. -->
<system version="1">
  <cpu numaid="0" arch="x86_64" vendor="AuthenticAMD" familyid="23" modelid="49">
    <pci busid="0000:10:00.0" class="0x030200"><gpu dev="0" sm="80">
      <nvlink target="0000:c4:00.0" count="6" tclass="0x068000"/><nvlink target="0000:c5:00.0" count="6" tclass="0x068000"/></gpu></pci>
    <pci busid="0000:11:00.0" class="0x030200"><gpu dev="1" sm="80">
      <nvlink target="0000:c4:00.0" count="6" tclass="0x068000"/><nvlink target="0000:c5:00.0" count="6" tclass="0x068000"/></gpu></pci>
    <pci busid="0000:12:00.0" class="0x030200"><gpu dev="2" sm="80">
      <nvlink target="0000:c4:00.0" count="6" tclass="0x068000"/><nvlink target="0000:c5:00.0" count="6" tclass="0x068000"/></gpu></pci>
    <pci busid="0000:13:00.0" class="0x030200"><gpu dev="3" sm="80">
      <nvlink target="0000:c4:00.0" count="6" tclass="0x068000"/><nvlink target="0000:c5:00.0" count="6" tclass="0x068000"/></gpu></pci>
    <pci busid="0000:14:00.0" class="0x030200"><gpu dev="4" sm="80">
      <nvlink target="0000:c4:00.0" count="6" tclass="0x068000"/><nvlink target="0000:c5:00.0" count="6" tclass="0x068000"/></gpu></pci>
    <pci busid="0000:15:00.0" class="0x030200"><gpu dev="5" sm="80">
      <nvlink target="0000:c4:00.0" count="6" tclass="0x068000"/><nvlink target="0000:c5:00.0" count="6" tclass="0x068000"/></gpu></pci>
    <pci busid="0000:16:00.0" class="0x030200"><gpu dev="6" sm="80">
      <nvlink target="0000:c4:00.0" count="6" tclass="0x068000"/><nvlink target="0000:c5:00.0" count="6" tclass="0x068000"/></gpu></pci>
    <pci busid="0000:17:00.0" class="0x030200"><gpu dev="7" sm="80">
      <nvlink target="0000:c4:00.0" count="6" tclass="0x068000"/><nvlink target="0000:c5:00.0" count="6" tclass="0x068000"/></gpu></pci>
  </cpu>
</system>
