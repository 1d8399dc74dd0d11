// Replaces getaddrinfo() in a test program: kTwoAddresses is a host with the addresses 127.0.0.2
// and 127.0.0.1, in this order. kSlowName is 127.0.0.1, but a query for an odd port takes
// kSlowness. Include it in one source file of the program.
#pragma once

#include <dlfcn.h>
#include <netdb.h>

#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

namespace dlcp::test {

inline constexpr const char* kTwoAddresses = "two-addresses.test";
inline constexpr const char* kSlowName = "slow.test";
inline constexpr std::chrono::seconds kSlowness(4);

}  // namespace dlcp::test

extern "C" int getaddrinfo(const char* host, const char* service, const addrinfo* hints,
                           addrinfo** found) {
  using Function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto system_function = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  if (host != nullptr && std::string_view(host) == dlcp::test::kSlowName) {
    if (std::atoi(service) % 2 == 1) std::this_thread::sleep_for(dlcp::test::kSlowness);
    return system_function("127.0.0.1", service, hints, found);
  }
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
