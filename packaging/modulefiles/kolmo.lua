-- Module file of Kolmo for Lmod. Copy it to MODULEPATH as kolmo/VERSION.lua: the version is the name of the file.
-- change: the folder that contains VERSION/bin/kolmo
local root = pathJoin("/opt/kolmo", myModuleVersion())

help([[Kolmo: direct numerical simulation of compressible flow. Begin with `kolmo --help`.]])
whatis("Name: Kolmo")
whatis("Version: " .. myModuleVersion())
whatis("Description: direct numerical simulation of compressible flow on CPUs and GPUs")

-- change: the MPI library for several ranks, and CUDA for its kernel compiler (it sets CUDA_HOME)
depends_on("openmpi")
-- depends_on("cuda")

prepend_path("PATH", pathJoin(root, "bin"))
prepend_path("MANPATH", pathJoin(root, "share/man"))
-- change: only if the loader does not find the library, or finds another one
-- setenv("KOLMO_MPI_LIBRARY", "/opt/mpi/lib/libmpi.so.40")
