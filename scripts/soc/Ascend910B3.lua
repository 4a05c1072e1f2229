-- SPDX-License-Identifier: Apache-2.0
-- 910B3. Path limits: single core; the table gives GiB/s.
return soc {
  name = "Ascend910B3",
  base = "ascend910b",
  description = "910B3: 20 AIC + 40 AIV at 1800 MHz, 64 GiB",

  device = {
    cube_cores = num(20, "count", "INI", "documented"),
    vector_cores = num(40, "count", "INI", "documented"),
  },
  clock = {
    core = num(1800 * MHz, "Hz", "INI", "documented"),
    vector = num(1800 * MHz, "Hz", "INI", "documented"),
  },
  l2 = {
    size = num(192 * MiB, "B", "INI", "documented"),
    bandwidth = num(round(5.96 * TB * 40 * 1800 / (48 * 1850)), "B/s", "DKX", "derived", "as 910B1, by cores and clock; the profiler calls 7.78 TB/s the limit"),
  },
  hbm = {
    size = num(64 * GiB, "B", "INI", "documented"),
    bandwidth = num(1.75 * TB, "B/s", "MOP", "documented"),
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
