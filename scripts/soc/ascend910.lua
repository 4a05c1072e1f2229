-- SPDX-License-Identifier: Apache-2.0
-- What chips of dav-c100 (910A, 910ProA, 910ProB, 910PremiumA, and the Ascend910B of 2019) have in
-- common: their platform files differ in the number of cores, in the clock, and in the number of AI CPUs.
-- Rates to and from GM are the platform files' figures for L2, which are a core's share.
local share = "a core's share of the chip, as the compiler sees it"
local seen = "as dav-c220; the 32 B/cycle of the platform file are no limit: 30 cores at 900 MHz stream 995 GB/s, which is 37 B/cycle for each at once"

return soc {
  name = "ascend910",
  base = "ascend_coupled",
  abstract = true,
  arch = "dav-c100",
  description = "910 of 2019: coupled AI Cores, HBM2",

  device = {
    vector_cores = num(0, "count", "INI", "documented", "the vector units are part of the AI Cores"),
  },
  flag = { ids = num(4, "count", "DK", "documented", "0 to 3") },
  cube = { int4_cycles = num(0, "cycle", "INI", "assumed", "the data type lists name s4 from the 310P on") },
  path = {
    GM_L1 = {
      bytes_per_cycle = num(110, "B/cycle", "INI", "documented", share),
      hbm_bytes_per_cycle = num(62, "B/cycle", "DKX", "assumed", seen),
    },
    GM_UB = {
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
  vector = {
    DIVIDE32 = {
      cycles_per_repeat = num(10, "cycle", "HPM", "derived", "RealDiv of fp16 by a number on the 30-core Ascend910B takes 23.7 to 24.9 cycles more for each 128 elements more (three sizes of ResNet-50); conversions and the number in all lanes take 4 to 6 of these, the rest is two repeats. RealDiv of fp32 in BERT, which had no part in this, takes 11.2 with the number in all lanes"),
    },
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
    owed = num(32 * MiB, "B", "MSI", "assumed", "half of L2; with all of it, as profiles of the 910B2 suggest, parameters of ResNet-50 take a fifth too long on the 30-core Ascend910B (FusedMulApplyMomentum, FusedMulAddN), and convolutions more. Not the size of L2 itself, so that a what-if of that moves no write-backs"),
  },
  hbm = {
    channels = num(64, "count", "HC31", "assumed", "four stacks of 16 pseudo-channels"),
    size = num(32 * GiB, "B", "INI", "assumed", "blank in the platform file; four stacks of 8 GiB"),
    bandwidth = num(1.2 * TB, "B/s", "HC31", "documented", "the platform file implies 1.02 TB/s"),
    mixed_efficiency = num(0.83, "ratio", "HPM", "measured", "80 kernels of 0.5 to 4.4 GB with one or two parts read for one written, all types alike: 988 to 1003 GB/s"),
  },
}
