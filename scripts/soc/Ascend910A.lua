-- SPDX-License-Identifier: Apache-2.0
-- 910A. Rates to and from GM: the platform file's figure for L2, which is a core's share.
local share = "a core's share of the chip, as the compiler sees it"

return soc {
  name = "Ascend910A",
  base = "ascend_coupled",
  arch = "dav-c100",
  description = "910A: 32 coupled AI Cores at 1000 MHz",

  device = {
    cube_cores = num(32, "count", "INI", "documented"),
    vector_cores = num(0, "count", "INI", "documented", "the vector units are part of the AI Cores"),
  },
  clock = {
    core = num(1000 * MHz, "Hz", "INI", "documented"),
    vector = num(1000 * MHz, "Hz", "INI", "documented", "one clock per core"),
  },
  flag = { ids = num(4, "count", "DK", "documented", "0 to 3") },
  cube = { int4_cycles = num(0, "cycle", "INI", "assumed", "the data type lists name s4 from the 310P on") },
  path = {
    GM_L1 = {
      bytes_per_cycle = num(110, "B/cycle", "INI", "documented", share),
      hbm_bytes_per_cycle = num(32, "B/cycle", "INI", "documented", share),
    },
    GM_UB = {
      bytes_per_cycle = num(110, "B/cycle", "INI", "documented", share),
      hbm_bytes_per_cycle = num(32, "B/cycle", "INI", "documented", share),
    },
    GM_L0A = {
      bytes_per_cycle = num(110, "B/cycle", "INI", "documented", share),
      hbm_bytes_per_cycle = num(32, "B/cycle", "INI", "documented", share),
    },
    GM_L0B = {
      bytes_per_cycle = num(110, "B/cycle", "INI", "documented", share),
      hbm_bytes_per_cycle = num(32, "B/cycle", "INI", "documented", share),
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
    size = num(32 * MiB, "B", "INI", "documented"),
    owed = num(32 * MiB, "B", "MSI", "assumed", "all of L2, as profiles of the 910B2 suggest; not the size of L2 itself, so that a what-if of that moves no write-backs"),
    bandwidth = num(3.52 * TB, "B/s", "INI", "derived", "32 cores x 110 B/cycle x 1000 MHz"),
  },
  hbm = {
    channels = num(64, "count", "HC31", "assumed", "four stacks of 16 pseudo-channels"),
    size = num(32 * GiB, "B", "INI", "assumed", "blank in the platform file; four stacks of 8 GiB"),
    bandwidth = num(1.2 * TB, "B/s", "HC31", "documented", "the platform file implies 1.02 TB/s"),
  },
}
