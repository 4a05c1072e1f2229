-- SPDX-License-Identifier: Apache-2.0
-- What the energies of scripts/energy refer to.
return {
  TPU4 = "Jouppi et al., Ten Lessons From Three Generations Shaped Google's TPUv4i, ISCA 2021, table 2: energy per operation and per 64-bit access of SRAM and DRAM at 45 nm and 7 nm",
  HOR = "Horowitz, Computing's Energy Problem, ISSCC 2014, figure 1.1.9: energy of instructions, operations and memories at 45 nm, 0.9 V",
  FGD = "O'Connor et al., Fine-Grained DRAM, MICRO 2017, section 2 and table 3: energy of HBM2 by activation, movement and pins",
  SC25 = "Antepara et al., Benchmark-driven Models for Energy Analysis and Attribution of GPU-Accelerated Supercomputing, SC 2025, tables 2 and 3: an A100 (7 nm), measured at the card",
  KEC = "Keckler et al., GPUs and the Future of Parallel Computing, IEEE Micro 2011, table 1: energy of wires, projected to 10 nm",
  FLP = "FlagOpen/FlagPerf: base/benchmarks/computation-{BF16,FP16,FP32,INT8}/ascend/README.md at 1b5a030: watts and rate of products on 8 cards of an Atlas 800T A2",
  NPU = "npu-smi of idle cards: vllm-project/vllm-ascend, issue 1130 (910B3: 88.8 to 97.5 W), issues 2526, 2534, 4513, 12980 (910C: 162.6 to 186.3 W for two dies)",
  JHBM = "JEDEC JESD235 (HBM): 8192 refreshes in the time that a row keeps its bits",
  DK = "Ascend C documentation: architecture of the cores, banks of their buffers",
}
