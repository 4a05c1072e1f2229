-- SPDX-License-Identifier: Apache-2.0
return group {
  name = "atlas_a2_910b2",
  base = "atlas_a2",
  chip = "Ascend910B2",
  description = "servers of 8 devices 910B2, as a profile of eight ranks shows their links",
  levels = {
    {
      name = "hccs",
      copy = num(21 * GB, "B/s", "MSI", "measured", "seven copies of 18.9 MB at once: 20 to 22 GB/s each"),
    },
  },
}
