-- SPDX-License-Identifier: Apache-2.0
-- What the 950 family has in common (dav-c310).
--
-- Transfers: fits of least squares of the relative error over the six rows (1 to 32 KiB) of
-- the 910_95 tables of KPP at 1650 MHz. Their GM tables are flat up to 8 KiB and step at
-- 16 KiB; startup_cycles 50 with minimum_cycles describes that best over the five of them.
-- The old vector instructions are emulated by register code here: their start-up is that of
-- a vector function, their slope that of the fitted vector functions where those exist.

local like_c220 = "no public measurement of this architecture; as dav-c220"
local gm_startup = "common start-up of the GM tables; see the head of this file"
local flat = "flat part of the same table"

local function assumed(value, source)
  return num(value, "cycle", source or "KPP", "assumed", like_c220)
end

-- Classes without a fit: start-up of the fitted classes, the rest as dav-c220.
local function vector_class(per_repeat, minimum)
  return {
    startup_cycles = num(55.1, "cycle", "PTO", "assumed", "as class TWO, a vector function's start and drain"),
    cycles_per_repeat = assumed(per_repeat),
    minimum_cycles = assumed(minimum),
  }
end

-- Register instructions: latency, then from issue to the issue of a reader, of a reader in the
-- special unit, of a store; interval of the special unit; execution units.
local function register(latency, forward, special, store, interval, units, confidence, note)
  local function cycles(value)
    return num(value, "cycle", "VFS", confidence or "derived", note or "isa, forwarding and initiation_interval")
  end
  return {
    latency_cycles = cycles(latency),
    forward_cycles = cycles(forward),
    special_cycles = cycles(special),
    store_cycles = cycles(store),
    interval_cycles = cycles(interval),
    units = num(units, "count", "DK", "documented", "appendix on single and double issue of register instructions"),
  }
end
local as_sqrt = "latencies of docs/isa/vector; what is forwarded as for quotients"
local not_in_tables = "not in the tables"
local gathers = "the vendor's simulator, as docs/isa/vector of PTO quotes it: 27 to 28, 21, 17 cycles from issue to end"

-- Starts of the open library's own kernels for this chip: lines of code that a run touches and scalar work before
-- its first copy, of tensors of 256x2048 in fp32 (`vinci run --library`, report and hotspots.csv).
local function start(head, code_lines, operators)
  return {
    issue_cycles = num(13, "cycle", "DK", "assumed", "as dav-c220"),
    head_cycles = num(head, "cycle", "OPS", "derived", operators),
    code_bytes = num(code_lines * 64, "B", "OPS", "derived", operators),
    line_cycles = num(15, "cycle", "OPS", "derived", "as code.counted_line_cycles"),
  }
end

