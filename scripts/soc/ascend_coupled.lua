-- SPDX-License-Identifier: Apache-2.0
-- What the coupled cores of the 910A (dav-c100) and 310P (dav-m200) have in common.
--
-- Of these parts no instruction is measured in public, and durations of kernels only on the Ascend910B of 2019.
-- What those tell of kernels, launches and copies holds for all. Rates are those of the platform files, which the
-- compiler uses to choose tilings; everything else is taken over from dav-c220 and says so.

local like_c220 = "no public measurement of this architecture; as dav-c220"

-- Kernels of this generation are compiled for their shapes: none reads tiling data.
local shaped = "compiled for one shape, without tiling data: on the 30-core Ascend910B the shortest kernels of all kinds take what the shortest elementwise ones do: ReduceSum of 8 elements 1.67 us, Tile 1.54, Cast 1.38 to 1.6"

local grows = "what grows with the number of cores is in launch.per_block, which was measured with that"

local function start(code_lines, issue)
  return {
    issue_cycles = num(issue or 13, "cycle", "DK", "assumed", "as dav-c220"),
    head_cycles = num(0, "cycle", "HPM", "derived", shaped),
    code_bytes = num(code_lines * 64, "B", "HPM", "assumed", "20 lines: 56 elementwise kernels with one block take 1.35 to 1.86 us, median 1.59; more for kinds of longer programs"),
    line_cycles = num(15, "cycle", "MSI", "assumed", "as dav-c220"),
  }
end

local same_engine = num(48, "cycle", "HPM", "assumed", "as GM_UB, the same engine")

local no_map = "no map of banks is public"

local function assumed(value, source)
  return num(value, "cycle", source or "KPP", "assumed", like_c220)
end

local function vector_class(startup, per_repeat, minimum, source)
  return {
    startup_cycles = assumed(startup, source),
    cycles_per_repeat = assumed(per_repeat),
    minimum_cycles = assumed(minimum),
  }
end

