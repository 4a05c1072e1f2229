-- SPDX-License-Identifier: Apache-2.0
-- 910_9381: one die of a package of two. Cores, clock and L2 of its platform file are those of the
-- 910B2; device memory as 910_9392.
return soc {
  name = "Ascend910_9381",
  base = "Ascend910B2",
  description = "one die of a package of two: 24 AIC + 48 AIV at 1800 MHz, 64 GiB",

  hbm = {
    size = num(64 * GiB, "B", "INI", "documented"),
    bandwidth = num(1.6 * TB, "B/s", "CM384", "assumed", "as 910_9392"),
    pin_share = num(1.024, "ratio", "JHBM", "derived", "four stacks at 3.2 Gbps, as 910B1"),
  },
}
