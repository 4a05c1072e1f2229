-- SPDX-License-Identifier: Apache-2.0
-- Servers of eight 910B devices: a full mesh of HCCS links within a server, RDMA between servers.
return group {
  name = "atlas_a2",
  abstract = true,
  description = "servers of 8 devices in a full mesh of HCCS; RDMA between servers",

  levels = {
    {
      name = "hccs", join = "mesh", devices = 8,
      latency = num(1.1 * us, "s", "QWEN", "measured", "transfers of 4 bytes take 1.03 to 1.15 us"),
      copy = num(19.42 * GB, "B/s", "HIXL", "derived", "1 MiB at 19.058, 8 MiB at 19.371 GB/s: the slope"),
      reduce = num(18.69 * GB, "B/s", "QWEN", "measured", "inline reduction of 126 MB between two 910B4"),
      send = num(20.99 * GB, "B/s", "QWEN", "measured", "8.4 MB at 20.93 GB/s with the latency"),
      device = num(0, "B/s", "MSI", "measured", "seven copies at once are no slower than one"),
      device_reduce = num(102.2 * GB, "B/s", "MSI", "measured", "seven inline reductions at once have 14.6 GB/s each"),
    },
    {
      name = "rdma", join = "switch", devices = 65536,
      latency = num(0.1 * us, "s", "HIXL", "derived", "1 MiB at 22.571, 8 MiB at 22.604 GB/s; the test keeps several transfers under way"),
      copy = num(22.61 * GB, "B/s", "HIXL", "derived", "1 MiB at 22.571, 8 MiB at 22.604 GB/s: the slope"),
      reduce = num(22.61 * GB, "B/s", "HIXL", "assumed", "as copies"),
      send = num(22.61 * GB, "B/s", "HIXL", "assumed", "as copies"),
      device = num(0, "B/s", "HIXL", "assumed", "the port is the limit"),
      device_reduce = num(0, "B/s", "HIXL", "assumed", "the port is the limit"),
    },
  },
  memory = {
    latency = num(0.6 * us, "s", "MSI", "measured", "an inline reduction of 4 bytes within the device"),
    copy = num(320 * GB, "B/s", "QWEN", "derived", "305 to 330 GB/s: an all-reduce less its transfers"),
    fresh = num(650 * GB, "B/s", "MSI", "measured", "614 and 659 GB/s behind a reduction of 8 and 19 MB"),
    add = num(100 * GB, "B/s", "MSI", "assumed", "unused: transfers add on the way"),
  },
  notify = {
    latency = num(1.9 * us, "s", "QWEN", "derived", "from an all-reduce of 4 bytes between two devices, 16.4 us, less its other parts"),
    issue = num(0.28 * us, "s", "MSI", "measured", "distance of notifies to different devices"),
    wait = num(0.73 * us, "s", "MSI", "measured", "distance of waits for different devices"),
  },
  reduce = { inline = num(1, "count", "MSI", "documented", "steps of kind Reduce_Inline") },
  collective = {
    slice = num(16 * KiB, "B", "MSI", "derived", "sizes of parts in four all-reduces"),
    buffer = num(240 * MiB, "B", "QWEN", "derived", "the largest transfer between two devices is 120 MiB"),
    timeout = num(1836, "s", "HCCL", "documented", "HCCL_EXEC_TIMEOUT where nothing is set; of each wait, here of the collective"),
  },
}
