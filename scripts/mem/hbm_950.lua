-- SPDX-License-Identifier: Apache-2.0
-- Memory of the 950PR, which is no HBM of the standard: nothing but its bandwidth is public.
return memory {
  name = "hbm_950",
  base = "hbm2e_3200",
  description = "memory of the 950PR: HBM2E whose refresh is hidden",

  timing = {
    REFI = num(0, "cycle", "DKX", "assumed", "none: samples read 1.61 to 1.63 TB/s of the nominal 1.6, so refresh is hidden, bank by bank"),
  },
}
