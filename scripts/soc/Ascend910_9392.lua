-- SPDX-License-Identifier: Apache-2.0
-- 910_9392, one die of the 910C. Path limits as 910B1; the table gives GiB/s.
return soc {
  name = "Ascend910_9392",
  base = "ascend910b",
  description = "one die of a 910C: 24 AIC + 48 AIV at 1850 MHz, 64 GiB",

  device = {
    cube_cores = num(24, "count", "INI", "documented"),
    vector_cores = num(48, "count", "INI", "documented"),
  },
  clock = {
    core = num(1850 * MHz, "Hz", "INI", "documented"),
    vector = num(1850 * MHz, "Hz", "INI", "documented"),
  },
  host = {
    write_bandwidth = num(33.8 * GB, "B/s", "HIXL", "measured", "1 and 8 MiB blocks within a server: 32.7 to 35.3 GB/s"),
    read_bandwidth = num(29.8 * GB, "B/s", "HIXL", "measured", "1 and 8 MiB blocks within a server: 29.5 and 30.2 GB/s"),
  },
  l2 = {
    size = num(192 * MiB, "B", "INI", "documented"),
    owed = num(192 * MiB, "B", "MSI", "assumed", "all of L2, as profiles of the 910B2 suggest; not the size of L2 itself, so that a what-if of that moves no write-backs"),
    bandwidth = num(5.96 * TB, "B/s", "DKX", "derived", "as 910B1: same cores, same clock"),
  },
  hbm = {
    size = num(64 * GiB, "B", "INI", "documented"),
    bandwidth = num(1.6 * TB, "B/s", "CM384", "derived", "3.2 TB/s per package of two dies"),
    pin_share = num(1.024, "ratio", "JHBM", "derived", "four stacks at 3.2 Gbps, as 910B1"),
  },

  path = {
    GM_L1 = { peak = num(round(264 * GiB), "B/s", "MOP", "derived", "as 910B1: same core, same clock") },
    GM_UB = { peak = num(round(220.06 * GiB), "B/s", "MOP", "derived", "as 910B1: same core, same clock") },
    UB_GM = { peak = num(round(186.8 * GiB), "B/s", "MOP", "derived", "as 910B1: same core, same clock") },
    L1_GM = { peak = num(round(199.43 * GiB), "B/s", "MOP", "derived", "as 910B1: same core, same clock") },
    L0C_GM = { peak = num(round(209.32 * GiB), "B/s", "MOP", "derived", "as 910B1: same core, same clock") },
    L0C_L1 = { peak = num(round(216.88 * GiB), "B/s", "MOP", "derived", "as 910B1: same core, same clock") },
    L1_L0A = { peak = num(round(437.5 * GiB), "B/s", "MOP", "derived", "as 910B1: same core, same clock") },
    L1_L0B = { peak = num(round(210.5 * GiB), "B/s", "MOP", "derived", "as 910B1: same core, same clock") },
  },
}
