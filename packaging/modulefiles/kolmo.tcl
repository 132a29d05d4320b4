#%Module
# Module file of Kolmo for Environment Modules. Copy it to MODULEPATH as kolmo/VERSION: the version is the name of the file.
set version [file tail $ModulesCurrentModulefile]
# change: the folder that contains VERSION/bin/kolmo
set root /opt/kolmo/$version

proc ModulesHelp { } {
    puts stderr "Kolmo: direct numerical simulation of compressible flow. Begin with `kolmo --help`."
}
module-whatis "Kolmo $version: direct numerical simulation of compressible flow on CPUs and GPUs"

# change: the MPI library for several ranks, and CUDA for its kernel compiler (it sets CUDA_HOME)
module load openmpi
# module load cuda

prepend-path PATH $root/bin
prepend-path MANPATH $root/share/man
# change: only if the loader does not find the library, or finds another one
# setenv KOLMO_MPI_LIBRARY /opt/mpi/lib/libmpi.so.40
