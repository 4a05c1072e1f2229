-- SPDX-License-Identifier: Apache-2.0
-- 910B4-1: as 910B4, with another device memory (the profiler's tables know two for each chip of the
-- family) and more of L2.
return soc {
  name = "Ascend910B4-1",
  base = "Ascend910B4",
  description = "910B4-1: 20 AIC + 40 AIV at 1650 MHz, 64 GiB",

  l2 = {
    size = num(168 * MiB, "B", "INI", "documented"),
    owed = num(168 * MiB, "B", "MSI", "assumed", "all of L2, as profiles of the 910B2 suggest; not the size of L2 itself, so that a what-if of that moves no write-backs"),
    bandwidth = num(round(6.3 * TB * 5.96 / 8), "B/s", "MOP", "derived", "the profiler calls 6.3 TB/s the limit with this memory; a 910B1 reaches 5.96 of its 8 TB/s"),
  },
  hbm = {
    channels = num(64, "count", "JHBM", "assumed", "four stacks of 16 pseudo-channels, as the other parts with 64 GiB"),
    size = num(64 * GiB, "B", "LSO", "assumed", "the part that is sold with 64 GB; the platform file states 32 GiB"),
    bandwidth = num(1.25 * TB, "B/s", "MOP", "documented", "the second memory of the profiler's table"),
    pin_share = num(1.235, "ratio", "LSO", "derived", "a Cast of 2^30 elements moves 1.18 TB/s (n = 2), which mixed_efficiency and refresh make of 1.54 TB/s; other rows of the same card are not used"),
  },
}
