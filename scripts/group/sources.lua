-- SPDX-License-Identifier: Apache-2.0
-- Where the numbers of systems of devices come from.
return {
  HIXL = "xiaojia151/Hixl: benchmarks/A2_benchmark_performance.md and A3_benchmark_performance.md, a mirror of cann/hixl: measured copies",
  QWEN = "profile of a training step on 4 devices 910B4, ranks 0 and 1: communication steps",
  HCCL = "hiascend.com, CANN 8.5.0, environment variables: HCCL_EXEC_TIMEOUT for servers of the A2 kind and pods of the A3 kind",
  MSI = "Ascend/msinsight: test/data/pytorch, level 1, rank 0 of 8 devices 910B2: each step of four all-reduces",
  ZBAL = "Ascend/memfabric_hybrid: doc/performance, measured copies between dies of a pod",
  CM384 = "CloudMatrix384 paper summaries: packages of two dies, 384 packages in a super pod",
}
