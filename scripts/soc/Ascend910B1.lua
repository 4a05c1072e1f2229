-- SPDX-License-Identifier: Apache-2.0
-- 910B1. Path limits: single core; the table gives GiB/s.
return soc {
  name = "Ascend910B1",
  base = "ascend910b",
  description = "910B1: 24 AIC + 48 AIV at 1850 MHz, 64 GiB",

  device = {
    cube_cores = num(24, "count", "INI", "documented"),
    vector_cores = num(48, "count", "INI", "documented"),
  },
  clock = {
    core = num(1850 * MHz, "Hz", "INI", "documented"),
    vector = num(1850 * MHz, "Hz", "INI", "documented"),
  },
  l2 = {
    size = num(192 * MiB, "B", "INI", "documented"),
    owed = num(192 * MiB, "B", "MSI", "assumed", "all of L2, as profiles of the 910B2 suggest; not the size of L2 itself, so that a what-if of that moves no write-backs"),
    bandwidth = num(5.96 * TB, "B/s", "DKX", "measured", "reads that hit, GM to UB; 4.94 TB/s to L1 with ND2NZ; the profiler calls 8 TB/s the limit"),
  },
  hbm = {
    size = num(64 * GiB, "B", "INI", "documented"),
    bandwidth = num(1.8 * TB, "B/s", "MOP", "documented", "DK and MSM say 1.6 TB/s"),
    pin_share = num(0.91022, "ratio", "JHBM", "derived", "four stacks at 3.2 Gbps, 1.638 TB/s; less refresh 1.491: samples of DKX read 1.46 to 1.50 TB/s, and ZerosLike writes 1.48 once what may stay in L2 is taken off its 1.79"),
  },

  path = {
    GM_L1 = { peak = num(round(264 * GiB), "B/s", "MOP", "documented") },
    GM_UB = { peak = num(round(220.06 * GiB), "B/s", "MOP", "documented") },
    UB_GM = { peak = num(round(186.8 * GiB), "B/s", "MOP", "documented") },
    L1_GM = { peak = num(round(199.43 * GiB), "B/s", "MOP", "documented") },
    L0C_GM = { peak = num(round(209.32 * GiB), "B/s", "MOP", "documented") },
    L0C_L1 = { peak = num(round(216.88 * GiB), "B/s", "MOP", "documented") },
    L1_L0A = { peak = num(round(437.5 * GiB), "B/s", "MOP", "documented") },
    L1_L0B = { peak = num(round(210.5 * GiB), "B/s", "MOP", "documented") },
  },
}
