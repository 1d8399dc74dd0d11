#include "datapath/udp/interfaces/reverse_path.h"

#include <algorithm>
#include <fstream>

namespace dlcp::datapath {
namespace {

int number_in(const std::string& path) {
  int value = 0;
  std::ifstream(path) >> value;
  return value;
}

}  // namespace

// The kernel uses the larger of the two values.
bool filters_strictly(const std::string& interface, const std::string& proc_root) {
  const std::string conf = proc_root + "/sys/net/ipv4/conf/";
  return std::max(number_in(conf + "all/rp_filter"), number_in(conf + interface + "/rp_filter")) ==
         1;
}

}  // namespace dlcp::datapath
