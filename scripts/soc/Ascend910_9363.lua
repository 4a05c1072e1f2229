-- SPDX-License-Identifier: Apache-2.0
-- 910_9363: as 910_9362 with half of the device memory.
return soc {
  name = "Ascend910_9363",
  base = "Ascend910_9362",
  description = "one die of a package of two: 20 AIC + 40 AIV at 1650 MHz, 32 GiB",

  hbm = {
    channels = num(32, "count", "JHBM", "assumed", "two stacks of 16 pseudo-channels, as the 910B4"),
    size = num(32 * GiB, "B", "INI", "documented"),
    bandwidth = num(0.8 * TB, "B/s", "MOP", "assumed", "as 910B4, with as much memory"),
    pin_share = num(1.024, "ratio", "JHBM", "assumed", "two stacks at 3.2 Gbps, as the 910B4"),
  },
}
