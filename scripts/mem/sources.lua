-- SPDX-License-Identifier: Apache-2.0
-- Where the numbers of the memory descriptions come from.
return {
  RAM = "CMU-SAFARI/ramulator2 2.1: python/ramulator/dram/hbm2.py (timing) and the controller's defaults (src/ramulator/controller)",
  REF = "parameter set of the reference runs in tests/reference/memory, the same numbers given to Ramulator 2.1 and DRAMsim3",
  JHBM = "JEDEC JESD235 (HBM2, HBM2E): organisation, two-cycle ACT, 3.9 us refresh interval; timings are left to the vendors there",
  JLP4 = "JEDEC JESD209-4 (LPDDR4, LPDDR4X), least values in ns; by general knowledge, as also in CMU-SAFARI/ramulator src/LPDDR4.cpp",
  MOP = "Ascend/msopprof: csrc/op_profiling/profiling/device, nominal bandwidths of the parts",
  DKX = "asc-devkit: examples of best practices, measured times in their README files",
  MSI = "Ascend/msinsight: test/data/pytorch, kernel_details.csv, profiles of real kernels",
  INI = "mirror-cann/runtime: src/platform/platform_config/{cann,cann-dev}/<SoC>.ini, memory sizes",
}
