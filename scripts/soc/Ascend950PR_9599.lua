-- SPDX-License-Identifier: Apache-2.0
-- 950PR_9599: as 950PR_9589, with 36 cube and 72 vector cores and a faster clock.
return soc {
  name = "Ascend950PR_9599",
  base = "Ascend950PR_9589",
  description = "950PR_9599: 36 AIC + 72 AIV at 1800 MHz, 128 GiB",

  device = {
    cube_cores = num(36, "count", "INI", "documented"),
    vector_cores = num(72, "count", "INI", "documented"),
  },
  clock = {
    core = num(1800 * MHz, "Hz", "INI", "documented"),
    vector = num(1800 * MHz, "Hz", "INI", "documented"),
  },
}
