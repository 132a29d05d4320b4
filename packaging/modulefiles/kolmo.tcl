#%Module
# A module of Kolmo for Environment Modules. Copy it to MODULEPATH as kolmo/VERSION: the version is the name of the file.
set version [file tail $ModulesCurrentModulefile]
# change: below this folder lies VERSION/bin/kolmo
set root /opt/kolmo/$version

proc ModulesHelp { } {
    puts stderr "Kolmo: direct numerical simulation of compressible flow. Begin with `kolmo --help`."
}
module-whatis "Kolmo $version: direct numerical simulation of compressible flow on CPUs and GPUs"

# change: the MPI library for several ranks, and CUDA for its compiler of kernels (it sets CUDA_HOME)
module load openmpi
# module load cuda

prepend-path PATH $root/bin
prepend-path MANPATH $root/share/man
# change: only where the loader does not find the library, or finds another one
# setenv KOLMO_MPI_LIBRARY /opt/mpi/lib/libmpi.so.40
