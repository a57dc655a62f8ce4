# SPDX-License-Identifier: MIT
# Doors for people and scripts that expect make; Meson and Kbuild do the work.
# make lib|exes|install|lib_install|check|clean [prefix=/usr/local] [DESTDIR=] [libdir=]
# make driver|drv_install [NVIDIA_SRC_DIR=] [KDIR=] [KVER=] [DESTDIR=] [SIGN_KEY= SIGN_CERT=]
prefix ?= /usr/local
DESTDIR ?=
build := build-make
destdir := $(if $(DESTDIR),$(abspath $(DESTDIR)))
options := '-Dprefix=$(prefix)' $(if $(libdir),'-Dlibdir=$(libdir)') \
	-Dbuildtype=debugoptimized -Dtests=false
# directory, more options
set_up = meson setup $(if $(wildcard $(1)/build.ninja),--reconfigure) $(1) $(options) $(2) >/dev/null \
	&& ninja -C $(1)

.PHONY: all lib exes install lib_install driver drv_install check clean
.NOTPARALLEL:
all: lib exes

lib exes:
	$(call set_up,$(build))

install: lib
	DESTDIR='$(destdir)' meson install -C $(build) --no-rebuild

# The library and what programs that use it are built with.
lib_install:
	$(call set_up,$(build)-lib,-Dtools=false -Dsoftcuda=false)
	DESTDIR='$(destdir)' meson install -C $(build)-lib --no-rebuild

# Variables of the command line go on to the driver's own Makefile, paths as seen from
# here.  A key need not be a file; what abspath would take for two paths, or for one below
# this directory, goes on as it is.
paths = $(foreach v,KDIR NVIDIA_SRC_DIR NVIDIA_SYMVERS SIGN_KEY SIGN_CERT, \
	$(if $($(v)),$(if $(findstring :,$($(v)))$(word 2,$($(v)))$(filter ~%,$($(v))),, \
	$(v)='$(abspath $($(v)))')))

driver:
	$(MAKE) -C kernel $(paths)

drv_install:
	$(MAKE) -C kernel install $(paths) DESTDIR='$(destdir)'

check:
	./check

clean:
	rm -rf $(build) $(build)-lib
