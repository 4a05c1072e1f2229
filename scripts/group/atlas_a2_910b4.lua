-- SPDX-License-Identifier: Apache-2.0
return group {
  name = "atlas_a2_910b4",
  base = "atlas_a2",
  chip = "Ascend910B4",
  description = "servers of 8 devices 910B4, as a profile of two ranks shows their links",
  levels = {
    {
      name = "hccs",
      copy = num(19.47 * GB, "B/s", "QWEN", "measured", "copies of 126 MB between two devices"),
    },
  },
}