return soc {
  name = "ascend_coupled",
  base = "library",
  abstract = true,
  description = "coupled AI Cores: cube and vector unit behind one scalar unit",

  l1 = {
    size = num(1024 * KiB, "B", "INI", "documented"),
    bank_groups = num(0, "count", "DK", "assumed", no_map),
    banks_per_group = num(0, "count", "DK", "assumed", no_map),
    row_bytes = num(0, "B", "DK", "assumed", no_map),
    bank_stride = num(0, "B", "DK", "assumed", no_map),
    write_bytes_per_cycle = num(0, "B", "MOP", "assumed", "no measurement of reads and writes at once"),
  },
  l0a = { size = num(64 * KiB, "B", "INI", "documented") },
  l0b = { size = num(64 * KiB, "B", "INI", "documented") },
  l0c = {
    size = num(256 * KiB, "B", "INI", "documented"),
    banks = num(0, "count", "DK", "assumed", no_map),
    row_bytes = num(0, "B", "DK", "assumed", no_map),
  },
  ub = {
    size = num(256 * KiB, "B", "INI", "documented"),
    bank_groups = num(16, "count", "INI", "documented"),
    banks_per_group = num(4, "count", "INI", "documented", "64 banks of 4 KiB in all"),
    row_bytes = num(32, "B", "INI", "documented"),
    bank_stride = num(64 * KiB, "B", "DK", "assumed", like_c220),
    reads_per_group = num(0, "count", "DK", "assumed", "no port rule is public: the vector classes include conflicts"),
    write_delay_cycles = num(0, "cycle", "DK", "assumed", "no port rule is public"),
  },
  bt = { size = num(0, "B", "INI", "documented", "none") },
  fb = { size = num(0, "B", "INI", "documented", "none") },

  queue = {
    M = num(32, "count", "DK", "documented"),
    MTE1 = num(32, "count", "DK", "documented"),
    V = num(32, "count", "DK", "assumed", "stated for M and MTE1 only"),
    MTE2 = num(32, "count", "DK", "assumed", "stated for M and MTE1 only"),
    MTE3 = num(32, "count", "DK", "assumed", "stated for M and MTE1 only"),
    FIX = num(32, "count", "DK", "assumed", "this architecture has no FIX pipe"),
  },
  scalar = { issue_cycles = assumed(1, "PTO"), counted_cycles = assumed(1, "PTO") },
  flag = { latency_cycles = assumed(1, "PTO") },
  barrier = { latency_cycles = assumed(1, "PTO") },
  cross_core = {
    ids = num(0, "count", "DK", "documented", "cores synchronise through device memory only"),
    sets_max = num(0, "count", "DK", "documented", "cores synchronise through device memory only"),
    latency_cycles = num(0, "cycle", "DK", "documented", "cores synchronise through device memory only"),
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
  code = {
    arguments_cycles = num(0, "cycle", "HPM", "derived", grows),
    first_cycles = num(0, "cycle", "HPM", "derived", grows),
    first_read_cycles = num(0, "cycle", "HPM", "derived", grows),
  },
  kernel = {
    core_bytes_min = num(2 * KiB, "B", "HPM", "derived", "blocks of elementwise kernels of fp32: 2 of 1024 elements, 5 of 2560, 6 of 3072, 20 of 10240, 24 of 12000"),
    ELEMENTWISE = start(20),
    SLICE = start(20),
    POWER = start(30),
    NORM = start(40),
    FUSED = start(40),
    TILED = start(40),
    REDUCE = start(30),
    FORMAT = start(30),
    PERMUTE = start(30),
    CUBE = start(64, 27),
    CONV = start(90),
    ATTENTION = start(208, 20),
  },
  launch = {
    gap = num(0.03 * us, "s", "MSI", "assumed", "median of plain kernels back to back in a training step on a 910B4, 1,142 pairs: 0.01 to 0.05 us"),
    mixed_gap = num(1.1 * us, "s", "MSI", "assumed", "median of pairs with a mixed kernel in the same step: 0.97 to 1.2 us"),
    base = num(0.54 * us, "s", "MSI", "assumed", "as dav-c220; the shortest kernels of the 30-core Ascend910B, RealDiv of two numbers among them, take 1.27 to 1.34 us in all"),
    per_block = num(0.11 * us, "s", "HPM", "derived", "121 elementwise kernels of the 30-core Ascend910B with less than 0.3 MB: 1.6 us with one block and 0.108 us more for each further block; medians 2.2 us of 8 blocks, 2.8 of 16, 4.9 of 30"),
    per_cluster = num(0.09 * us, "s", "HPM", "derived", "the same kernels, up to 24 blocks: medians 1.59 us of 1, 2.22 of 8, 2.80 of 16, 3.88 of 24"),
  },

  cube = {
    m = num(16, "count", "INI", "documented"),
    k_bytes = num(32, "B", "INI", "documented", "16 fp16, 32 int8"),
    n = num(16, "count", "INI", "documented"),
    fp16_cycles = num(1, "cycle", "INI", "documented", "16, 16, 16 per cycle"),
    bf16_cycles = num(0, "cycle", "INI", "documented", "not supported"),
    int8_cycles = num(1, "cycle", "INI", "documented", "16, 32, 16 per cycle"),
    fp32_cycles = num(0, "cycle", "INI", "documented", "not supported"),
    hf32_cycles = num(0, "cycle", "INI", "documented", "not supported"),
    fp8_cycles = num(0, "cycle", "INI", "documented", "not supported"),
    fp4_cycles = num(0, "cycle", "INI", "documented", "not supported"),
    issue_cycles = assumed(2.09),
    least_cycles = assumed(2),
    minimum_cycles = assumed(4.86),
    startup_cycles = assumed(23),
  },

  vector = {
    repeat_bytes = num(256, "B", "DK", "documented", "8 blocks of 32 B"),
    offset_fetch_cycles = assumed(8),
    accumulate_cycles = assumed(2),
    ONE = vector_class(24, 1, 3, "PTO"),
    ONE_INT = vector_class(24, 1, 4, "PTO"),
    TWO = vector_class(22, 2, 3, "DKX"),
    MULTIPLY = vector_class(25, 2, 3, "PTO"),
    EXP32 = vector_class(32, 2, 3, "PTO"),
    DIVIDE16 = vector_class(31, 4, 8, "PTO"),
    DIVIDE32 = vector_class(31, 4, 4, "PTO"),
    COMPARE = vector_class(36, 2, 7, "PTO"),
    COMPARE_SCALAR = vector_class(36, 1, 7, "PTO"),
    THREE = vector_class(46, 3, 3, "PTO"),
    FOUR = vector_class(32, 4, 4, "PTO"),
    FIVE = vector_class(22, 5, 5, "DKX"),
    SIX = vector_class(22, 6, 6, "DKX"),
    SEVEN = vector_class(46, 7, 7, "PTO"),
    GATHER16 = vector_class(14, 24, 27, "PTO"),
    GATHER32 = vector_class(14, 12, 14, "PTO"),
    GATHER_BLOCK = vector_class(24, 1, 11, "PTO"),
    COMPACT = vector_class(34, 14, 14, "PTO"),
    SORT = vector_class(20, 16, 22, "PTO"),
    TRANSPOSE = vector_class(24, 2, 3, "PTO"),
  },

  path = {
    GM_L1 = { startup_cycles = assumed(187.1), overlap_issue_cycles = same_engine },
    GM_UB = {
      startup_cycles = assumed(190.2),
      overlap_issue_cycles = num(48, "cycle", "HPM", "derived", "Gather of single elements of a table of 740 KB takes each of 30 cores of the Ascend910B of 2019 48.5 cycles an element in three sizes, and 80 to 96 a row of 320 B: copies follow each other without the latency of each"),
    },
    GM_L0A = { startup_cycles = assumed(172.3), overlap_issue_cycles = same_engine },
    GM_L0B = { startup_cycles = assumed(165.2), overlap_issue_cycles = same_engine },
    L1_L0A = {
      startup_cycles = assumed(2.2),
      bytes_per_cycle = num(512, "B/cycle", "INI", "documented"),
    },
    L1_L0B = {
      startup_cycles = assumed(2.2),
      bytes_per_cycle = num(256, "B/cycle", "INI", "documented"),
    },
    L1_UB = {
      startup_cycles = num(2.2, "cycle", "KPP", "assumed", "no public measurement; as L1_L0A of dav-c220"),
      bytes_per_cycle = num(128, "B/cycle", "INI", "documented"),
    },
    UB_GM = { startup_cycles = assumed(137.8) },
    UB_L1 = { startup_cycles = num(2.2, "cycle", "KPP", "assumed", "no public measurement; as L1_L0A of dav-c220") },
    UB_UB = { bytes_per_cycle = num(256, "B/cycle", "KPP", "assumed", like_c220) },
    L0C_UB = { startup_cycles = num(2.2, "cycle", "KPP", "assumed", "no public measurement; as L1_L0A of dav-c220") },
  },

  nd2nz = { line_cycles = assumed(4.77), line = num(512, "B", "DKX", "assumed", "as dav-c220") },
  fixpipe = { split_bytes_per_cycle = num(0, "B/cycle", "DK", "documented", "there is no fixpipe") },

  -- Where cores, slices and memory sit on the network is not published.
  memory_map = "pair",
  topology = "mesh",
  noc = {
    columns = num(6, "count", "HC31", "documented", "mesh of the 910: 6 columns, 4 rows"),
    rows = num(4, "count", "HC31", "documented", "mesh of the 910"),
    flit = num(128, "B", "HC31", "documented", "1024 bits"),
    clock = num(2 * GHz, "Hz", "HC31", "documented", "2 GHz"),
    routing_cycles = num(1, "cycle", "BOOK", "assumed", like_c220),
    link_cycles = num(1, "cycle", "BOOK", "assumed", like_c220),
    credit_cycles = num(1, "cycle", "BOOK", "assumed", like_c220),
    vcs = num(4, "count", "BOOK", "assumed", like_c220),
    vc_flits = num(8, "count", "BOOK", "assumed", like_c220),
  },
  transfer = { window_cycles = num(104, "cycle", "MSI", "assumed", like_c220) },

  hbm = {
    interleave = num(256, "B", "REF", "assumed", "as the reference runs of whole stacks interleave their pseudo-channels"),
    bandwidth_scale = num(1, "ratio", "INI", "documented", "the figure as it stands"),
    pin_share = num(1, "ratio", "INI", "assumed", "the figure as it stands"),
    mixed_efficiency = num(0.84, "ratio", "MSI", "assumed", like_c220),
  },
}
