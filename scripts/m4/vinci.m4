dnl SPDX-License-Identifier: Apache-2.0
dnl Configure macros of vinci: compiler flags and the dependencies without a plain pkg-config check.

dnl VINCI_FLAG_WORKS(flags, if-yes, if-no): whether the compiler of the current language
dnl takes the flags without a warning.
AC_DEFUN([VINCI_FLAG_WORKS], [
AC_MSG_CHECKING([whether the _AC_LANG compiler takes $1])
vinci_saved_flags="$[]_AC_LANG_PREFIX[]FLAGS"
_AC_LANG_PREFIX[]FLAGS="$vinci_saved_flags -Werror $1"
AC_COMPILE_IFELSE([AC_LANG_PROGRAM], [vinci_works=yes], [vinci_works=no])
_AC_LANG_PREFIX[]FLAGS="$vinci_saved_flags"
AC_MSG_RESULT([$vinci_works])
AS_IF([test "x$vinci_works" = xyes], [$2], [$3])
])

dnl VINCI_NEED_FLAG(variable, flag): appends the flag; an error when it does not work.
AC_DEFUN([VINCI_NEED_FLAG], [
VINCI_FLAG_WORKS([$2], [$1="$$1 $2"], [AC_MSG_ERROR([the _AC_LANG compiler does not take $2])])
])

dnl VINCI_TRY_FLAGS(variable, flags): appends each flag that works.
AC_DEFUN([VINCI_TRY_FLAGS], [
for vinci_flag in m4_normalize([$2]); do
  VINCI_FLAG_WORKS([$vinci_flag], [$1="$$1 $vinci_flag"])
done
])

dnl VINCI_LINK_FLAG(flags): an error when a program cannot be linked with the flags.
AC_DEFUN([VINCI_LINK_FLAG], [
AC_MSG_CHECKING([whether programs link with $1])
vinci_saved_flags="$CFLAGS"
CFLAGS="$vinci_saved_flags $1"
AC_LINK_IFELSE([AC_LANG_PROGRAM], [vinci_works=yes], [vinci_works=no])
CFLAGS="$vinci_saved_flags"
AC_MSG_RESULT([$vinci_works])
AS_IF([test "x$vinci_works" = xno], [AC_MSG_ERROR([this compiler cannot build with $1])])
])

dnl VINCI_CHECK_SYSTEMC: links a SystemC program with our flags, so that a library built for
dnl another C++ standard is named here instead of by undefined symbols later.
AC_DEFUN([VINCI_CHECK_SYSTEMC], [
AC_LANG_PUSH([C++])
AC_MSG_CHECKING([whether SystemC links with $VINCI_CXXFLAGS])
vinci_saved_flags="$CXXFLAGS"
vinci_saved_libs="$LIBS"
CXXFLAGS="$vinci_saved_flags -std=gnu++17 $SYSTEMC_CFLAGS"
LIBS="$SYSTEMC_LIBS $vinci_saved_libs"
AC_LINK_IFELSE([AC_LANG_SOURCE([[
#include <systemc>
int sc_main(int, char **) { return 0; }
int main() { return sc_core::sc_time_stamp() == sc_core::SC_ZERO_TIME ? 0 : 1; }
]])], [vinci_works=yes], [vinci_works=no])
CXXFLAGS="$vinci_saved_flags"
LIBS="$vinci_saved_libs"
AC_MSG_RESULT([$vinci_works])
AS_IF([test "x$vinci_works" = xno],
  [AC_MSG_ERROR([SystemC does not link; it must have been built for C++17 (Debian: libsystemc-dev)])])
AC_LANG_POP([C++])
])

dnl VINCI_CHECK_LIBCSV: libcsv has no pkg-config file. Sets CSV_LIBS.
AC_DEFUN([VINCI_CHECK_LIBCSV], [
AC_LANG_PUSH([C])
AC_CHECK_HEADER([csv.h], [], [AC_MSG_ERROR([csv.h is missing (Debian: libcsv-dev)])])
vinci_saved_libs="$LIBS"
AC_SEARCH_LIBS([csv_parse], [csv], [],
  [AC_MSG_ERROR([libcsv is missing (Debian: libcsv-dev)])])
CSV_LIBS=
AS_IF([test "x$ac_cv_search_csv_parse" != "xnone required"], [CSV_LIBS="$ac_cv_search_csv_parse"])
LIBS="$vinci_saved_libs"
AC_SUBST([CSV_LIBS])
AC_LANG_POP([C])
])
