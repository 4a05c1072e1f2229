-- SPDX-License-Identifier: Apache-2.0
-- Packages of two dies, a super pod of packages behind one HCCS switch, RDMA between pods.
return group {
  name = "atlas_a3",
  chip = "Ascend910_9392",
  description = "packages of 2 dies (SIO), super pods of 384 packages (HCCS), RDMA between pods",

  levels = {
    {
      name = "sio", join = "mesh", devices = 2,
      latency = num(12 * us, "s", "ZBAL", "derived", "8 MiB in 57.8, 16 MiB in 102.5 us; with the software of the test"),
      copy = num(187.7 * GB, "B/s", "ZBAL", "derived", "8 MiB in 57.8, 16 MiB in 102.5 us: the slope"),
      reduce = num(187.7 * GB, "B/s", "ZBAL", "assumed", "as copies"),
      send = num(187.7 * GB, "B/s", "ZBAL", "assumed", "as copies"),
      device = num(0, "B/s", "ZBAL", "assumed", "the link is the limit"),
      device_reduce = num(0, "B/s", "ZBAL", "assumed", "the link is the limit"),
    },
    {
      name = "hccs", join = "switch", devices = 768,
      latency = num(15.4 * us, "s", "ZBAL", "derived", "8 MiB in 77.2, 16 MiB in 139 us; with the software of the test"),
      copy = num(135.7 * GB, "B/s", "ZBAL", "derived", "8 MiB in 77.2, 16 MiB in 139 us: the slope"),
      reduce = num(135.7 * GB, "B/s", "ZBAL", "assumed", "as copies"),
      send = num(135.7 * GB, "B/s", "ZBAL", "assumed", "as copies"),
      device = num(0, "B/s", "ZBAL", "assumed", "the port is the limit"),
      device_reduce = num(0, "B/s", "ZBAL", "assumed", "the port is the limit"),
    },
    {
      name = "rdma", join = "switch", devices = 61440,
      latency = num(0.1 * us, "s", "HIXL", "assumed", "as in servers of the A2 kind"),
      copy = num(22.66 * GB, "B/s", "HIXL", "measured", "1 and 8 MiB at 22.66 GB/s"),
      reduce = num(22.66 * GB, "B/s", "HIXL", "assumed", "as copies"),
      send = num(22.66 * GB, "B/s", "HIXL", "assumed", "as copies"),
      device = num(0, "B/s", "HIXL", "assumed", "the port is the limit"),
      device_reduce = num(0, "B/s", "HIXL", "assumed", "the port is the limit"),
    },
  },
  memory = {
    latency = num(0.6 * us, "s", "MSI", "assumed", "as measured on a 910B2"),
    copy = num(320 * GB, "B/s", "QWEN", "assumed", "as derived for a 910B4"),
    fresh = num(650 * GB, "B/s", "MSI", "assumed", "as measured on a 910B2"),
    add = num(100 * GB, "B/s", "MSI", "assumed", "unused: transfers add on the way"),
  },
  notify = {
    latency = num(1.9 * us, "s", "QWEN", "assumed", "as derived for a 910B4"),
    issue = num(0.28 * us, "s", "MSI", "assumed", "as measured on a 910B2"),
    wait = num(0.73 * us, "s", "MSI", "assumed", "as measured on a 910B2"),
  },
  reduce = { inline = num(1, "count", "MSI", "assumed", "as on a 910B2") },
  collective = {
    slice = num(16 * KiB, "B", "MSI", "assumed", "as on a 910B2"),
    buffer = num(240 * MiB, "B", "QWEN", "assumed", "as on a 910B4"),
    timeout = num(1836, "s", "HCCL", "documented", "HCCL_EXEC_TIMEOUT where nothing is set; of each wait, here of the collective"),
  },
}
