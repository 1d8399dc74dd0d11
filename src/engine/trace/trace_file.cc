#include "engine/trace/trace_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "datapath/trace/capture_file.h"
#include "engine/host/clock.h"
#include "util/system/host_name.h"
#include "util/system/system_text.h"
#include "util/system/write_file.h"
#include "util/text/file_pattern.h"

namespace dlcp::engine {
namespace {

constexpr std::size_t kPackets = 16384;  // 2 MB; about 50 ms at 10 Gbit/s with packets of 4 KiB

std::string named(const std::string& path, std::size_t number) {
  return file_name_of(path, {{'p', fmt::format("{}-{}", getpid(), number)}, {'h', host_name()}});
}

}  // namespace

TraceFile::TraceFile(const std::string& path, std::size_t number, std::string lane,
                     const wire::EndpointAddress& local)
    : path_(named(path, number)),
      lane_(std::move(lane)),
      local_(local),
      ring_(std::make_shared<datapath::PacketRing>(kPackets)) {}

std::optional<LogLine> TraceFile::write() {
  if (written_.exchange(true)) return std::nullopt;
  const auto packets = ring_->packets();
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  const Duration to_wall =
      std::chrono::duration_cast<Duration>(wall) - Duration(ns_of(steady_now()));
  const int error = write_file(path_, datapath::capture_of(packets, local_, to_wall), 0600);
  if (error != 0) {
    return LogLine{LogLevel::kWarn,
                   fmt::format("DLCP_TRACE: cannot write {}: {}", path_, system_text(error))};
  }
  return LogLine{LogLevel::kWarn, fmt::format("the last {} packets of {} are in {} (Wireshark with "
                                              "scripts/wireshark/dlcp.lua reads it)",
                                              packets.size(), lane_, path_)};
}

}  // namespace dlcp::engine
