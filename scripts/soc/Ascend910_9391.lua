-- SPDX-License-Identifier: Apache-2.0
-- 910_9391: its platform file repeats that of the 910_9392.
return soc {
  name = "Ascend910_9391",
  base = "Ascend910_9392",
  description = "one die of a package of two: 24 AIC + 48 AIV at 1850 MHz, 64 GiB",
}
