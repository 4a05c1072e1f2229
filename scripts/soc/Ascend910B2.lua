-- SPDX-License-Identifier: Apache-2.0
-- 910B2. Path limits: single core; the table gives GiB/s.
return soc {
  name = "Ascend910B2",
  base = "ascend910b",
  description = "910B2: 24 AIC + 48 AIV at 1800 MHz, 64 GiB",

  device = {
    cube_cores = num(24, "count", "INI", "documented"),
    vector_cores = num(48, "count", "INI", "documented"),
  },
  clock = {
    core = num(1800 * MHz, "Hz", "INI", "documented"),
    vector = num(1800 * MHz, "Hz", "INI", "documented"),
  },
  l2 = {
    size = num(192 * MiB, "B", "INI", "documented"),
    owed = num(192 * MiB, "B", "MSI", "assumed", "all of L2: two products of a profile fetch weights that fit into it as if each line pushed a dirty one out; not the size of L2 itself, so that a what-if of that moves no write-backs"),
    bandwidth = num(round(5.96 * TB * 1800 / 1850), "B/s", "DKX", "derived", "as 910B1, by clock; an L2-resident Mul reaches 4.89 TB/s, the profiler calls 7.78 TB/s the limit"),
  },
  hbm = {
    size = num(64 * GiB, "B", "INI", "documented"),
    bandwidth = num(1.75 * TB, "B/s", "MOP", "documented"),
    pin_share = num(0.93623, "ratio", "JHBM", "derived", "four stacks at 3.2 Gbps, 1.638 TB/s, as 910B1: the figures of MOP differ as the clocks of the cores do"),
  },

  path = {
    GM_L1 = { peak = num(round(256.86 * GiB), "B/s", "MOP", "documented") },
    GM_UB = { peak = num(round(214.11 * GiB), "B/s", "MOP", "documented") },
    UB_GM = { peak = num(round(181.75 * GiB), "B/s", "MOP", "documented") },
    L1_GM = { peak = num(round(193.99 * GiB), "B/s", "MOP", "documented") },
    L0C_GM = { peak = num(round(203.66 * GiB), "B/s", "MOP", "documented") },
    L0C_L1 = { peak = num(round(211 * GiB), "B/s", "MOP", "documented") },
    L1_L0A = { peak = num(round(425.68 * GiB), "B/s", "MOP", "documented") },
    L1_L0B = { peak = num(round(204.81 * GiB), "B/s", "MOP", "documented") },
  },
}
