# SPDX-License-Identifier: Apache-2.0
# The language ASC (Ascend C programs with kernels, *.asc) by `vinci cc`:
#
#   cmake -DASC_DIR=$(vinci cc --cmake) -DCMAKE_ASC_ARCHITECTURES=dav-2201 ..
#
# finds this file for find_package(ASC), after which project(... LANGUAGES ASC CXX) works. The
# environment variable VINCI names the program vinci; those of `vinci cc` hold as well. Projects in
# C++ alone, which compile kernels at run time, have no find_package; CMake reads this file for
#
#   cmake -DCMAKE_PROJECT_INCLUDE=$(vinci cc --cmake)/ASCConfig.cmake ..
list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")
set(ASC_FOUND TRUE)

# Libraries of a toolkit that programs name. What a program uses of them is in libvinci_acl, in
# headers, or in the library that $VINCI_TILING names.
foreach(name ascendcl acl_rt acl_rtc tiling_api register platform graph_base unified_dlog ascendalog)
  if(NOT TARGET ${name})
    add_library(${name} INTERFACE IMPORTED GLOBAL)
  endif()
endforeach()

# acl/acl.h, for C++ as well.
get_filename_component(vinci_data "${CMAKE_CURRENT_LIST_DIR}" DIRECTORY)
get_filename_component(vinci_sources "${vinci_data}" DIRECTORY)
include_directories("${vinci_data}/include" "${vinci_sources}/include")

# The runtime, for programs that C++ links.
find_program(VINCI_PROGRAM NAMES "$ENV{VINCI}" vinci)
get_filename_component(vinci_program "${VINCI_PROGRAM}" REALPATH)
get_filename_component(vinci_folder "${vinci_program}" DIRECTORY)
find_library(VINCI_ACL_LIBRARY vinci_acl HINTS "${vinci_folder}/.libs" "${vinci_folder}/../lib" "${vinci_folder}/../lib64" "${vinci_folder}")
if(VINCI_ACL_LIBRARY)
  target_link_libraries(ascendcl INTERFACE "${VINCI_ACL_LIBRARY}")
endif()
