#include "engine/devices/roce/roce_access.h"

#include <string>

#include "catch.h"

namespace dlcp::engine::test {
namespace {

// The error of opening a port that does not exist.
Error error_with(std::size_t mtu, const char* ip) {
  datapath::RocePort port;
  port.device = "no_such_device";
  port.gid.ip = datapath::parse_ip_address(ip).value();
  Settings settings = default_settings();
  settings.mtu = mtu;
  return roce_access(port, settings)->open(settings).error();
}

}  // namespace

TEST_CASE("a DLCP_MTU with which no connection could open over RoCE is refused at once") {
  const Error small = error_with(599, "10.0.0.1");
  CHECK(small.code == ErrorCode::kInvalidUsage);
  CHECK(small.what ==
        "DLCP_MTU=599 is too small for RoCE; with this address family it must be at least 600");
  CHECK_THAT(error_with(619, "fd00::1").what, Contains("at least 620"));
  for (const Error& other :
       {error_with(600, "10.0.0.1"), error_with(620, "fd00::1"), error_with(0, "10.0.0.1")})
    CHECK(other.what.find("DLCP_MTU") == std::string::npos);
}

}  // namespace dlcp::engine::test
