# SPDX-License-Identifier: Apache-2.0
# Makes the installed form of a page: what names a file of the sources names the installed file, or
# goes. @pkgdatadir@ is replaced by the Makefile.

# README.md: how to build belongs to the sources.
/^## Two commands$/,/^The program is then/ {
  s/^## Two commands$/## First commands/p
  d
}
/^## Building by hand$/,/^## Licence$/ {
  /^## Licence$/!d
}
# REPORT.md: its pictures lie beside the page; how the page is built belongs to the sources.
/^## Building$/,$d
s,](report/\(kinds/\)*\([a-z-]*\.webp\)),](\2),
s,cli/\(REPORT\.md\),\1,g

s,build/vinci,vinci,g

# LUA.md: where the module lies before it is installed.
/^In a build folder /,/^$/d

# TUTORIALS.md: the same.
/^From the sources: /,/^$/d

# PYTHON.md: the same.
/^- In a build folder: /d

s,traces/examples/,@pkgdatadir@/examples/,g
s,scripts/experiments/,@pkgdatadir@/experiments/,g
s,](experiments),](@pkgdatadir@/experiments),g
s,\(\.\./\)*\(core\|traces\|lower\|networks\|devices\|tune\|kernels\)/\([A-Z]*\.md\),\3,g
s,](\.\./\([A-Z]*\.md\)),](\1),g
s,\(\.\./\)*scripts/\([A-Z]*\.md\),\2,g

# MODEL.md: where the code is.
s# *(\(`[a-z0-9_/]*\.\(c\|h\|def\)`\(, \)*\)*)##g
s,`scripts/group`,`@pkgdatadir@/group`,g

# Files that are in the sources only.
s,`\(tests/[^` ]*\)`,`\1` (in the sources),g
s,`\(\.ci/[^` ]*\)`,`\1` (in the sources),g
