-- SPDX-License-Identifier: Apache-2.0
-- 950PR_9589. Path limits: single core, column 958X; the table gives GiB/s.
return soc {
  name = "Ascend950PR_9589",
  base = "ascend950",
  description = "950PR_9589: 32 AIC + 64 AIV at 1650 MHz, 128 GiB",

  device = {
    cube_cores = num(32, "count", "INI", "documented"),
    vector_cores = num(64, "count", "INI", "documented"),
  },
  clock = {
    core = num(1650 * MHz, "Hz", "INI", "documented"),
    vector = num(1650 * MHz, "Hz", "INI", "documented"),
  },
  l2 = {
    size = num(128 * MiB, "B", "INI", "documented"),
    owed = num(128 * MiB, "B", "MSI", "assumed", "all of L2, as profiles of the 910B2 suggest; not the size of L2 itself, so that a what-if of that moves no write-backs"),
    bandwidth = num(5.38 * TB, "B/s", "DKX", "measured", "reads that hit, GM to UB; 4.47 TB/s to L1; the profiler calls 8.8 TB/s the limit"),
  },
  hbm = {
    size = num(128 * GiB, "B", "INI", "documented"),
    bandwidth = num(1.6 * TB, "B/s", "MOP", "documented", "reads of 1.61 to 1.63 TB/s measured by samples of DKX"),
  },

  path = {
    GM_L1 = { peak = num(round(162.77 * GiB), "B/s", "MOP", "documented") },
    GM_UB = { peak = num(round(163.13 * GiB), "B/s", "MOP", "documented") },
    UB_GM = { peak = num(round(131.76 * GiB), "B/s", "MOP", "documented") },
    L0C_GM = { peak = num(round(130.21 * GiB), "B/s", "MOP", "documented") },
    L0C_L1 = { peak = num(round(377.8 * GiB), "B/s", "MOP", "documented") },
    L1_L0A = { peak = num(round(377.76 * GiB), "B/s", "MOP", "documented") },
    L1_L0B = { peak = num(round(377.77 * GiB), "B/s", "MOP", "documented") },
  },
}
