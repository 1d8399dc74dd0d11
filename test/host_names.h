// Replaces getaddrinfo() in a test program: kTwoAddresses is a host with the addresses 127.0.0.2
// and 127.0.0.1, in this order. Include it in one source file of the program.
#pragma once

#include <dlfcn.h>
#include <netdb.h>

#include <string_view>

namespace dlcp::test {

inline constexpr const char* kTwoAddresses = "two-addresses.test";

}  // namespace dlcp::test

extern "C" int getaddrinfo(const char* host, const char* service, const addrinfo* hints,
                           addrinfo** found) {
  using Function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto system_function = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  if (host == nullptr || std::string_view(host) != dlcp::test::kTwoAddresses)
    return system_function(host, service, hints, found);
  addrinfo* more = nullptr;
  int status = system_function("127.0.0.2", service, hints, found);
  if (status == 0) status = system_function("127.0.0.1", service, hints, &more);
  if (status != 0) return status;
  addrinfo* last = *found;
  while (last->ai_next != nullptr)
    last = last->ai_next;
  last->ai_next = more;  // freeaddrinfo() of glibc and musl frees both
  return 0;
}
