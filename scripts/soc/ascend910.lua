-- SPDX-License-Identifier: Apache-2.0
-- What chips of dav-c100 (910A, 910ProA, 910ProB, 910PremiumA, and the Ascend910B of 2019) have in
-- common: their platform files differ in the number of cores, in the clock, and in the number of AI CPUs.
-- Rates to and from GM are the platform files' figures for L2, which are a core's share.
local share = "a core's share of the chip, as the compiler sees it"
local seen = "as dav-c220; the 32 B/cycle of the platform file are no limit: 30 cores at 900 MHz stream 995 GB/s, which is 37 B/cycle for each at once"

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

return soc {
  name = "ascend910",
  base = "ascend_coupled",
  abstract = true,
  arch = "dav-c100",
  description = "910 of 2019: coupled AI Cores, HBM2",

  device = {
    vector_cores = num(0, "count", "INI", "documented", "the vector units are part of the AI Cores"),
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
    REDUCE = start(30),
    FORMAT = start(30),
    PERMUTE = start(30),
    CUBE = start(64, 27),
    CONV = start(90, 27),
    ATTENTION = start(208, 20),
  },
  launch = {
    base = num(0.54 * us, "s", "MSI", "assumed", "as dav-c220; the shortest kernels of the 30-core Ascend910B, RealDiv of two numbers among them, take 1.27 to 1.34 us in all"),
    per_block = num(0.11 * us, "s", "HPM", "derived", "121 elementwise kernels of the 30-core Ascend910B with less than 0.3 MB: 1.6 us with one block and 0.108 us more for each further block; medians 2.2 us of 8 blocks, 2.8 of 16, 4.9 of 30"),
    per_cluster = num(0.09 * us, "s", "HPM", "derived", "the same kernels, up to 24 blocks: medians 1.59 us of 1, 2.22 of 8, 2.80 of 16, 3.88 of 24"),
  },
  flag = { ids = num(4, "count", "DK", "documented", "0 to 3") },
  cube = { int4_cycles = num(0, "cycle", "INI", "assumed", "the data type lists name s4 from the 310P on") },
  path = {
    GM_L1 = {
      bytes_per_cycle = num(110, "B/cycle", "INI", "documented", share),
      hbm_bytes_per_cycle = num(62, "B/cycle", "DKX", "assumed", seen),
    },
    GM_UB = {
      overlap_issue_cycles = num(48, "cycle", "HPM", "derived", "Gather of single elements of a table of 740 KB takes each of 30 cores 48.5 cycles an element in three sizes, and 80 to 96 a row of 320 B: copies follow each other without the latency of each"),
      bytes_per_cycle = num(110, "B/cycle", "INI", "documented", share),
      hbm_bytes_per_cycle = num(62, "B/cycle", "DKX", "assumed", seen),
    },
    GM_L0A = {
      bytes_per_cycle = num(110, "B/cycle", "INI", "documented", share),
      hbm_bytes_per_cycle = num(62, "B/cycle", "DKX", "assumed", seen),
    },
    GM_L0B = {
      bytes_per_cycle = num(110, "B/cycle", "INI", "documented", share),
      hbm_bytes_per_cycle = num(62, "B/cycle", "DKX", "assumed", seen),
    },
    UB_GM = { bytes_per_cycle = num(64, "B/cycle", "INI", "documented", share) },
    UB_L1 = { bytes_per_cycle = num(128, "B/cycle", "INI", "documented") },
    L0C_UB = { bytes_per_cycle = num(256, "B/cycle", "INI", "documented", "through the vector unit") },
  },
  memory = "hbm2_910",
  l2 = {
    slices = num(16, "count", "MOP", "assumed", "not published"),
    line = num(512, "B", "MOP", "assumed", "as the 910B family"),
    ways = num(16, "count", "MOP", "assumed", "not published; divides the capacity into whole sets"),
    hit_cycles = num(50, "cycle", "PTO", "assumed", "default of a public cost model, not measured"),
    miss_cycles = num(510, "cycle", "MSI", "assumed", "as on the 910B4"),
    kept_share = num(0.375, "ratio", "MSI", "assumed", "as the 910B family"),
    size = num(64 * MiB, "B", "HPM", "derived", "the platform file says 32 MiB, with which AddN of 78.6 MB in 32.9 us has to move 45 MB of device memory at 1.37 TB/s, more than the pins give. Elementwise kernels up to 80 MB run at 2.4 TB/s and those from 96 MB on at 1.5: some 64 MiB"),
    owed = num(32 * MiB, "B", "MSI", "assumed", "all of L2, as profiles of the 910B2 suggest; not the size of L2 itself, so that a what-if of that moves no write-backs"),
  },
  hbm = {
    channels = num(64, "count", "HC31", "assumed", "four stacks of 16 pseudo-channels"),
    size = num(32 * GiB, "B", "INI", "assumed", "blank in the platform file; four stacks of 8 GiB"),
    bandwidth = num(1.2 * TB, "B/s", "HC31", "documented", "the platform file implies 1.02 TB/s"),
    mixed_efficiency = num(0.83, "ratio", "HPM", "measured", "80 kernels of 0.5 to 4.4 GB with one or two parts read for one written, all types alike: 988 to 1003 GB/s"),
  },
}
