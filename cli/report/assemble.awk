# SPDX-License-Identifier: Apache-2.0
# The page of reports from its pieces: a line "@include NAME" is the file of that name, which is one
# of the arguments; the template is the first of them.
BEGIN {
  for (i = 2; i < ARGC; i++) {
    name = ARGV[i]
    sub(/.*\//, "", name)
    path[name] = ARGV[i]
  }
  while ((getline line <ARGV[1]) > 0) {
    if (line !~ /^@include /) {
      print line
      continue
    }
    name = substr(line, 10)
    if (!(name in path)) {
      print "the template includes " name ", which is not an argument" >"/dev/stderr"
      exit 1
    }
    while ((getline piece <path[name]) > 0)
      if (piece !~ /SPDX-License-Identifier/)
        print piece
  }
  exit 0
}
