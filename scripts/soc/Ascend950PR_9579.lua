-- SPDX-License-Identifier: Apache-2.0
-- 950PR_9579: as 950PR_9589, with 28 cube and 56 vector cores.
return soc {
  name = "Ascend950PR_9579",
  base = "Ascend950PR_9589",
  description = "950PR_9579: 28 AIC + 56 AIV at 1650 MHz, 128 GiB",

  device = {
    cube_cores = num(28, "count", "INI", "documented"),
    vector_cores = num(56, "count", "INI", "documented"),
  },
}
