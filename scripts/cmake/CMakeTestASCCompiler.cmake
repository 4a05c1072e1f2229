# SPDX-License-Identifier: Apache-2.0
# The first compilation tells more than a trial.
set(CMAKE_ASC_COMPILER_WORKS 1 CACHE INTERNAL "")
