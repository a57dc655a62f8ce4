# SPDX-License-Identifier: MIT
# Doors for people and scripts that expect make; Meson and Kbuild do the work.
# make lib|exes|install|lib_install|check|clean [prefix=/usr/local] [DESTDIR=] [libdir=]
# make driver|drv_install [NVIDIA_SRC_DIR=] [KDIR=]
prefix ?= /usr/local
DESTDIR ?=
build := build-make
destdir := $(if $(DESTDIR),$(abspath $(DESTDIR)))
options := '-Dprefix=$(prefix)' $(if $(libdir),'-Dlibdir=$(libdir)') \
	-Dbuildtype=debugoptimized

.PHONY: all lib exes install lib_install driver drv_install check clean
all: lib exes

$(build)/build.ninja:
	meson setup $(build) $(options) -Dtests=false

lib exes: | $(build)/build.ninja
	meson setup --reconfigure $(build) $(options) >/dev/null
	ninja -C $(build)

install: lib
	DESTDIR='$(destdir)' meson install -C $(build) --no-rebuild

lib_install: lib
	DESTDIR='$(destdir)' meson install -C $(build) --no-rebuild --tags runtime,devel,man

driver drv_install:
	@if [ -f kernel/Makefile ]; then \
		$(MAKE) -C kernel $(if $(filter drv_install,$@),install) \
			$(if $(KDIR),KDIR='$(KDIR)') \
			$(if $(NVIDIA_SRC_DIR),NVIDIA_SRC_DIR='$(NVIDIA_SRC_DIR)') \
			$(if $(DESTDIR),DESTDIR='$(DESTDIR)'); \
	else \
		echo 'The gdrdrv kernel module is not part of this release yet.' >&2; \
		echo 'The library works without it: on the stock NVIDIA driver, see gdrcopy(7).' >&2; \
		exit 1; \
	fi

check:
	./check

clean:
	rm -rf $(build)
