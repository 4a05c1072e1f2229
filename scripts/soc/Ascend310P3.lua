-- SPDX-License-Identifier: Apache-2.0
-- 310P3. Rates to and from GM: the platform file's figure for L2, which is a core's share.
-- The standalone vector cores have 57 (L2) and 9 (device memory) B/cycle there; the path
-- table holds one figure per path, that of the AI Cores.
local share = "a core's share of the chip, as the compiler sees it"

local seen = "as dav-c220; the 17 B/cycle of the platform file are no limit: AlexNet with one image takes 0.79 ms, in which its 8 cores read 122 MB of weights, which is 18.2 B/cycle for each at once"

return soc {
  name = "Ascend310P3",
  base = "ascend_coupled",
  arch = "dav-m200",
  description = "310P3: 8 coupled AI Cores at 1060 MHz and 7 vector cores, LPDDR4X",

  device = {
    cube_cores = num(8, "count", "INI", "documented"),
    vector_cores = num(7, "count", "INI", "documented", "beside the AI Cores"),
  },
  clock = {
    core = num(1060 * MHz, "Hz", "INI", "documented"),
    vector = num(1000 * MHz, "Hz", "INI", "documented"),
  },
  flag = { ids = num(8, "count", "DK", "documented", "0 to 7") },
  cube = { int4_cycles = num(1, "cycle", "INI", "documented", "16, 64, 16 per cycle; the mmad list has s4") },
  path = {
    GM_L1 = {
      bytes_per_cycle = num(114, "B/cycle", "INI", "documented", share),
      hbm_bytes_per_cycle = num(62, "B/cycle", "DKX", "assumed", seen),
    },
    GM_UB = {
      bytes_per_cycle = num(114, "B/cycle", "INI", "documented", share),
      hbm_bytes_per_cycle = num(62, "B/cycle", "DKX", "assumed", seen),
    },
    GM_L0A = {
      bytes_per_cycle = num(114, "B/cycle", "INI", "documented", share),
      hbm_bytes_per_cycle = num(62, "B/cycle", "DKX", "assumed", seen),
    },
    GM_L0B = {
      bytes_per_cycle = num(114, "B/cycle", "INI", "documented", share),
      hbm_bytes_per_cycle = num(62, "B/cycle", "DKX", "assumed", seen),
    },
    UB_GM = { bytes_per_cycle = num(114, "B/cycle", "INI", "documented", share) },
    UB_L1 = { bytes_per_cycle = num(256, "B/cycle", "INI", "documented") },
    L0C_UB = { bytes_per_cycle = num(512, "B/cycle", "INI", "documented", "through the vector unit") },
  },
  memory = "lpddr4x_4266",
  memory_map = "bank",
  l2 = {
    slices = num(8, "count", "MOP", "assumed", "not published"),
    line = num(512, "B", "MOP", "assumed", "as the 910B family"),
    ways = num(16, "count", "MOP", "assumed", "not published; divides the capacity into whole sets"),
    hit_cycles = num(50, "cycle", "PTO", "assumed", "default of a public cost model, not measured"),
    miss_cycles = num(510, "cycle", "MSI", "assumed", "as on the 910B4"),
    kept_share = num(0.375, "ratio", "MSI", "assumed", "as the 910B family"),
    size = num(16 * MiB, "B", "INI", "documented"),
    owed = num(16 * MiB, "B", "MSI", "assumed", "all of L2, as profiles of the 910B2 suggest; not the size of L2 itself, so that a what-if of that moves no write-backs"),
    bandwidth = num(round(8 * 114 * 1060 * MHz + 7 * 57 * 1000 * MHz), "B/s", "INI", "derived", "8 cores x 114 B/cycle x 1060 MHz + 7 vector cores x 57 B/cycle x 1000 MHz"),
  },
  hbm = {
    channels = num(24, "count", "MOP", "assumed", "LPDDR4X channels of 16 bits that give 205 GB/s"),
    size = num(24000000000, "B", "INI", "documented"),
    bandwidth = num(round(8 * 17 * 1060 * MHz + 7 * 9 * 1000 * MHz), "B/s", "INI", "derived", "8 cores x 17 B/cycle x 1060 MHz + 7 vector cores x 9 B/cycle x 1000 MHz"),
  },
}
