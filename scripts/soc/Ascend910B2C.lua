-- SPDX-License-Identifier: Apache-2.0
-- 910B2C: its platform file differs from that of the 910B2 in its name, in the size of device memory,
-- which is left blank, and in one type of a comparison, which this model does not tell apart. Cores,
-- clock, buffers and L2 are the same.
return soc {
  name = "Ascend910B2C",
  base = "Ascend910B2",
  description = "910B2C: 24 AIC + 48 AIV at 1800 MHz, 64 GiB, as the 910B2",

  hbm = {
    size = num(64 * GiB, "B", "SMI", "measured", "65536 MB of HBM; the platform file leaves the size blank"),
    bandwidth = num(1.75 * TB, "B/s", "MOP", "assumed", "as 910B2, whose clock and cores the platform file repeats; the profiler's table has no row of its own"),
    pin_share = num(0.93623, "ratio", "JHBM", "assumed", "as 910B2: four stacks at 3.2 Gbps"),
  },
}
