-- SPDX-License-Identifier: Apache-2.0
-- What the vendor's operator library is taken to do where nothing else is known: the numbers of
-- dav-c220, of which ascend910b.lua has the derivation. Base of all families.

local like_c220 = "no public measurement of this architecture; as dav-c220"

local function start(head, code, issue)
  return {
    issue_cycles = num(issue or 13, "cycle", "DK", "assumed", like_c220),
    head_cycles = num(head, "cycle", "MSI", "assumed", like_c220),
    code_cycles = num(code, "cycle", "MSI", "assumed", like_c220),
  }
end

return soc {
  name = "library",
  abstract = true,
  description = "the vendor's operator library",

  ub = {
    reserved = num(8 * KiB + 256, "B", "DK", "documented", "dav-c220: 256 B, and 8 KiB unless a compiler option gives them back; dav-c310: 6 KiB stack of vector functions and 2 KiB"),
  },
  code = {
    sharing = num(0.15, "ratio", "MSI", "assumed", like_c220),
    first_read_cycles = num(60, "cycle", "MSI", "assumed", like_c220),
  },
  kernel = {
    core_bytes_min = num(4 * KiB, "B", "MSI", "assumed", "rows of small elementwise kernels take fewer cores than the chip has"),
    turn_cycles = num(64, "cycle", "MSI", "assumed", "some 20 flags, loops and scalar instructions"),
    stage_cycles = num(2000, "cycle", "SMP", "assumed", "pipes run dry, cores wait for the slowest one and its signal, the next data come from device memory; no measurement is public"),
    ELEMENTWISE = start(220, 500),
    SLICE = start(650, 750),
    NORM = start(1900, 1250),
    REDUCE = start(4000, 900),
    FORMAT = start(2000, 420),
    PERMUTE = start(7700, 600),
    CUBE = start(1500, 600, 27),
    CONV = start(1500, 600),
    ATTENTION = start(1500, 600, 20),
  },
}
