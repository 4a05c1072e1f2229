-- SPDX-License-Identifier: Apache-2.0
return soc {
  name = "Ascend910PremiumA",
  base = "ascend910",
  description = "910PremiumA: 32 coupled AI Cores at 1220 MHz",

  device = { cube_cores = num(32, "count", "INI", "documented") },
  clock = {
    core = num(1220 * MHz, "Hz", "INI", "documented"),
    vector = num(1220 * MHz, "Hz", "INI", "documented", "one clock per core"),
  },
  l2 = { bandwidth = num(4.2944 * TB, "B/s", "INI", "derived", "32 cores x 110 B/cycle x 1220 MHz") },
}
