# Kolmo for Spack 1.0 or later. `packaging/tarball` writes a copy of this repository next to its tarball, with the checksum filled in:
#
#   spack repo add dist/spack/spack_repo/kolmo
#   spack install kolmo

from pathlib import Path

from spack.package import *
from spack_repo.builtin.build_systems.cargo import CargoPackage


class Kolmo(CargoPackage):
    """Direct numerical simulation of the compressible Navier-Stokes equations with compact finite differences, on CPUs and
    GPUs, on one rank or many."""

    # The folder that contains `spack`.
    url = f"file://{Path(__file__).resolve().parents[5]}/kolmo-0.1.0.tar.gz"

    license("MIT OR Apache-2.0")

    version("0.1.0", sha256="0000000000000000000000000000000000000000000000000000000000000000")

    variant("mpi", default=True, description="Load an MPI library with the module, for several ranks")
    variant("cuda", default=False, description="Load CUDA's compiler of kernels with the module, for NVIDIA GPUs")

    depends_on("c", type="build")
    depends_on("rust@1.91:", type="build")
    # Neither is linked: the program loads them at run time.
    depends_on("mpi", type="run", when="+mpi")
    depends_on("cuda@12:", type="run", when="+cuda")

    # All crates are in the tarball.
    build_args = ["--frozen"]
    # The tests need Python, two MPI libraries and OpenCL: `./test` of a checkout runs them.
    install_time_test_callbacks = []

    def setup_run_environment(self, env):
        if self.spec.satisfies("+cuda"):
            env.set("CUDA_PATH", self.spec["cuda"].prefix)
        if self.spec.satisfies("+mpi"):
            env.prepend_path("LD_LIBRARY_PATH", self.spec["mpi"].prefix.lib)

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        kolmo = Executable(self.prefix.bin.kolmo)
        kolmo("--version")
        kolmo("verify", "--quick", "--backend", "cpu")
