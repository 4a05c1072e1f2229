-- SPDX-License-Identifier: Apache-2.0
-- 910B3: as 910B2, whose clock, L2 size, device memory and path limits its tables repeat, with
-- fewer cores.
return soc {
  name = "Ascend910B3",
  base = "Ascend910B2",
  description = "910B3: 20 AIC + 40 AIV at 1800 MHz, 64 GiB",

  device = {
    cube_cores = num(20, "count", "INI", "documented"),
    vector_cores = num(40, "count", "INI", "documented"),
  },
  l2 = {
    bandwidth = num(round(5.96 * TB * 40 * 1800 / (48 * 1850)), "B/s", "DKX", "derived", "as 910B1, by cores and clock; the profiler calls 7.78 TB/s the limit"),
  },
}
