-- SPDX-License-Identifier: Apache-2.0
-- 910_9362: one die of a package of two. Cores, clock and L2 of its platform file are those of the
-- 910B4-1; device memory as 910_9392.
return soc {
  name = "Ascend910_9362",
  base = "Ascend910B4-1",
  description = "one die of a package of two: 20 AIC + 40 AIV at 1650 MHz, 64 GiB",

  clock = {
    core = num(1650 * MHz, "Hz", "MOP", "assumed", "as 910B4, whose platform file states the same 1500 MHz"),
    vector = num(1650 * MHz, "Hz", "MOP", "assumed", "as 910B4, whose platform file states the same 1500 MHz"),
  },
  hbm = {
    size = num(64 * GiB, "B", "INI", "documented"),
    bandwidth = num(1.6 * TB, "B/s", "CM384", "assumed", "as 910_9392"),
    pin_share = num(1.024, "ratio", "JHBM", "derived", "four stacks at 3.2 Gbps, as 910B1"),
  },
}
