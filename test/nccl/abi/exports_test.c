/* What the plugin shows to a program in plain C: NCCL's tables, by dlsym, all of one name. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

static void expect(int condition, const char* what, const char* which) {
  if (!condition) {
    fprintf(stderr, "%s: %s\n", which, what);
    ++failures;
  }
}

int main(int argc, char** argv) {
  static const char* const exported[] = {
      "ncclNetPlugin_v6",      "ncclNetPlugin_v8",      "ncclNetPlugin_v9",
      "ncclNetPlugin_v10",     "ncclNetPlugin_v11",     "ncclNetPlugin_v12",
      "ncclProfiler_v4",       "ncclProfiler_v5",       "ncclProfiler_v6",
      "ncclTunerPlugin_v3",    "ncclTunerPlugin_v4",    "ncclTunerPlugin_v5",
      "ncclTunerPlugin_v6",    "ncclCollNetPlugin_v8",  "ncclCollNetPlugin_v9",
      "ncclCollNetPlugin_v10", "ncclCollNetPlugin_v11", "ncclCollNetPlugin_v12"};
  static const char* const absent[] = {"ncclNetPlugin_v5",   "ncclNetPlugin_v7",
                                       "ncclNetPlugin_v13",  "ncclProfiler_v3",
                                       "ncclTunerPlugin_v2", "ncclCollNetPlugin_v7"};
  void* library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library == NULL) {
    fprintf(stderr, "%s\n", argc == 2 ? dlerror() : "usage: exports_test PLUGIN");
    return 2;
  }
  for (size_t i = 0; i < sizeof exported / sizeof exported[0]; ++i) {
    const char* const* table = dlsym(library, exported[i]);
    expect(table != NULL, "not exported", exported[i]);
    expect(table != NULL && strcmp(table[0], "DLCP") == 0, "has another name", exported[i]);
  }
  for (size_t i = 0; i < sizeof absent / sizeof absent[0]; ++i)
    expect(dlsym(library, absent[i]) == NULL, "should not be there", absent[i]);
  dlclose(library);
  return failures == 0 ? 0 : 1;
}
