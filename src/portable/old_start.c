// How an executable of a release build starts on an old C library. The start-up code of glibc 2.34
// and later leaves running the constructors to the library; the older __libc_start_main, which is
// the one asked for here, runs what it is given.
typedef void (*Constructor)(int, char**, char**);

extern Constructor __init_array_start[] __attribute__((visibility("hidden")));
extern Constructor __init_array_end[] __attribute__((visibility("hidden")));
extern void _init(void);

static void run_constructors(int argc, char** argv, char** environment) {
  _init();
  for (Constructor* at = __init_array_start; at != __init_array_end; ++at)
    (*at)(argc, argv, environment);
}

extern int old_start_main(int (*main)(int, char**, char**), int argc, char** argv, Constructor init,
                          void (*fini)(void), void (*loader_fini)(void), void* stack_end);
#if defined(__x86_64__)
__asm__(".symver old_start_main,__libc_start_main@GLIBC_2.2.5");
#elif defined(__aarch64__)
__asm__(".symver old_start_main,__libc_start_main@GLIBC_2.17");
#else
#error "the oldest version of __libc_start_main is not known for this architecture"
#endif

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, Constructor init,
                      void (*fini)(void), void (*loader_fini)(void), void* stack_end)
    __attribute__((visibility("hidden")));

// Destructors need nothing: the loader runs them (loader_fini).
int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, Constructor init,
                      void (*fini)(void), void (*loader_fini)(void), void* stack_end) {
  (void)init;
  return old_start_main(main, argc, argv, run_constructors, fini, loader_fini, stack_end);
}
