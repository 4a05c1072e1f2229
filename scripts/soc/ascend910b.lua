-- SPDX-License-Identifier: Apache-2.0
-- What the 910B family and the dies of the 910C have in common (dav-c220).
--
-- Transfers: cycles = startup_cycles + bytes / bytes_per_cycle, but at least minimum_cycles and
-- bytes / sustained_bytes_per_cycle; fits of the relative error over all rows of a table, for a
-- small median with no row beyond 10 %. KPP keeps times at a nominal 1800 MHz; its on-chip tables only give round numbers at 1850 MHz, which is used for
-- them. Clocks differ between the parts, so cycles are taken over, not times.

-- GM paths: one engine per core fetches; bytes in flight are start-up times rate.
local outstanding = "bytes in flight (bytes_per_cycle x startup_cycles) over the round trip of device memory that GM_UB implies, 125.6 x 190.2 / 62 = 385 cycles"
local no_table = "no published measurement"
local answer = "MTE3 of 52 kernels of one block: median 208.4 cycles + bytes / 93.6, half of them within 198 and 220. The table of UB_GM times copies that follow each other: 137.8 cycles + bytes / 93.6"
local request = "what one core asks GM for at once"
local request_l1 = "GM to L1; 128 B on all other paths"

return soc {
  name = "ascend910b",
  base = "library",
  abstract = true,
  arch = "dav-c220",
  description = "split AIC/AIV cores of the 910B family",

  -- Addresses of UB are {bank[1:0], row[6:0], group[3:0], byte[4:0]}, of L1
  -- {bank, row[9:0], group[2:0], byte[4:0]}, of L0C {row[6:0], bank[3:0], byte[5:0]}.
  l1 = {
    size = num(512 * KiB, "B", "INI", "documented"),
    bank_groups = num(8, "count", "DK", "documented", "of 2 banks; one row read and one written per group and cycle"),
    banks_per_group = num(2, "count", "DK", "documented", "of 32 KiB"),
    row_bytes = num(32, "B", "DK", "documented"),
    bank_stride = num(256 * KiB, "B", "DK", "documented"),
    write_bytes_per_cycle = num(256, "B", "MOP", "derived", "width of the write port. That MTE1 waits follows from 12 MatMulV3 kernels of the calibration list with ND operands: loads at the documented rates / (1 - bytes written / 256 / core cycles) gives all MTE1 times within 6 %; convolutions, with plain copies, show no wait"),
  },
  l0a = { size = num(64 * KiB, "B", "INI", "documented") },
  l0b = { size = num(64 * KiB, "B", "INI", "documented") },
  l0c = {
    size = num(128 * KiB, "B", "INI", "documented"),
    banks = num(16, "count", "DK", "documented", "of 8 KiB"),
    row_bytes = num(64, "B", "DK", "documented"),
  },
  ub = {
    size = num(192 * KiB, "B", "INI", "documented", "per AIV; 256 B and, unless disabled, 8 KiB more are the compiler's"),
    bank_groups = num(16, "count", "DK", "documented"),
    banks_per_group = num(3, "count", "DK", "documented", "of 4 KiB; the platform files say 64 banks in all"),
    row_bytes = num(32, "B", "DK", "documented"),
    bank_stride = num(64 * KiB, "B", "DK", "documented"),
    reads_per_group = num(1, "count", "DK", "documented", "one row read or written per group and cycle: two reads conflict on the group, a read and a write on the bank"),
    write_delay_cycles = num(16, "cycle", "DKX", "derived", "bank_conflict_ub, 64 repeats: 134 cycles with a result 32 bytes off a source's place (measured 135.0), 132 with a source of one block per repeat (129.0); the delay by one repeat for equal alignment is documented"),
  },
  bt = { size = num(1 * KiB, "B", "INI", "documented") },
  fb = { size = num(7 * KiB, "B", "INI", "documented", "FB0 to FB3: 2 + 1 + 2 + 2 KiB") },

  queue = {
    M = num(32, "count", "DK", "documented"),
    MTE1 = num(32, "count", "DK", "documented"),
    V = num(32, "count", "DK", "assumed", "stated for M and MTE1 only"),
    MTE2 = num(32, "count", "DK", "assumed", "stated for M and MTE1 only"),
    MTE3 = num(32, "count", "DK", "assumed", "stated for M and MTE1 only"),
    FIX = num(32, "count", "DK", "assumed", "stated for M and MTE1 only"),
  },
  scalar = { issue_cycles = num(1, "cycle", "PTO", "assumed", "constant of a public cost model: 1 cycle each for flags and register writes"), counted_cycles = num(1, "cycle", "DK", "assumed", "one cycle for each instruction of an x86-64 host; 17 rows of public samples on a 910B1 have 0.25 to 1.55, median 0.65") },
  flag = {
    ids = num(8, "count", "DK", "documented", "0 to 7; users are told to keep to 0 to 5"),
    latency_cycles = num(1, "cycle", "PTO", "assumed", "constant of a public cost model"),
  },
  barrier = { latency_cycles = num(1, "cycle", "PTO", "assumed", "constant of a public cost model, plus the tail of the pipe") },
  cross_core = {
    ids = num(16, "count", "DK", "documented", "0 to 15 in the API page; the architecture page calls 0 to 10 safe"),
    sets_max = num(15, "count", "DK", "documented", "more outstanding sets hang"),
    latency_cycles = num(250, "cycle", "SMP", "assumed", "no public number; the 140 ns of a register doorbell from the AICPU to a core, the fastest signal with one"),
  },
  host = {
    write_bandwidth = num(17.4 * GB, "B/s", "HIXL", "measured", "1 and 8 MiB blocks: 17.43 and 17.44 GB/s"),
    read_bandwidth = num(19.7 * GB, "B/s", "HIXL", "measured", "1 and 8 MiB blocks: 19.68 and 19.71 GB/s"),
    local_bandwidth = num(317 * GB, "B/s", "MSI", "measured", "copies within device memory in a training step on a 910B4: 305 to 330 GB/s"),
    copy = num(2.3 * us, "s", "MSI", "measured", "tasks MEMCPY_ASYNC of a training step on a 910B2: 2.2 to 2.6 us, whatever their few bytes"),
    launch_call = num(5.8 * us, "s", "MSI", "measured", "KernelLaunchWithHandle in a training step on a 910B4, mean of 2,255 calls"),
    operator = num(110 * us, "s", "MSI", "measured", "interval of launches by type of operator in the same step: 100 to 120 us for most"),
    copy_call = num(4.4 * us, "s", "MSI", "measured", "MemcpyAsync in the same step, mean"),
    copy_wait = num(31.4 * us, "s", "MSI", "measured", "MemCopySync in the same step, mean, copies of few bytes"),
    record_call = num(9.1 * us, "s", "MSI", "measured", "aclrtRecordEvent in a training step on a 910B2, mean of 16 calls; 11.4 us on a 910B4"),
    stream_wait_call = num(6.3 * us, "s", "MSI", "measured", "aclrtStreamWaitEvent in the same step, mean of 10 calls"),
  },
  launch = {
    gap = num(0.03 * us, "s", "MSI", "measured", "median of plain kernels back to back in a training step on a 910B4, 1,142 pairs: 0.01 to 0.05 us"),
    mixed_gap = num(1.1 * us, "s", "MSI", "measured", "median of pairs with a mixed kernel in the same step: 0.97 to 1.2 us"),
    base = num(0.54 * us, "s", "MSI", "derived", "task duration minus core time, median of 542 vector kernels with 1 block"),
    per_block = num(0.022 * us, "s", "MSI", "derived", "task duration minus mean core time of 1,281 vector kernels with 40 blocks: at least 1.04 us; 1.38 us the median of casts, which are short and even; (1.38 us - 0.54 us) / 39"),
    per_cluster = num(0.08 * us, "s", "MSI", "derived", "the same difference less base of kernels that leave cores free: 0.27 us with 4 blocks, 0.6 with 8, 1.5 with 22 and 23, 1.4 to 1.8 with 47 of 48 and 0.7 with all 48 (Relu, ReluGrad), 1.0 to 1.5 for convolutions on 16 of 24; so it grows by 0.07 to 0.09 us with each block up to the number of clusters"),
  },

  -- Before the first copy of a block, by kind of kernel. Profiles give the miss rate of the
  -- instruction cache of each launch. Where no code is fetched, the core time of small kernels is
  -- the sum of their pipes; what launches with misses take more is the wait for code.
  -- head_cycles: scalar time of rows with little data.
  -- code_bytes: lines of 64 bytes, as many as misses in launches that find no code: miss rate x
  -- scalar cycles / access_cycles.
  -- line_cycles: of kernels with 1 block, that wait by miss; of kernels in Ascend C also of others.
  code = {
    line = num(64, "B", "MSI", "derived", "with lines of 64 bytes, 16 KiB and the code of each kernel the order of 2,112 launches explains their miss rates best"),
    cube_cache = num(32 * KiB, "B", "DK", "documented", "ICachePreLoad"),
    vector_cache = num(16 * KiB, "B", "DK", "documented", "ICachePreLoad"),
    counted_instructions = num(9, "count", "MSI", "derived", "instructions of an x86-64 host that kernels of an open library touch, by the lines that the same kernels miss on silicon when none is there: RmsNorm 2,360 / 224 = 10.6, SwiGlu 1,310 / 168 = 7.8"),
    counted_line_cycles = num(68, "cycle", "MSI", "derived", "as kernel.FUSED.line_cycles, which comes from compiled kernels"),
    access_cycles = num(2.8, "cycle", "MSI", "derived", "counters of a profile of single kernels; the same order of launches is explained best with 2.4 to 2.8"),
    first_cycles = num(115, "cycle", "MSI", "derived", "wait for code less line_cycles of the lines: 40 blocks 2.6 to 2.8 us (Cast, TensorMove, ZerosLike at 1650 MHz), 47 and 48 blocks 2.6 to 3.3 us (Relu, ReluGrad, TensorMove at 1850 MHz), 32 blocks 1.6 to 2.5 us, 23 blocks 1.1 us, 8 blocks 0.3 to 1 us, 4 blocks 0.2 us"),
    arguments_cycles = num(21, "cycle", "MSI", "derived", "scalar time of launches that find their code: 0.68 to 0.87 us with 40 blocks (Cast), 0.26 to 0.3 us with 1 block (Cast, Add): 0.5 us / 39 others; 0.19 us with 40 blocks where code is fetched, one core after the other"),
    first_read_cycles = num(60, "cycle", "MSI", "derived", "time of MTE2, cold less warm: 1.96 us (Cast) and 0.94 us (Mul) with 40 blocks, 56 launches each: mean 1.45 us / 39 others; 0 to 0.08 us with 1 block"),
  },
  kernel = {
    ELEMENTWISE = {
      issue_cycles = num(13, "cycle", "DK", "documented", "instruction log of the Add sample with queues, c220: 99 instructions from a copy to its vadd, 8 of them flags, masks, barrier and vadd: 12.4 each" .. "; profiles of Mul and Cast give 9 to 18"),
      head_cycles = num(220, "cycle", "MSI", "derived", "scalar time of 36 rows of 1 to 8 blocks: median 480 cycles, less issue_cycles of their 23 to 28 instructions"),
      code_bytes = num(36 * 64, "B", "MSI", "derived", "30 to 40 misses of Add, Cast, Mul, OnesLike, Fill with 1 block"),
      line_cycles = num(15, "cycle", "MSI", "derived", "1 block: 7 to 12 ns a miss for 24 kinds of rows, median 8.5 ns"),
    },
    SLICE = {
      issue_cycles = num(13, "cycle", "DK", "assumed", "as ELEMENTWISE"),
      head_cycles = num(650, "cycle", "MSI", "derived", "a row of Slice, a row of ConcatD, 1 block: 880 and 800 cycles, less issue_cycles of their 12 to 23 instructions"),
      code_bytes = num(60 * 64, "B", "MSI", "derived", "Slice 49 and 59, ConcatD 53 and 65, GatherV2 62, BroadcastTo 70 misses"),
      line_cycles = num(15, "cycle", "MSI", "derived", "Slice, BroadcastTo, 1 block: 10.7 ns a miss"),
    },
    POWER = {
      issue_cycles = num(13, "cycle", "DK", "assumed", "as ELEMENTWISE"),
      head_cycles = num(1500, "cycle", "MSI", "derived", "scalar time of Pows with 1 block, 59 launches: 1,700 to 2,300 cycles, less issue_cycles of 28 instructions"),
      code_bytes = num(110 * 64, "B", "MSI", "derived", "Pows: 110 misses"),
      line_cycles = num(15, "cycle", "MSI", "assumed", "as ELEMENTWISE; Pows has 5 ns a miss"),
    },
    NORM = {
      issue_cycles = num(13, "cycle", "DK", "documented", "as ELEMENTWISE; profiles of RmsNorm and its gradient give 6 to 14"),
      head_cycles = num(1900, "cycle", "MSI", "derived", "2 rows of LpNormV2 of 1 block: scalar 2260 cycles, less issue_cycles of 31 instructions"),
      code_bytes = num(216 * 64, "B", "MSI", "derived", "LpNormV2, 1 block: 216 misses, 28 launches"),
      line_cycles = num(15, "cycle", "MSI", "assumed", "as ELEMENTWISE; LpNormV2 has 6 ns a miss"),
    },
    FUSED = {
      issue_cycles = num(13, "cycle", "DK", "documented", "as ELEMENTWISE; profiles of RmsNorm and its gradient give 6 to 14"),
      head_cycles = num(1900, "cycle", "MSI", "assumed", "as NORM; the vendor gives about 1 us for tiling data and arguments"),
      code_bytes = num(208 * 64, "B", "MSI", "derived", "RmsNorm 224, SwiGlu 168, SwiGluGrad 235, RotaryPositionEmbedding 237, its gradient 196, RmsNormGrad 210 misses"),
      line_cycles = num(68, "cycle", "MSI", "derived", "core time less that of the same kernel run from source without misses, 8 rows of 4 kernels with 32 to 685 misses: 40 ns a miss and 2.5 us with 40 blocks"),
    },
    -- More code than a cache holds, so that none is found.
    TILED = {
      issue_cycles = num(13, "cycle", "DK", "documented", "as FUSED"),
      head_cycles = num(1900, "cycle", "MSI", "assumed", "as FUSED"),
      code_bytes = num(520 * 64, "B", "MSI", "derived", "RmsNormGrad of rows of 128: 561 to 680 misses behind another kernel (28 launches) and 473 to 550 behind itself (28 launches), in the middle 566 and 475"),
      line_cycles = num(68, "cycle", "MSI", "derived", "as FUSED"),
    },
    REDUCE = {
      issue_cycles = num(13, "cycle", "DK", "assumed", "as ELEMENTWISE"),
      head_cycles = num(4000, "cycle", "MSI", "derived", "scalar time of 8 rows of ReduceSum: median 4500 cycles, less issue_cycles of 30 instructions"),
      code_bytes = num(280 * 64, "B", "MSI", "derived", "ReduceSum 227 to 509, LogSoftmaxGrad 274, LogSoftmaxV2 465 misses"),
      line_cycles = num(15, "cycle", "MSI", "assumed", "as ELEMENTWISE; LogSoftmaxGrad with 32 blocks has 9 ns a miss besides first_cycles"),
    },
    FORMAT = {
      issue_cycles = num(13, "cycle", "DK", "documented", "as ELEMENTWISE; profiles of TransData into and out of FRACTAL_Z give 13 to 17"),
      head_cycles = num(2000, "cycle", "MSI", "derived", "TransData, 8 rows with little data: 3200 to 4800 cycles, less issue_cycles of 50 to 240 instructions: median"),
      code_bytes = num(75 * 64, "B", "MSI", "derived", "TransData, 30 rows: 39 to 151 misses, median 75; 210 to 400 where weights are converted"),
      line_cycles = num(15, "cycle", "MSI", "assumed", "as ELEMENTWISE"),
    },
    PERMUTE = {
      issue_cycles = num(13, "cycle", "DK", "assumed", "as ELEMENTWISE"),
      head_cycles = num(7700, "cycle", "MSI", "derived", "5 rows of Transpose: scalar time 7300 to 9000 cycles, also where only 160 elements move; less issue_cycles of their instructions"),
      code_bytes = num(330 * 64, "B", "MSI", "derived", "Transpose, 5 rows: 283 to 545 misses"),
      line_cycles = num(15, "cycle", "MSI", "assumed", "as ELEMENTWISE; 48 blocks have 4 ns a miss besides first_cycles"),
    },
    CUBE = {
      issue_cycles = num(27, "cycle", "MSI", "measured", "13 rows of bf16 products with 14 shapes: scalar cycles per instruction of their lowered traces, 23 to 32, median 27; fp32 with few rows 35 to 60"),
      head_cycles = num(1500, "cycle", "MSI", "assumed", "no row with little data; with the wait for code the 3.6 to 5.7 us, 1.2 us of them fill and drain, for which cores of 4 rows that MTE2 bounds (fp32, m=32, 16 and 24 blocks) are busy longer than MTE2"),
      code_bytes = num(64 * 64, "B", "MSI", "derived", "MatMulV2: 24 to 131 misses, median 60; MatMulV3 138 and 264"),
      line_cycles = num(15, "cycle", "MSI", "assumed", "as ELEMENTWISE"),
    },
    CONV = {
      issue_cycles = num(13, "cycle", "MSI", "measured", "3 rows of Conv2D and 3 of Conv2DBackpropInput with 3x3: scalar cycles per instruction of their lowered traces, 12 to 15; 5x5, 11x11 and gradients of filters up to 46"),
      head_cycles = num(1500, "cycle", "MSI", "assumed", "as CUBE"),
      code_bytes = num(90 * 64, "B", "MSI", "derived", "Conv2D and its gradients: 57 to 156 misses"),
      line_cycles = num(15, "cycle", "MSI", "assumed", "as ELEMENTWISE"),
    },
    ATTENTION = {
      issue_cycles = num(20, "cycle", "MSI", "derived", "vector cores of 4 rows of FlashAttentionScore and its gradient: 16 to 30 scalar cycles per instruction of their lowered traces"),
      head_cycles = num(1500, "cycle", "MSI", "assumed", "as CUBE"),
      code_bytes = num(208 * 64, "B", "MSI", "assumed", "as FUSED; vector cores of FlashAttentionScore have 1,500 misses, those of loops included"),
      line_cycles = num(68, "cycle", "MSI", "assumed", "as FUSED"),
    },
  },

  cube = {
    m = num(16, "count", "INI", "documented"),
    k_bytes = num(32, "B", "INI", "documented", "16 fp16, 32 int8, 64 int4, 8 fp32"),
    n = num(16, "count", "INI", "documented"),
    fp16_cycles = num(1, "cycle", "KPP", "measured", "fit 0.999 cycles per tile"),
    bf16_cycles = num(1, "cycle", "INI", "documented", "same M, K, N as fp16"),
    int8_cycles = num(1, "cycle", "INI", "documented", "16, 32, 16 per cycle"),
    int4_cycles = num(1, "cycle", "INI", "documented", "16, 64, 16 per cycle"),
    fp32_cycles = num(2, "cycle", "DK", "documented", "a quarter of the rate of fp16: 16x8x16 in 2 cycles"),
    hf32_cycles = num(1, "cycle", "MSI", "measured", "2048 multiply-accumulates per cycle explain 98 % of the cube time of 910B2 convolutions"),
    fp8_cycles = num(0, "cycle", "INI", "documented", "not supported"),
    fp4_cycles = num(0, "cycle", "INI", "documented", "not supported"),
    issue_cycles = num(2.09, "cycle", "KPP", "measured", "910b1 table, back to back: 2.1 + 0.999 x tiles over all rows; 2.09 with whole tiles keeps all rows but two of at most 6 tiles within 2 %"),
    least_cycles = num(2, "cycle", "KPP", "measured", "910b3 table: 24.98 cycles with one tile, as the fit says of two; 26.03 with three"),
    minimum_cycles = num(4.86, "cycle", "KPP", "measured", "910b1 table: the shortest mad, of two tiles"),
    startup_cycles = num(23, "cycle", "KPP", "measured", "910b3 table, isolated: 23.0 + 1.000 x tiles"),
  },

  vector = {
    repeat_bytes = num(256, "B", "DK", "documented", "8 blocks of 32 B"),
    offset_fetch_cycles = num(8, "cycle", "KPP", "measured", "vgatherb: steps at 9, 17 and 25 repeats; 64 offsets are those of 8 repeats"),
    accumulate_cycles = num(2, "cycle", "MSI", "derived", "ReduceSum of 4096 x 151936 in fp32 takes 2.10 cycles of the vector unit for 64 elements, LpNormV2 6.08 with abs (1) and a square (2)"),
    ONE = {
      startup_cycles = num(24, "cycle", "PTO", "derived", "middle of the isolated fits: vrelu, vmaxs 23, vrsqrt 24, vmuls, vlrelu 26"),
      cycles_per_repeat = num(1, "cycle", "KPP", "measured"),
      minimum_cycles = num(3, "cycle", "KPP", "measured", "whole instruction with 1 repeat, back to back"),
    },
    ONE_INT = {
      startup_cycles = num(24, "cycle", "PTO", "derived", "as class ONE"),
      cycles_per_repeat = num(1, "cycle", "KPP", "measured"),
      minimum_cycles = num(4, "cycle", "KPP", "measured", "vadds int32 with 1 repeat"),
    },
    TWO = {
      startup_cycles = num(22, "cycle", "DKX", "measured", "isolated Add: 22 + 1.00 x repeats without conflict; fits of PTO give 23 to 24"),
      cycles_per_repeat = num(1, "cycle", "DKX", "measured", "without conflict; the 2.00 of KPP are both sources in one group of UB banks, as buffers allotted in a row are"),
      minimum_cycles = num(3, "cycle", "KPP", "measured", "vsub with 1 repeat"),
    },
    MULTIPLY = {
      startup_cycles = num(25, "cycle", "PTO", "measured", "isolated vmul: 2.3 x repeats + 25"),
      cycles_per_repeat = num(1, "cycle", "DKX", "derived", "as class TWO; 2.00 in the table of KPP as well"),
      minimum_cycles = num(3, "cycle", "KPP", "measured", "vmul with 1 repeat"),
    },
    EXP32 = {
      startup_cycles = num(32, "cycle", "PTO", "derived", "middle of vexp, 2.00 x repeats + 31, and vln, 33"),
      cycles_per_repeat = num(2, "cycle", "KPP", "measured"),
      minimum_cycles = num(3, "cycle", "KPP", "measured"),
    },
    COMPARE = {
      startup_cycles = num(36, "cycle", "PTO", "assumed", "14 + 22, defaults of the model, not calibrated"),
      cycles_per_repeat = num(1, "cycle", "KPP", "derived", "5 + 2.00 x repeats with both sources in one group of UB banks"),
      offset_cycles = num(5, "cycle", "KPP", "measured", "same table; where the bits do not fill whole 32-byte blocks, and nothing where they do"),
      minimum_cycles = num(7, "cycle", "KPP", "measured"),
    },
    COMPARE_SCALAR = {
      startup_cycles = num(36, "cycle", "PTO", "assumed", "as vcmpv"),
      cycles_per_repeat = num(1.026, "cycle", "KPP", "measured", "fit over 1 to 31 repeats, which take 6 cycles more than repeats up to 5 and 7 more from 7 on: largest error 4.7 %"),
      offset_cycles = num(6.2, "cycle", "KPP", "measured", "same fit; where the bits do not fill whole 32-byte blocks, and nothing where they do"),
      minimum_cycles = num(7, "cycle", "KPP", "measured"),
    },
    THREE = {
      startup_cycles = num(46, "cycle", "PTO", "assumed", "14 + 32, defaults of the model, not calibrated"),
      cycles_per_repeat = num(3, "cycle", "KPP", "measured"),
      minimum_cycles = num(3, "cycle", "KPP", "measured"),
    },
    FOUR = {
      startup_cycles = num(32, "cycle", "PTO", "assumed", no_table .. "; as 32-bit exp and ln"),
      cycles_per_repeat = num(4, "cycle", "KPP", "measured", "sqrt 4.00; exp and ln 3.90, which is 4 at 1850 MHz"),
      minimum_cycles = num(4, "cycle", "KPP", "measured"),
    },
    DIVIDE16 = {
      startup_cycles = num(31, "cycle", "PTO", "derived", "as 32 bit"),
      cycles_per_repeat = num(4, "cycle", "KPP", "measured"),
      offset_cycles = num(4, "cycle", "KPP", "measured", "8.1 with 1 repeat, 128.1 with 31"),
      minimum_cycles = num(8, "cycle", "KPP", "measured"),
    },
    DIVIDE32 = {
      startup_cycles = num(31, "cycle", "PTO", "measured", "4.03 x repeats + 31"),
      cycles_per_repeat = num(4, "cycle", "KPP", "measured"),
      minimum_cycles = num(4, "cycle", "KPP", "measured"),
    },
    FIVE = {
      startup_cycles = num(22, "cycle", "DKX", "assumed", no_table .. "; as two-source instructions"),
      cycles_per_repeat = num(5, "cycle", "KPP", "measured"),
      minimum_cycles = num(5, "cycle", "KPP", "measured"),
    },
    SIX = {
      startup_cycles = num(22, "cycle", "DKX", "assumed", no_table .. "; as two-source instructions"),
      cycles_per_repeat = num(6, "cycle", "KPP", "measured"),
      minimum_cycles = num(6, "cycle", "KPP", "measured"),
    },
    SEVEN = {
      startup_cycles = num(46, "cycle", "PTO", "assumed", "14 + 32 of vcadd, defaults of the model, not calibrated"),
      cycles_per_repeat = num(7, "cycle", "KPP", "measured"),
      minimum_cycles = num(7, "cycle", "KPP", "measured"),
    },
    GATHER16 = {
      startup_cycles = num(14, "cycle", "PTO", "assumed", "as 32 bit"),
      cycles_per_repeat = num(24, "cycle", "KPP", "measured"),
      offset_cycles = num(3, "cycle", "KPP", "measured", "27 with 1 repeat, 363 with 15"),
      minimum_cycles = num(27, "cycle", "KPP", "measured"),
    },
    GATHER32 = {
      startup_cycles = num(14, "cycle", "PTO", "derived", "26 cycles of an isolated call with 1 repeat, less 12"),
      cycles_per_repeat = num(12, "cycle", "KPP", "measured"),
      offset_cycles = num(2, "cycle", "KPP", "measured", "14 with 1 repeat; 3 from 3 repeats on"),
      minimum_cycles = num(14, "cycle", "KPP", "measured"),
    },
    GATHER_BLOCK = {
      startup_cycles = num(24, "cycle", "PTO", "assumed", no_table .. "; as class ONE"),
      cycles_per_repeat = num(1, "cycle", "KPP", "measured", "inside each 8 repeats"),
      offset_cycles = num(2, "cycle", "KPP", "measured", "11 with 1 repeat, less offset_fetch_cycles and the repeat"),
      minimum_cycles = num(11, "cycle", "KPP", "measured"),
    },
    COMPACT = {
      startup_cycles = num(34, "cycle", "PTO", "assumed", "14 + 20, defaults of the model, not calibrated"),
      cycles_per_repeat = num(14, "cycle", "KPP", "measured"),
      minimum_cycles = num(14, "cycle", "KPP", "measured"),
    },
    SORT = {
      startup_cycles = num(20, "cycle", "PTO", "measured", "vmrgsort4: 78 x repeats + 20 at block 64"),
      cycles_per_repeat = num(16, "cycle", "KPP", "measured", "vmrgsort, per step"),
      offset_cycles = num(6, "cycle", "KPP", "measured", "22 with 1 repeat, 246 with 15"),
      minimum_cycles = num(22, "cycle", "KPP", "measured"),
    },
    TRANSPOSE = {
      startup_cycles = num(24, "cycle", "PTO", "assumed", no_table .. "; as class ONE"),
      cycles_per_repeat = num(2, "cycle", "PTO", "assumed", "6 + 2 x repeats, the model's default for unlisted instructions"),
      minimum_cycles = num(3, "cycle", "KPP", "assumed", no_table .. "; as class ONE"),
    },
  },

  path = {
    GM_L1 = {
      startup_cycles = num(159.6, "cycle", "KPP", "measured", "GM_TO_L1_910b3, 18 rows 1 to 496 KiB: median error 1.4 %, largest 6.4 %; one request"),
      spread_cycles = num(9.2, "cycle", "KPP", "measured", "same fit; without it the median is 4.1 %, the largest 10.4 %. No other path needs it"),
      bytes_per_cycle = num(179.6, "B/cycle", "KPP", "measured", "same fit"),
      hbm_bytes_per_cycle = num(74.5, "B/cycle", "KPP", "derived", outstanding .. ": 179.6 x 159.6 / 385"),
      overlap_issue_cycles = num(20.6, "cycle", "DKX", "assumed", "as GM_UB, the same engine"),
      request_bytes = num(256, "B", "MOP", "documented", request_l1),
    },
    GM_UB = {
      startup_cycles = num(190.2, "cycle", "KPP", "measured", "GM_TO_UB_910b3, 25 rows 1 to 188 KiB: median error 0.9 %, largest 8.5 % (1 KiB takes 216 there; kernels of one block load up to 512 B in 175 to 200 cycles); the 910b1 table flattens at 47 B/cycle, which the profiler's limit contradicts"),
      bytes_per_cycle = num(125.6, "B/cycle", "KPP", "measured", "same fit"),
      hbm_bytes_per_cycle = num(62, "B/cycle", "DKX", "measured", "vector-add samples on a 910B4: pairs of 4 KiB and of 40 KiB copies take 190 + bytes/62 each"),
      overlap_issue_cycles = num(20.6, "cycle", "DKX", "measured", "stream of independent 128 B DataCopyPad copies on 48 cores"),
      unaligned_cycles = num(50, "cycle", "MSI", "derived", "TransData of a 910B2, rows of 676 and 2916 B that are not whole blocks: MTE2 takes at least 55 and 93 cycles each, less bytes / bytes_per_cycle: 50 and 70"),
      request_bytes = num(128, "B", "MOP", "documented", request),
    },
    GM_L0A = {
      startup_cycles = num(172.3, "cycle", "KPP", "measured", "GM_TO_L0A_910b3, 17 rows 1 to 64 KiB: median error 1.4 %, largest 8.9 %"),
      bytes_per_cycle = num(150.9, "B/cycle", "KPP", "measured", "same fit"),
      minimum_cycles = num(222.7, "cycle", "KPP", "measured", "same fit, rows of 1 to 8 KiB"),
      hbm_bytes_per_cycle = num(67.5, "B/cycle", "KPP", "derived", outstanding .. ": 150.9 x 172.3 / 385"),
      overlap_issue_cycles = num(20.6, "cycle", "DKX", "assumed", "as GM_UB, the same engine"),
      request_bytes = num(128, "B", "MOP", "documented", request),
    },
    GM_L0B = {
      startup_cycles = num(165.2, "cycle", "KPP", "measured", "GM_TO_L0B_910b3, 17 rows 1 to 64 KiB: median error 1.3 %, largest 7.4 %"),
      bytes_per_cycle = num(117.4, "B/cycle", "KPP", "measured", "same fit"),
      minimum_cycles = num(207.4, "cycle", "KPP", "measured", "same fit, rows of 1 and 4 KiB"),
      hbm_bytes_per_cycle = num(50.4, "B/cycle", "KPP", "derived", outstanding .. ": 117.4 x 165.2 / 385"),
      overlap_issue_cycles = num(20.6, "cycle", "DKX", "assumed", "as GM_UB, the same engine"),
      request_bytes = num(128, "B", "MOP", "documented", request),
    },
    L1_L0A = {
      startup_cycles = num(2.2, "cycle", "KPP", "measured", "L1_TO_L0A_910b1, 20 rows 1 to 60 KiB at 1850 MHz, with the documented rate: largest error 0.8 %"),
      bytes_per_cycle = num(256, "B/cycle", "DK", "documented", "measured 256.3; the platform files say 512"),
    },
    L1_L0B = {
      startup_cycles = num(2.2, "cycle", "KPP", "measured", "L1_TO_L0B_910b1, 20 rows 1 to 60 KiB at 1850 MHz, with the documented rate: largest error 0.7 %"),
      bytes_per_cycle = num(128, "B/cycle", "DK", "documented", "measured 128.0; the platform files say 256"),
    },
    L1_BT = {
      minimum_cycles = num(3.1, "cycle", "KPP", "measured", "L1_TO_BT_910b1 at 1850 MHz, row of 64 B"),
      bytes_per_cycle = num(32, "B/cycle", "KPP", "measured", "8 rows 64 to 960 B at 1850 MHz: largest error 0.7 %"),
    },
    L1_FB = {
      startup_cycles = num(15, "cycle", "KPP", "measured", "L1_TO_FB_910b1, 4 rows 128 to 896 B at 1850 MHz: error below 0.1 %"),
      bytes_per_cycle = num(32, "B/cycle", "KPP", "measured", "same fit"),
    },
    L1_GM = {
      startup_cycles = num(137.8, "cycle", "KPP", "assumed", no_table .. "; as UB_GM, the same engine"),
      request_bytes = num(128, "B", "MOP", "documented", request),
      acknowledge_cycles = num(70.6, "cycle", "MSI", "assumed", no_table .. "; as UB_GM, the same engine"),
      bytes_per_cycle = num(115.7, "B/cycle", "MOP", "derived", "limit of one 910B1 core, 199.43 GiB/s at 1850 MHz; the platform files say 128"),
    },
    UB_GM = {
      startup_cycles = num(137.8, "cycle", "KPP", "measured", "UB_TO_GM_910b1, 38 rows 1 to 75 KiB: median error 0.3 %, largest 3.9 %"),
      bytes_per_cycle = num(93.6, "B/cycle", "KPP", "measured", "same fit"),
      sustained_bytes_per_cycle = num(65.8, "B/cycle", "KPP", "measured", "same fit; rows from 30 KiB on; the platform files say 64"),
      acknowledge_cycles = num(70.6, "cycle", "MSI", "derived", answer),
      unaligned_cycles = num(60, "cycle", "MSI", "derived", "TransData of a 910B2, rows of 676 and 2916 B that are not whole blocks: MTE3 takes 66 to 76 and 89 to 104 cycles each, less bytes / bytes_per_cycle: 64 and 66"),
      request_bytes = num(128, "B", "MOP", "documented", request),
    },
    UB_UB = {
      bytes_per_cycle = num(256, "B/cycle", "KPP", "measured", "UB_TO_UB_910b1, 13 rows at 1850 MHz: 255.7 B/cycle, largest error 0.3 %, no start-up to be seen"),
    },
    L0C_GM = {
      minimum_cycles = num(88.8, "cycle", "KPP", "measured", "L0C_TO_GM_910b1 and L0C_TO_GM_TRANS_910b1, 49 rows 1 to 128 KiB: flat to 10 KiB, then bytes / 119.4; median error 2.2 %, largest 8.7 %"),
      bytes_per_cycle = num(119.4, "B/cycle", "KPP", "measured", "same fit"),
      acknowledge_cycles = num(70.6, "cycle", "MSI", "assumed", no_table .. "; as UB_GM, the same way back"),
      request_bytes = num(128, "B", "MOP", "documented", request),
    },
    L0C_L1 = {
      startup_cycles = num(15, "cycle", "KPP", "assumed", no_table .. "; as L1_FB, the same pipe"),
      bytes_per_cycle = num(125.9, "B/cycle", "MOP", "derived", "limit of one 910B1 core, 216.88 GiB/s at 1850 MHz"),
    },
  },

  -- Samples: 906 MB of rows of 2 KiB that hit L2 in 190 us on 24 cores of a 910B1.
  nd2nz = {
    line = num(512, "B", "DKX", "derived", "what else is known of line_cycles: rows of 256 and of 512 B take the same"),
    line_cycles = num(4.77, "cycle", "DKX", "derived", "data_copy, GM to L1, quarters that fit L2: 107.3 B/cycle of each core with rows of whole lines of 512 B. What else is known agrees: a stream of copies of 64 rows of 128 B takes at most 5.7 cycles per row, MTE2 of products on a 910B4 5.0 to 6.0 cycles per row of 256 or 512 B, and the least of GM_TO_L1_TRANS_910b1, 781 cycles at 4 and at 12 KiB, is that of 128 rows behind the start-up of the path"),
  },

  fixpipe = {
    split_bytes_per_cycle = num(32, "B/cycle", "MSI", "derived", "Conv2D of a 910B2 in fp32, bytes of the result over time of the fixpipe, 5 rows: 26.0, 26.2, 26.4, 28.4 and 31.7, the more the larger its blocks; a block of 32 bytes a cycle"),
  },

  -- Where cores, slices and memory sit on the network is not published.
  memory = "hbm2e_3200",
  memory_map = "pair",
  topology = "mesh",
  energy = "davinci_7nm",
  noc = {
    columns = num(4, "count", "HC31", "assumed", "the 910 has a mesh of 6 x 4; here 16 routers, one per slice of L2"),
    rows = num(4, "count", "HC31", "assumed", "as the 910"),
    flit = num(256, "B", "HC31", "assumed", "twice the 1024 bits of the 910: its L2 moves more than twice as much"),
    clock = num(2 * GHz, "Hz", "HC31", "assumed", "as the 910"),
    routing_cycles = num(1, "cycle", "BOOK", "assumed", "a router of four stages: route, virtual channel, switch, traversal"),
    link_cycles = num(1, "cycle", "BOOK", "assumed", "the same router"),
    credit_cycles = num(1, "cycle", "BOOK", "assumed", "the same router"),
    vcs = num(4, "count", "BOOK", "assumed", "the same router"),
    vc_flits = num(8, "count", "BOOK", "assumed", "the same router"),
  },
  transfer = {
    window_cycles = num(104, "cycle", "MSI", "assumed", "between the mean and the farthest round trip of an L2 hit in this model, 94 and 112 cycles at 1650 MHz: engines just stream hits at their measured rate; within that range the value with which all four vector-add samples come nearest"),
  },
  l2 = {
    slices = num(16, "count", "MOP", "assumed", "not published; of 8, 16 and 32 the one that explains the vector-add samples, with their 8 cores, best"),
    line = num(512, "B", "MOP", "documented", "functional L2 model of the profiler"),
    ways = num(24, "count", "MOP", "documented", "functional L2 model of the profiler"),
    hit_cycles = num(50, "cycle", "PTO", "assumed", "default of a public cost model, not measured"),
    -- Once for each core and kernel: short copies one after the other (add1_tile2048, each behind its
    -- own answer) do not wait that long each. What the first way consists of is not published; it
    -- may be a look at the tables of addresses.
    miss_cycles = num(510, "cycle", "MSI", "derived", "time of MTE2 of kernels with 1 block at 1650 MHz: one copy 0.12 us where L2 holds the input, 0.41 to 0.56 where not (Cast); two copies 0.21 us (Add, Mul, Sub, Greater of scalars), 0.5 to 0.59 where one comes from device memory (Add of gradients 112 launches, Mul, INT32); LpNorm 0.27 to 0.34 more: 0.36 us the median, less 80 cycles that device memory itself takes"),
    kept_share = num(0.375, "ratio", "MSI", "assumed", "with 201 MB of L2, a profile of the 910B2 finds a weight of 67 MB there, and nothing of one of 151 MB: at most twice this share"),
  },

  hbm = {
    interleave = num(256, "B", "REF", "assumed", "as the reference runs of whole stacks interleave their pseudo-channels"),
    channels = num(64, "count", "JHBM", "assumed", "four stacks of 16 pseudo-channels"),
    bandwidth_scale = num(1, "ratio", "MOP", "documented", "the table as it stands"),
    mixed_efficiency = num(0.84, "ratio", "MSI", "derived", "ten kernels far larger than L2, bytes over time of MTE2 less refresh: 910B4 Mul 0.89, 0.92 and 0.97, Sub and RealDiv 0.89, Exp 0.84, Add 0.83, Cast 0.79 and 0.86, 910B1 Mul 0.87; mean 0.87 if L2 held dirty lines before, 0.81 if it held none and keeps the last results; the middle of both"),
  },
}
