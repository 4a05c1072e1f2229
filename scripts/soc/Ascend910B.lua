-- SPDX-License-Identifier: Apache-2.0
return soc {
  name = "Ascend910B",
  base = "ascend910",
  description = "Ascend910B of 2019: 30 coupled AI Cores at 900 MHz; not of the family of the 910B1 to 910B4",

  device = { cube_cores = num(30, "count", "INI", "documented") },
  clock = {
    core = num(900 * MHz, "Hz", "INI", "documented"),
    vector = num(900 * MHz, "Hz", "INI", "documented", "one clock per core"),
  },
  l2 = { bandwidth = num(2.45 * TB, "B/s", "HPM", "measured", "the most that elementwise kernels move, at 56 to 64 MB; the 30 cores x 110 B/cycle x 900 MHz of the platform file, 2.97 TB/s, are the compiler's share") },
}
