/* A substitute NVRTC for the substitute CUDA driver with KOLMO_CUDA_KERNELS: the compiled image of a text is the text. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int nvrtcVersion(int *major, int *minor) { *major = 13; *minor = 0; return 0; }
int nvrtcGetNumSupportedArchs(int *count) { *count = 1; return 0; }
int nvrtcGetSupportedArchs(int *architectures) { *architectures = 90; return 0; }
const char *nvrtcGetErrorString(int code) { return code ? "it fails" : "nothing"; }
int nvrtcCreateProgram(char **program, const char *text, const char *name, int headers, const char *const *sources, const char *const *names) {
    *program = strdup(text);
    return headers || sources || names || !name;
}
int nvrtcDestroyProgram(char **program) { free(*program); return 0; }
int nvrtcCompileProgram(char *program, int count, const char *const *options) {
    return !program || count != 1 || strcmp(options[0], "--gpu-architecture=sm_90");
}
int nvrtcGetProgramLogSize(char *program, size_t *size) { *size = program ? 1 : 0; return 0; }
int nvrtcGetProgramLog(char *program, char *log) { *log = 0; return !program; }
int nvrtcGetCUBINSize(char *program, size_t *size) { *size = strlen(program) + 1; return 0; }
int nvrtcGetCUBIN(char *program, char *image) { strcpy(image, program); return 0; }
/* PTX must not be requested for a known architecture. */
int nvrtcGetPTXSize(char *program, size_t *size) { *size = 0; return program != NULL; }
int nvrtcGetPTX(char *program, char *image) { *image = 0; return program != NULL; }
