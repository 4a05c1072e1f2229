-- SPDX-License-Identifier: Apache-2.0
-- 310P7: as 310P3, with another clock of the AI Cores; that of the vector cores is the same.
return soc {
  name = "Ascend310P7",
  base = "Ascend310P3",
  description = "310P7: 8 coupled AI Cores at 550 MHz and 7 vector cores, LPDDR4X",

  clock = { core = num(550 * MHz, "Hz", "INI", "documented") },
  l2 = {
    bandwidth = num(round(8 * 114 * 550 * MHz + 7 * 57 * 1000 * MHz), "B/s", "INI", "derived", "8 cores x 114 B/cycle x 550 MHz + 7 vector cores x 57 B/cycle x 1000 MHz"),
  },
}
