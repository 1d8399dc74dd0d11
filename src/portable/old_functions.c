// Release builds link these functions instead of the newer symbols of the C library, so that a
// program built with a new glibc runs with version 2.28. Each name is hidden in its object, takes
// precedence over the library's, and calls an older version of it or does the work itself.
// Nothing of this is in ordinary builds; CMake's option DLCP_PORTABLE adds it
// (scripts/cmake/portable.cmake).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/random.h>
#include <sys/stat.h>

#if defined(__x86_64__)
#define OLDEST \
  "GLIBC_2.2.5"  // the version of a symbol that the architecture has had from its beginning
#define OLD_SETNAME "GLIBC_2.12"
#define JUMP "endbr64\n\tjmp "
#define PLT "@PLT"
#define STAT_VERSION 1  // _STAT_VER of the architecture
#elif defined(__aarch64__)
#define OLDEST "GLIBC_2.17"
#define OLD_SETNAME OLDEST
#define JUMP "bti c\n\tb "
#define PLT ""
#define STAT_VERSION 0
#else
#error "the oldest versions of this architecture's symbols are not known here"
#endif

// A jump to an older version of the same function: arguments, return address and unwinding stay as
// they are, so a callback may throw through it (pthread_once), and dlopen sees who has called it.
#define GOES_TO(name, version)                                                                  \
  __asm__(".symver old_" #name "," #name "@" version "\n\t.text\n\t.p2align 4\n\t.globl " #name \
          "\n\t.hidden " #name "\n\t.type " #name ", %function\n" #name ":\n\t" JUMP            \
          "old_" #name PLT "\n\t.size " #name ", . - " #name)

// Moved from libpthread and libdl into libc by 2.34.
GOES_TO(dlclose, OLDEST);
GOES_TO(dlerror, OLDEST);
GOES_TO(dlopen, OLDEST);
GOES_TO(dlsym, OLDEST);
#if defined(__x86_64__)
GOES_TO(dlinfo, "GLIBC_2.3.3");
#else
GOES_TO(dlinfo, OLDEST);
#endif
GOES_TO(pthread_create, OLDEST);
GOES_TO(pthread_detach, OLDEST);
GOES_TO(pthread_getspecific, OLDEST);
GOES_TO(pthread_join, OLDEST);
GOES_TO(pthread_key_create, OLDEST);
GOES_TO(__pthread_key_create, OLDEST);
GOES_TO(pthread_key_delete, OLDEST);
GOES_TO(pthread_mutex_trylock, OLDEST);
GOES_TO(pthread_once, OLDEST);
GOES_TO(pthread_rwlock_rdlock, OLDEST);
GOES_TO(pthread_rwlock_unlock, OLDEST);
GOES_TO(pthread_rwlock_wrlock, OLDEST);
GOES_TO(pthread_setname_np, OLD_SETNAME);
GOES_TO(pthread_setspecific, OLDEST);
GOES_TO(pthread_sigmask, OLDEST);
// Newer versions of these set errno in another way; no caller here reads it.
GOES_TO(exp, OLDEST);
GOES_TO(log, OLDEST);
GOES_TO(log2, OLDEST);
GOES_TO(pow, OLDEST);

// libstdc++ leaves out atomic operations where this says that there is one thread; new in 2.32.
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;

// Functions since 2.33; before it they were inline calls of these.
extern int old_xstat(int version, const char* path, struct stat* result);
extern int old_lxstat(int version, const char* path, struct stat* result);
extern int old_fxstat(int version, int fd, struct stat* result);
__asm__(".symver old_xstat,__xstat@" OLDEST);
__asm__(".symver old_lxstat,__lxstat@" OLDEST);
__asm__(".symver old_fxstat,__fxstat@" OLDEST);

__attribute__((visibility("hidden"))) int stat(const char* path, struct stat* result) {
  return old_xstat(STAT_VERSION, path, result);
}

__attribute__((visibility("hidden"))) int lstat(const char* path, struct stat* result) {
  return old_lxstat(STAT_VERSION, path, result);
}

__attribute__((visibility("hidden"))) int fstat(int fd, struct stat* result) {
  return old_fxstat(STAT_VERSION, fd, result);
}

// On 64-bit systems stat64 is stat.
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "stat64 is another structure");

__attribute__((visibility("hidden"))) int stat64(const char* path, struct stat64* result) {
  return old_xstat(STAT_VERSION, path, (struct stat*)result);
}

__attribute__((visibility("hidden"))) int lstat64(const char* path, struct stat64* result) {
  return old_lxstat(STAT_VERSION, path, (struct stat*)result);
}

__attribute__((visibility("hidden"))) int fstat64(int fd, struct stat64* result) {
  return old_fxstat(STAT_VERSION, fd, (struct stat*)result);
}

// std::random_device asks for it; new in 2.36. There is no error to return: a kernel of which
// getrandom fails (before 3.17) is older than any that the plugin's sockets need.
__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
  uint32_t value = 0;
  while (getrandom(&value, sizeof value, 0) != (ssize_t)sizeof value) {
  }
  return value;
}

// GCC's unwinder asks it for the object that holds an address, new in 2.35, and gives up where it
// fails.
struct search {
  uintptr_t address;
  struct dl_find_object* result;
};

static int look_into(struct dl_phdr_info* object, size_t bytes, void* argument) {
  (void)bytes;
  struct search* search = argument;
  const ElfW(Phdr)* holds = NULL;
  const ElfW(Phdr)* frames = NULL;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &object->dlpi_phdr[i];
    const uintptr_t start = object->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_GNU_EH_FRAME) frames = part;
    if (part->p_type == PT_LOAD && search->address - start < part->p_memsz) holds = part;
  }
  if (holds == NULL || frames == NULL) return 0;
  const uintptr_t start = object->dlpi_addr + holds->p_vaddr;
  *search->result =
      (struct dl_find_object){.dlfo_map_start = (void*)start,
                              .dlfo_map_end = (void*)(start + holds->p_memsz),
                              .dlfo_eh_frame = (void*)(object->dlpi_addr + frames->p_vaddr)};
  return 1;
}

__attribute__((visibility("hidden"))) int _dl_find_object(void* address,
                                                          struct dl_find_object* result) {
  struct search search = {(uintptr_t)address, result};
  return dl_iterate_phdr(look_into, &search) == 1 ? 0 : -1;
}
