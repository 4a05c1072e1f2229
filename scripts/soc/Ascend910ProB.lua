-- SPDX-License-Identifier: Apache-2.0
return soc {
  name = "Ascend910ProB",
  base = "ascend910",
  description = "910ProB: 30 coupled AI Cores at 1150 MHz",

  device = { cube_cores = num(30, "count", "INI", "documented") },
  clock = {
    core = num(1150 * MHz, "Hz", "INI", "documented"),
    vector = num(1150 * MHz, "Hz", "INI", "documented", "one clock per core"),
  },
  l2 = { bandwidth = num(3.795 * TB, "B/s", "INI", "derived", "30 cores x 110 B/cycle x 1150 MHz") },
}
