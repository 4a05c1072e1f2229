-- SPDX-License-Identifier: Apache-2.0
-- What the vendor's operator library is taken to do where nothing else is known: the numbers of
-- dav-c220, of which ascend910b.lua has the derivation. Base of all families.

local like_c220 = "no public measurement of this architecture; as dav-c220"

local no_functions = "of this architecture there are none"

local function start(head, code_lines, line_cycles, issue)
  return {
    issue_cycles = num(issue or 13, "cycle", "DK", "assumed", like_c220),
    head_cycles = num(head, "cycle", "MSI", "assumed", like_c220),
    code_bytes = num(code_lines * 64, "B", "MSI", "assumed", like_c220),
    line_cycles = num(line_cycles, "cycle", "MSI", "assumed", like_c220),
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
    line = num(64, "B", "MSI", "assumed", like_c220),
    cube_cache = num(32 * KiB, "B", "DK", "assumed", like_c220),
    vector_cache = num(16 * KiB, "B", "DK", "assumed", like_c220),
    counted_instructions = num(9, "count", "MSI", "assumed", like_c220),
    counted_line_cycles = num(68, "cycle", "MSI", "assumed", like_c220),
    access_cycles = num(2.8, "cycle", "MSI", "assumed", like_c220),
    arguments_cycles = num(21, "cycle", "MSI", "assumed", like_c220),
    first_cycles = num(115, "cycle", "MSI", "assumed", like_c220),
    first_read_cycles = num(60, "cycle", "MSI", "assumed", like_c220),
  },
  kernel = {
    core_bytes_min = num(4 * KiB, "B", "MSI", "assumed", "rows of small elementwise kernels take fewer cores than the chip has"),
    ELEMENTWISE = start(220, 36, 15),
    SLICE = start(650, 60, 15),
    POWER = start(1500, 110, 15),
    NORM = start(1900, 216, 15),
    FUSED = start(1900, 208, 68),
    TILED = start(1900, 520, 68),
    REDUCE = start(4000, 280, 15),
    FORMAT = start(2000, 75, 15),
    PERMUTE = start(7700, 330, 15),
    CUBE = start(1500, 64, 15, 27),
    CONV = start(1500, 90, 15),
    ATTENTION = start(1500, 208, 68, 20),
  },
  -- Vector functions of register instructions: the 950 alone has them.
  vf = {
    physical = num(0, "count", "DK", "documented", no_functions),
    registers = num(0, "count", "DK", "documented", no_functions),
    width = num(0, "count", "DK", "documented", no_functions),
    queue = num(0, "count", "DK", "documented", no_functions),
    units = num(0, "count", "DK", "documented", no_functions),
    loads = num(0, "count", "DK", "documented", no_functions),
    subbank = num(0, "B", "DK", "documented", no_functions),
    start_cycles = num(0, "cycle", "DK", "documented", no_functions),
    end_cycles = num(0, "cycle", "DK", "documented", no_functions),
    issue_cycles = num(0, "cycle", "DK", "documented", no_functions),
    loop_cycles = num(0, "cycle", "DK", "documented", no_functions),
    release_cycles = num(0, "cycle", "DK", "documented", no_functions),
  },
}
