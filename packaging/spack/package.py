# SPDX-License-Identifier: MIT
from spack_repo.builtin.build_systems.meson import MesonPackage

from spack.package import *


class Gdrcopy(MesonPackage):
    """Low-latency CPU access to the memory of NVIDIA GPUs: the library libgdrapi, its
    benchmarks and test suite. The kernel module is optional and left to the administrator."""

    # A release tarball beside this recipe, or a mirror of the site.
    url = "file:///usr/src/gdrcopy-2.6.0.tar.xz"
    license("MIT", checked_by="GDRCopy contributors")

    version("2.6.0")

    variant("tools", default=True, description="Benchmarks, test suite and gdrcopy_doctor")
    variant("man", default=False, description="Manual pages")

    depends_on("c", type="build")
    depends_on("meson@0.58:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("scdoc", type="build", when="+man")

    # Clients open libgdrapi.so.2 at run time; CUDA is opened likewise, so none is needed here.
    conflicts("platform=darwin")
    conflicts("platform=windows")

    def meson_args(self):
        spec = self.spec
        return [
            "-Dtests=false",
            "-Dshort_names=false",
            f"-Dtools={'true' if spec.satisfies('+tools') else 'false'}",
            f"-Dsoftcuda={'true' if spec.satisfies('+tools') else 'false'}",
            f"-Dman={'enabled' if spec.satisfies('+man') else 'disabled'}",
        ]

    def setup_dependent_build_environment(self, env, dependent_spec):
        env.set("GDRCOPY_HOME", self.prefix)

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def run_on_the_simulated_gpu(self):
        if self.spec.satisfies("+tools"):
            Executable(self.prefix.bin.gdrcopy_copybw)("--soft", "-s", "64K", "-w", "10", "-r", "10")
