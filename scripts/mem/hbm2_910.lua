-- SPDX-License-Identifier: Apache-2.0
-- HBM2 of the 910A, four stacks at 2.4 Gbps.
local queues = "as hbm2e_3200; with the 32 of the reference controller copies reach 0.66 of the bandwidth, parts of the next generation reach 0.84"

return memory {
  name = "hbm2_910",
  base = "hbm2_2400",
  description = "HBM2 of the 910A at 2.4 Gbps, 307 GB/s a stack",

  controller = {
    read_queue = num(96, "count", "MSI", "assumed", queues),
    write_queue = num(96, "count", "MSI", "assumed", queues),
  },
}
