-- SPDX-License-Identifier: Apache-2.0
return soc {
  name = "Ascend910A",
  base = "ascend910",
  description = "910A: 32 coupled AI Cores at 1000 MHz",

  device = { cube_cores = num(32, "count", "INI", "documented") },
  clock = {
    core = num(1000 * MHz, "Hz", "INI", "documented"),
    vector = num(1000 * MHz, "Hz", "INI", "documented", "one clock per core"),
  },
  l2 = { bandwidth = num(3.52 * TB, "B/s", "INI", "derived", "32 cores x 110 B/cycle x 1000 MHz") },
}
