# SPDX-License-Identifier: Apache-2.0
# Finds the compiler of ASC: the program vinci, of which the rules use the verb cc.
if(NOT CMAKE_ASC_COMPILER)
  find_program(CMAKE_ASC_COMPILER NAMES "$ENV{VINCI}" vinci REQUIRED
    DOC "the program vinci, whose verb cc compiles Ascend C")
endif()
mark_as_advanced(CMAKE_ASC_COMPILER)
configure_file("${CMAKE_CURRENT_LIST_DIR}/CMakeASCCompiler.cmake.in"
  "${CMAKE_PLATFORM_INFO_DIR}/CMakeASCCompiler.cmake" @ONLY)
set(CMAKE_ASC_COMPILER_ENV_VAR VINCI)
