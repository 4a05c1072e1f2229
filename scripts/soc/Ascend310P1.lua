-- SPDX-License-Identifier: Apache-2.0
-- 310P1: as 310P3, with two more AI Cores and one more vector core.
return soc {
  name = "Ascend310P1",
  base = "Ascend310P3",
  description = "310P1: 10 coupled AI Cores at 1060 MHz and 8 vector cores, LPDDR4X",

  device = {
    cube_cores = num(10, "count", "INI", "documented"),
    vector_cores = num(8, "count", "INI", "documented", "beside the AI Cores"),
  },
  l2 = {
    bandwidth = num(round(10 * 114 * 1060 * MHz + 8 * 57 * 1000 * MHz), "B/s", "INI", "derived", "10 cores x 114 B/cycle x 1060 MHz + 8 vector cores x 57 B/cycle x 1000 MHz, the shares of the 310P3"),
  },
}
