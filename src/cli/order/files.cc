#include "cli/order/files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>

#include "cli/bench/bench_case.h"

namespace dlcp::cli {

Result<fabric::OrderFile> read_order_file(const std::string& path) {
  std::string text;
  if (path == "-") {
    text.assign(std::istreambuf_iterator<char>(std::cin), {});
  } else {
    std::ifstream file(path, std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(file), {});
    if (!file.is_open() || file.bad())
      return Error{ErrorCode::kInvalidUsage,
                   fmt::format("cannot read '{}': {}", path, std::strerror(errno)),
                   "`dlcp order -o FILE` writes an order file"};
  }
  auto read = fabric::read_order(text);
  if (!read)
    return Error{read.error().code, fmt::format("{}: {}", path, read.error().what),
                 read.error().hint};
  return read;
}

void write_file(const std::string& path, const std::string& text) {
  const std::string beside = path + ".new";
  std::ofstream file(beside, std::ios::binary);
  file << text;
  file.close();
  if (file.good() && std::rename(beside.c_str(), path.c_str()) == 0) return;
  const int why = errno;
  std::remove(beside.c_str());
  throw BenchError(ExitCode::kUsage,
                   fmt::format("cannot write '{}': {}", path, std::strerror(why)));
}

}  // namespace dlcp::cli