return soc {
  name = "ascend950",
  base = "library",
  abstract = true,
  arch = "dav-c310",
  description = "split AIC/AIV cores of the 950 family",

  -- Addresses of UB are {row[8:0], bank, group[2:0], byte[4:0]}; L1 and L0C as dav-c220.
  l1 = {
    size = num(512 * KiB, "B", "INI", "documented"),
    bank_groups = num(8, "count", "DK", "documented", "of 2 banks"),
    banks_per_group = num(2, "count", "DK", "documented", "of 32 KiB"),
    row_bytes = num(32, "B", "DK", "documented"),
    bank_stride = num(256 * KiB, "B", "DK", "documented"),
    write_bytes_per_cycle = num(0, "B", "MOP", "assumed", "no measurement of reads and writes at once"),
  },
  l0a = { size = num(64 * KiB, "B", "INI", "documented") },
  l0b = { size = num(64 * KiB, "B", "INI", "documented") },
  l0c = {
    size = num(256 * KiB, "B", "INI", "documented"),
    banks = num(16, "count", "DK", "documented", "of 16 KiB"),
    row_bytes = num(64, "B", "DK", "documented"),
  },
  ub = {
    size = num(256 * KiB, "B", "DKX", "documented", "programs on boards use all of it; the platform files have 248 KiB"),
    reserved = num(8 * KiB, "B", "DK", "documented", "6 KiB stack of vector functions and 2 KiB; the platform files leave them out"),
    bank_groups = num(8, "count", "DK", "documented"),
    banks_per_group = num(2, "count", "DK", "documented", "of 16 KiB"),
    row_bytes = num(32, "B", "DK", "documented"),
    bank_stride = num(256, "B", "DK", "documented"),
    reads_per_group = num(2, "count", "DK", "documented", "of different banks, while the group is not written"),
    write_delay_cycles = num(0, "cycle", "DK", "assumed", "vector functions keep several repeats in flight and reorder them; that two reads and a write do not fit one cycle is part of the fitted slopes, of TADD 1.247"),
  },
  bt = { size = num(4 * KiB, "B", "INI", "documented") },
  fb = { size = num(6 * KiB, "B", "INI", "documented", "FB0 and FB1: 4 + 2 KiB") },

  queue = {
    M = num(32, "count", "DK", "documented"),
    MTE1 = num(32, "count", "DK", "documented"),
    V = num(32, "count", "DK", "assumed", "stated for M and MTE1 only"),
    MTE2 = num(32, "count", "DK", "assumed", "stated for M and MTE1 only"),
    MTE3 = num(32, "count", "DK", "assumed", "stated for M and MTE1 only"),
    FIX = num(32, "count", "DK", "assumed", "stated for M and MTE1 only"),
  },
  scalar = { issue_cycles = assumed(1, "PTO"), counted_cycles = assumed(1, "PTO") },
  flag = {
    ids = num(8, "count", "DK", "documented", "0 to 7"),
    latency_cycles = assumed(1, "PTO"),
  },
  barrier = { latency_cycles = assumed(1, "PTO") },
  cross_core = {
    ids = num(16, "count", "DK", "documented", "0 to 15 in the API page; mode 4 also uses 16 to 26"),
    sets_max = num(15, "count", "DK", "documented", "more outstanding sets hang"),
    latency_cycles = assumed(250, "SMP"),
  },
  host = {
    write_bandwidth = num(17.4 * GB, "B/s", "HIXL", "assumed", "as the 910B"),
    read_bandwidth = num(19.7 * GB, "B/s", "HIXL", "assumed", "as the 910B"),
    local_bandwidth = num(317 * GB, "B/s", "MSI", "assumed", "copies within device memory in a training step on a 910B4: 305 to 330 GB/s"),
    copy = num(2.3 * us, "s", "MSI", "assumed", "tasks MEMCPY_ASYNC of a training step on a 910B2: 2.2 to 2.6 us, whatever their few bytes"),
    launch_call = num(5.8 * us, "s", "MSI", "assumed", "KernelLaunchWithHandle in a training step on a 910B4, mean of 2,255 calls"),
    operator = num(110 * us, "s", "MSI", "assumed", "interval of launches by type of operator in the same step: 100 to 120 us for most"),
    copy_call = num(4.4 * us, "s", "MSI", "assumed", "MemcpyAsync in the same step, mean"),
    copy_wait = num(31.4 * us, "s", "MSI", "assumed", "MemCopySync in the same step, mean, copies of few bytes"),
    record_call = num(9.1 * us, "s", "MSI", "assumed", "aclrtRecordEvent in a training step on a 910B2, mean of 16 calls; 11.4 us on a 910B4"),
    stream_wait_call = num(6.3 * us, "s", "MSI", "assumed", "aclrtStreamWaitEvent in the same step, mean of 10 calls"),
  },
  launch = {
    gap = num(0.03 * us, "s", "MSI", "assumed", "median of plain kernels back to back in a training step on a 910B4, 1,142 pairs: 0.01 to 0.05 us"),
    mixed_gap = num(1.1 * us, "s", "MSI", "assumed", "median of pairs with a mixed kernel in the same step: 0.97 to 1.2 us"),
    base = num(0.7 * us, "s", "DKX", "derived", "task duration minus core time: 0.6 to 0.8 us whatever the blocks"),
    per_block = num(0, "s", "DKX", "derived", "no growth with the blocks"),
    per_cluster = num(0, "s", "DKX", "derived", "no growth with the blocks"),
  },
  code = {
    counted_line_cycles = num(15, "cycle", "CSM", "derived", "as lines of kernels without branches on dav-c220: of 8 softmax kernels with 32 blocks and 2 gelu kernels with one, compiled from source and launched once, durations err by 6 % in the mean, with the 68 of fused kernels by 25 %"),
  },

  cube = {
    m = num(16, "count", "INI", "documented"),
    k_bytes = num(32, "B", "INI", "documented", "16 fp16, 32 int8, 8 fp32"),
    n = num(16, "count", "INI", "documented"),
    fp16_cycles = num(1, "cycle", "KPP", "measured", "fit 1.000 cycles per tile"),
    bf16_cycles = num(1, "cycle", "INI", "documented", "same M, K, N as fp16"),
    int8_cycles = num(1, "cycle", "INI", "documented", "16, 32, 16 per cycle"),
    int4_cycles = num(0, "cycle", "INI", "documented", "not supported"),
    fp32_cycles = num(1, "cycle", "INI", "documented", "16, 8, 16 per cycle; roofline.h of MOP agrees"),
    hf32_cycles = num(1, "cycle", "MSM", "derived", "half of the rate of fp16"),
    fp8_cycles = num(1, "cycle", "INI", "documented", "16, 32, 16 per cycle"),
    fp4_cycles = num(1, "cycle", "DK", "documented", "16, 64, 16 per cycle; roofline.h of MOP agrees"),
    issue_cycles = num(0.26, "cycle", "KPP", "measured", "910_95 table, back to back: 0.26 + 1.000 x tiles"),
    least_cycles = assumed(2),
    minimum_cycles = num(4.26, "cycle", "KPP", "measured", "910_95 table: the shortest mad there, of four tiles"),
    startup_cycles = assumed(23),
  },

  vector = {
    repeat_bytes = num(256, "B", "DK", "documented", "register width"),
    offset_fetch_cycles = assumed(8),
    accumulate_cycles = assumed(2),
    ONE = {
      startup_cycles = num(53.1, "cycle", "PTO", "measured", "fit of TMINS: 1.059 x iterations + 53.1"),
      cycles_per_repeat = num(1.059, "cycle", "PTO", "measured", "same fit"),
      minimum_cycles = assumed(3),
    },
    ONE_INT = {
      startup_cycles = num(53.1, "cycle", "PTO", "derived", "as class ONE"),
      cycles_per_repeat = num(1.059, "cycle", "PTO", "derived", "as class ONE"),
      minimum_cycles = assumed(4),
    },
    TWO = {
      startup_cycles = num(55.1, "cycle", "PTO", "measured", "fit of TADD: 1.247 x iterations + 55.1"),
      cycles_per_repeat = num(1.247, "cycle", "PTO", "measured", "same fit"),
      minimum_cycles = assumed(3),
    },
    MULTIPLY = {
      startup_cycles = num(56.3, "cycle", "PTO", "measured", "fit of TMUL: 1.194 x iterations + 56.3"),
      cycles_per_repeat = num(1.194, "cycle", "PTO", "measured", "same fit"),
      minimum_cycles = assumed(3),
    },
    EXP32 = {
      startup_cycles = num(62.7, "cycle", "PTO", "measured", "fit of TEXP f32: 1.967 x iterations + 62.7"),
      cycles_per_repeat = num(1.967, "cycle", "PTO", "measured", "same fit"),
      minimum_cycles = assumed(3),
    },
    DIVIDE16 = {
      startup_cycles = num(68.7, "cycle", "PTO", "measured", "fit of TDIVS f16: 3.549 x iterations + 68.7"),
      cycles_per_repeat = num(3.549, "cycle", "PTO", "measured", "same fit"),
      minimum_cycles = assumed(8),
    },
    DIVIDE32 = {
      startup_cycles = num(64.5, "cycle", "PTO", "measured", "fit of TDIVS f32: 1.908 x iterations + 64.5"),
      cycles_per_repeat = num(1.908, "cycle", "PTO", "measured", "same fit"),
      minimum_cycles = assumed(4),
    },
    COMPARE = vector_class(2, 7),
    COMPARE_SCALAR = vector_class(1, 7),
    THREE = vector_class(3, 3),
    FOUR = {
      startup_cycles = num(65.9, "cycle", "PTO", "measured", "fit of TEXP f16: 3.762 x iterations + 65.9"),
      cycles_per_repeat = num(3.762, "cycle", "PTO", "measured", "same fit"),
      minimum_cycles = assumed(4),
    },
    FIVE = vector_class(5, 5),
    SIX = vector_class(6, 6),
    SEVEN = vector_class(7, 7),
    GATHER16 = vector_class(24, 27),
    GATHER32 = vector_class(12, 14),
    GATHER_BLOCK = vector_class(1, 11),
    COMPACT = vector_class(14, 14),
    SORT = vector_class(16, 22),
    TRANSPOSE = vector_class(2, 3),
  },

  kernel = {
    ELEMENTWISE = start(275, 64, "mean of Relu 276 and 55, Add 271 and 72, Gelu 277 and 66"),
    FUSED = start(645, 168, "mean of LayerNormV4 691 and 180, RmsNorm 600 and 156"),
    REDUCE = start(556, 133, "mean of SoftmaxV2 406 and 100, ReduceSum 706 and 166"),
  },

  -- The tables agree with the vendor's cycle model, says their author. Two numbers come from cycles of the vendor's
  -- simulator: loop_cycles, and from store to store. Nothing is set by durations.
  vf = {
    physical = num(68, "count", "VFS", "derived", "vreg_num"),
    registers = num(32, "count", "DK", "documented", "RegTensor: at most 32 at a time"),
    width = num(5, "count", "VFS", "derived", "IDU_issue_width"),
    queue = num(58, "count", "VFS", "derived", "shq_depth"),
    units = num(2, "count", "DK", "documented", "two instructions a cycle; issue_ports of VFS"),
    loads = num(2, "count", "DK", "documented", "UB: two registers read, or one read and one written a cycle"),
    subbank = num(8, "B", "DK", "documented", "UB: four of them a bank, seen by gather and scatter alone"),
    start_cycles = num(21, "cycle", "VFS", "derived", "vf_startup_cost 23, dispatch 2 before"),
    end_cycles = num(12, "cycle", "VFS", "derived", "vf_drain_cost"),
    loop_cycles = num(5, "cycle", "SVF", "derived", "ten broadcasts: the same work in 1 to 105 loops"),
    issue_cycles = num(3, "cycle", "VFS", "derived", "idu_to_ooo, ooo_to_shq and exq_recv"),
    release_cycles = num(4, "cycle", "VFS", "derived", "consumer_release_start_offset"),
    LOAD = register(9, 6, 6, 9, 0, 2),
    -- Stores read alignment registers that stores write: 78 sums of rows one behind the other take 384 cycles.
    STORE = register(9, 9, 9, 4, 0, 1, "derived", "isa and forwarding; from store to store reduce_sum_ar_binary of SVF"),
    -- Readers of gathers: as of loads, three cycles before the end.
    GATHER = register(28, 25, 25, 28, 0, 2, "derived", gathers),
    GATHER_BLOCKS = register(21, 18, 18, 21, 0, 2, "derived", gathers),
    SCATTER = register(17, 17, 17, 4, 0, 1, "derived", gathers),
    ADD = register(7, 3, 4, 5, 0, 2),
    MULTIPLY = register(8, 4, 5, 6, 0, 2),
    MAX = register(6, 2, 3, 4, 0, 2),
    ABS = register(5, 2, 2, 3, 0, 2),
    EXP16 = register(21, 18, 18, 19, 8, 2),
    EXP32 = register(16, 13, 13, 14, 4, 2),
    LN16 = register(23, 20, 20, 21, 8, 2, "assumed", as_sqrt),
    LN32 = register(18, 15, 15, 16, 4, 2, "assumed", as_sqrt),
    DIVIDE16 = register(22, 19, 19, 20, 8, 2),
    DIVIDE32 = register(17, 14, 14, 15, 4, 2),
    SUM16 = register(24, 21, 21, 22, 1, 1),
    SUM32 = register(22, 19, 19, 20, 1, 1),
    EXTREME16 = register(17, 14, 14, 15, 2, 1),
    EXTREME32 = register(16, 13, 13, 14, 1, 1),
    GROUP = register(13, 10, 10, 11, 1, 1, "assumed", "latency of the tables; what is forwarded as for vcmax"),
    DUP = register(6, 8, 8, 4, 0, 1),
    BROADCAST = register(6, 2, 3, 4, 0, 2),
    PERMUTE = register(6, 3, 4, 5, 0, 1, "assumed", not_in_tables),
    MASK = register(5, 2, 2, 3, 0, 2, "assumed", not_in_tables),
  },

  path = {
    GM_L1 = {
      request_bytes = num(128, "B", "MOP", "documented", "what one core asks GM for at once"),
      startup_cycles = num(50, "cycle", "KPP", "measured", gm_startup),
      bytes_per_cycle = num(148, "B/cycle", "KPP", "measured", "GM_TO_L1_91095: median error 2.3 %, largest 3.6 %"),
      minimum_cycles = num(141.5, "cycle", "KPP", "measured", flat),
      overlap_issue_cycles = num(39.4, "cycle", "DKX", "assumed", "as GM_UB, the same engine"),
    },
    GM_UB = {
      request_bytes = num(128, "B", "MOP", "documented", "what one core asks GM for at once"),
      startup_cycles = num(50, "cycle", "KPP", "measured", gm_startup),
      bytes_per_cycle = num(68.3, "B/cycle", "KPP", "measured", "GM_TO_UB_91095: median error 1.2 %, largest 7.8 %"),
      minimum_cycles = num(216.7, "cycle", "KPP", "measured", flat),
      overlap_issue_cycles = num(39.4, "cycle", "DKX", "measured", "stream of independent 128 B copies on 64 cores"),
    },
    L1_L0A = {
      bytes_per_cycle = num(256, "B/cycle", "INI", "documented", "L1_TO_L0A_91095 from 4 KiB: largest error 1.1 %"),
      minimum_cycles = num(7.1, "cycle", "KPP", "measured", "row of 1 KiB"),
    },
    L1_L0B = {
      bytes_per_cycle = num(256, "B/cycle", "INI", "documented", "L1_TO_L0B_91095 from 4 KiB: largest error 1.1 %"),
      minimum_cycles = num(7.1, "cycle", "KPP", "measured", "row of 1 KiB"),
    },
    L1_L0A_MX = { bytes_per_cycle = num(32, "B/cycle", "DK", "documented", "theoretical performance of LoadData MX: beside the time of the values") },
    L1_L0B_MX = { bytes_per_cycle = num(32, "B/cycle", "DK", "documented", "theoretical performance of LoadData MX: beside the time of the values") },
    L1_BT = {
      minimum_cycles = assumed(3.1),
      bytes_per_cycle = num(32, "B/cycle", "KPP", "assumed", like_c220),
    },
    L1_FB = {
      startup_cycles = assumed(15),
      bytes_per_cycle = num(32, "B/cycle", "KPP", "assumed", like_c220),
    },
    L1_UB = { bytes_per_cycle = num(128, "B/cycle", "INI", "documented", "L1_TO_UB_91095: largest error 1.5 %") },
    UB_GM = {
      request_bytes = num(128, "B", "MOP", "documented", "what one core asks GM for at once"),
      startup_cycles = num(50, "cycle", "KPP", "measured", gm_startup),
      bytes_per_cycle = num(49.3, "B/cycle", "KPP", "measured", "UB_TO_GM_91095: median error 6.9 %, largest 15.2 %"),
      minimum_cycles = num(294.2, "cycle", "KPP", "measured", flat),
    },
    UB_L1 = { bytes_per_cycle = num(128, "B/cycle", "INI", "documented", "UB_TO_L1_91095: largest error 1.5 %") },
    UB_UB = { bytes_per_cycle = num(256, "B/cycle", "DK", "derived", "the width of vector loads") },
    L0C_GM = {
      request_bytes = num(128, "B", "MOP", "documented", "what one core asks GM for at once"),
      startup_cycles = num(50, "cycle", "KPP", "measured", gm_startup),
      bytes_per_cycle = num(110.8, "B/cycle", "KPP", "measured", "L0C_TO_GM_91095: median error 4.5 %, largest 16.0 %"),
      minimum_cycles = num(141.3, "cycle", "KPP", "measured", flat),
    },
    L0C_L1 = { bytes_per_cycle = num(128, "B/cycle", "DK", "documented", "KPP repeats its table of L1_L0A here, 256; the profiler's limit is 246") },
    L0C_UB = { bytes_per_cycle = num(128, "B/cycle", "INI", "documented", "L0C_TO_UB_91095: largest error 1.5 %") },
  },

  nd2nz = {
    line_cycles = num(3.02, "cycle", "DKX", "derived", "data_copy, GM to L1, quarters that fit L2: 906 MB in 202 us, 84.7 B/cycle of each of 32 cores, rows of 2 KiB"),
    line = num(256, "B", "DKX", "derived", "products of fp4 with rows of 256 B, and two of fp16 with rows of 512 B: 3.7 and 5.9 cycles of MTE2 for each row, the copies of scales among them"),
  },
  fixpipe = { split_bytes_per_cycle = num(32, "B/cycle", "MSI", "assumed", "as the 910B") },

  -- Where cores, slices and memory sit on the network is not published.
  memory = "hbm_950",
  memory_map = "pair",
  topology = "mesh",
  noc = {
    columns = num(4, "count", "HC31", "assumed", like_c220),
    rows = num(4, "count", "HC31", "assumed", like_c220),
    flit = num(256, "B", "HC31", "assumed", like_c220),
    clock = num(2 * GHz, "Hz", "HC31", "assumed", like_c220),
    routing_cycles = num(1, "cycle", "BOOK", "assumed", like_c220),
    link_cycles = num(1, "cycle", "BOOK", "assumed", like_c220),
    credit_cycles = num(1, "cycle", "BOOK", "assumed", like_c220),
    vcs = num(4, "count", "BOOK", "assumed", like_c220),
    vc_flits = num(8, "count", "BOOK", "assumed", like_c220),
  },
  transfer = { window_cycles = num(104, "cycle", "MSI", "assumed", like_c220) },
  l2 = {
    slices = num(16, "count", "MOP", "assumed", like_c220),
    line = num(512, "B", "MOP", "assumed", like_c220),
    ways = num(16, "count", "MOP", "assumed", "not published; divides the capacity into whole sets"),
    hit_cycles = num(50, "cycle", "PTO", "assumed", like_c220),
    miss_cycles = num(510, "cycle", "MSI", "assumed", like_c220),
    kept_share = num(0.375, "ratio", "MSI", "assumed", "as the 910B family"),
  },

  hbm = {
    interleave = num(256, "B", "REF", "assumed", "as the reference runs of whole stacks interleave their pseudo-channels"),
    channels = num(64, "count", "JHBM", "assumed", "four stacks of 16 pseudo-channels"),
    bandwidth_scale = num(1, "ratio", "MOP", "documented", "the figure as it stands"),
    pin_share = num(1, "ratio", "MOP", "assumed", "the figure as it stands"),
    mixed_efficiency = num(0.84, "ratio", "MSI", "assumed", like_c220),
  },
}
