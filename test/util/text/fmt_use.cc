// All kinds of fmt calls in the project, so that fmt_versions_test.py detects at link time what
// util/text/format.cc must define.
#include <fmt/core.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

int main() {
  std::string text = fmt::format("{} {:>8} {:.3f} {:g} {:#x} {}", 1, "two", 3.0, 4e300, 255U, true);
  fmt::format_to(std::back_inserter(text), " {:.17g} {} {:L} {:*^9.2e} {}", 0.1, 0.1F, 1234567,
                 12345.678L, 'c');
  text += fmt::format(" {} {:.{}f}", fmt::join(std::vector<std::uint64_t>{1, 2}, ","), 2.5, 2);
  text += fmt::vformat(" {}", fmt::make_format_args(text));
  const std::string half =
      "1      two 3.000 4e+300 0xff true 0.10000000000000001 0.1 1234567 1.23e+04* c 1,2 2.50";
  fmt::print("fmt {}: {}\n", FMT_VERSION / 10000, text);
  return text == half + " " + half ? 0 : 1;
}
