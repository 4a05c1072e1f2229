-- SPDX-License-Identifier: Apache-2.0
-- Where the numbers of the hardware descriptions come from: public repositories, with the
-- file that holds the number.
return {
  INI = "mirror-cann/runtime: src/platform/platform_config/{cann,cann-dev}/<SoC>.ini, the platform files of CANN",
  DK = "mirror-cann/asc-devkit: docs/zh, the Ascend C documentation (architecture pages, API pages)",
  DKX = "mirror-cann/asc-devkit: examples/01_simd_cpp_api/05_best_practices, samples whose READMEs hold board measurements",
  KPP = "xiaobingling93-pixel/Ascend-mskpp: csrc/prof_data/resource910b.cpp and csrc/core/arch/arch_info.cpp, microbenchmark tables of MindStudio msKPP",
  MOP = "Ascend/msopprof: csrc/op_profiling/profiling/device (data_visualize_const.h, device_defs.h, roofline.h), tables inside the vendor's profiler",
  MSI = "Ascend/msinsight: test/data/pytorch, kernel_details.csv, profiles of real kernels",
  MSM = "Ascend/msmodeling: tensor_cast/device.py, device table of a system-level model",
  PTO = "hw-native-sys/pto-isa: include/pto/costmodel, fits on a 910B3 and model constants",
  OPS = "hicann/ops-nn and hicann/ops-math: op_kernel/arch35, kernels of the open operator library for the 950",
  SVF = "hicann/cann-samples@a934ed96: Samples/2_Performance/simd_vf_story, cycles of vector functions in the vendor's simulator",
  VFS = "zouzias/pto-isa-mirror: include/pto/costmodel/a5/VfSim/params, tables of a simulator of vector functions that is set by the vendor's cycle model",
  SMP = "hw-native-sys/simpler: docs/hardware and docs/investigations (mmio-performance)",
  HIXL = "xiaojia151/Hixl: benchmarks/A2_benchmark_performance.md and A3_benchmark_performance.md, a mirror of cann/hixl: measured copies between hosts and devices",
  HC31 = "Hot Chips 31 (2019) coverage of the 910, vengineer blog and besthub article",
  BOOK = "booksim/booksim2: the router of tests/reference/noc/booksim_parameters.csv, input-queued, virtual channels, credits",
  HPM = "Huawei-Performance-Model/Ascend-910B: application_test/{final_test,memorybound_app}, durations of 52,943 kernels of training steps (ResNet-50, BERT, DeepFM) on a 910 of 2019 with 30 cores at 900 MHz",
  REF = "parameter set of the reference runs in tests/reference/memory",
  JHBM = "JEDEC JESD235 (HBM2, HBM2E): 16 pseudo-channels a stack; JESD209-4 (LPDDR4X): channels of 16 bits",
  SMI = "npu-smi info, the vendor's tool of the driver, as public logs of several hosts show its table",
  LSO = "LeleCheung/Ascend-Optimization: project/Ascend-Optimization-v1/operators, op_summary.csv of a card whose memory is faster than that of a 910B4",
  CSM = "hicann/cann-samples: Samples/1_Features and Samples/2_Performance, kernels whose READMEs hold durations on boards",
  CM384 = "CloudMatrix384 paper summaries: 910C package of two dies, 752 TFLOPS, 128 GB, 3.2 TB/s",
}
