#!/bin/bash
# SPDX-License-Identifier: MIT
# find_package(gdrapi) where /lib is a link to /usr/lib, as on a system with one /usr:
# found through the link, it names what lies in /usr.
# Usage: tests/packaging/cmake.sh DIRECTORY-WITH-gdrapi-config.cmake LIBDIR
set -u
from=${1:?directory of the built files} libdir=${2:?as in lib/x86_64-linux-gnu}
command -v cmake >/dev/null || { echo 'SKIP: cmake is not installed'; exit 77; }
case $libdir in
lib*) ;;
*) echo "SKIP: $libdir is outside of the prefix"; exit 77 ;;
esac
work=$(realpath "$(mktemp -d)")
trap 'rm -rf "$work"' EXIT
top=${libdir%%/*}
mkdir -p "$work/usr/$libdir/cmake/gdrapi" "$work/usr/include" "$work/project"
ln -s "usr/$top" "$work/$top"
touch "$work/usr/$libdir/libgdrapi.so"
cp "$from"/gdrapi-config{,-version}.cmake "$work/usr/$libdir/cmake/gdrapi/"
cat >"$work/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.13)
project(found NONE)
find_package(gdrapi 2.6 REQUIRED)
foreach(p IMPORTED_LOCATION INTERFACE_INCLUDE_DIRECTORIES)
  get_target_property(value gdrapi::gdrapi ${p})
  file(APPEND "${OUT}" "${value}\n")
endforeach()
foreach(v _gdrapi_dir _gdrapi_prefix)
  if(DEFINED ${v})
    message(FATAL_ERROR "${v} is left")
  endif()
endforeach()
END
bad=0
for dir in "$libdir" "usr/$libdir"; do
	rm -rf "$work/found" "$work/build"
	cmake -S "$work/project" -B "$work/build" -DOUT="$work/found" \
		-Dgdrapi_DIR="$work/$dir/cmake/gdrapi" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
	diff - "$work/found" <<-END || { echo "FAILED: found in $dir"; bad=1; }
	$work/usr/$libdir/libgdrapi.so
	$work/usr/include
	END
done
exit $bad
