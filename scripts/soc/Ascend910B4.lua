-- SPDX-License-Identifier: Apache-2.0
-- 910B4. Path limits: single core; the table gives GiB/s.
return soc {
  name = "Ascend910B4",
  base = "ascend910b",
  description = "910B4: 20 AIC + 40 AIV at 1650 MHz, 32 GiB",

  device = {
    cube_cores = num(20, "count", "INI", "documented"),
    vector_cores = num(40, "count", "INI", "documented"),
  },
  clock = {
    core = num(1650 * MHz, "Hz", "MOP", "documented", "the vendor profiler's nominal clock; the platform file states 1500 MHz"),
    vector = num(1650 * MHz, "Hz", "MOP", "documented", "the vendor profiler's nominal clock; the platform file states 1500 MHz"),
  },
  l2 = {
    size = num(96 * MiB, "B", "INI", "documented"),
    owed = num(96 * MiB, "B", "MSI", "assumed", "all of L2, as profiles of the 910B2 suggest; not the size of L2 itself, so that a what-if of that moves no write-backs"),
    bandwidth = num(4 * TB, "B/s", "MOP", "documented", "the figure of 910B1 scaled by cores and clock, 4.43 TB/s, would exceed it"),
  },
  hbm = {
    channels = num(32, "count", "JHBM", "assumed", "two stacks of 16 pseudo-channels: half the memory of a 910B1"),
    size = num(32 * GiB, "B", "INI", "documented"),
    bandwidth = num(0.8 * TB, "B/s", "MOP", "documented"),
    pin_share = num(1.024, "ratio", "JHBM", "derived", "two stacks at 3.2 Gbps, 0.819 TB/s; less refresh 0.746: kernels write 0.747 TB/s and read 0.72 to 0.75"),
  },

  path = {
    GM_L1 = { peak = num(round(222 * GiB), "B/s", "MOP", "documented") },
    GM_UB = { peak = num(round(195.27 * GiB), "B/s", "MOP", "documented") },
    UB_GM = { peak = num(round(176.75 * GiB), "B/s", "MOP", "documented") },
    L1_GM = { peak = num(round(189.89 * GiB), "B/s", "MOP", "documented") },
    L0C_GM = { peak = num(round(190.7 * GiB), "B/s", "MOP", "documented") },
    L0C_L1 = { peak = num(round(190.7 * GiB), "B/s", "MOP", "documented") },
    L1_L0A = { peak = num(round(368.2 * GiB), "B/s", "MOP", "documented") },
    L1_L0B = { peak = num(round(173.81 * GiB), "B/s", "MOP", "documented") },
  },
}
