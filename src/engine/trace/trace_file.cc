#include "engine/trace/trace_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "datapath/trace/capture_file.h"
#include "engine/host/clock.h"
#include "util/result.h"
#include "util/system_text.h"

namespace dlcp::engine {
namespace {

constexpr std::size_t kPackets = 16384;  // 2 MB; about 50 ms at 10 Gbit/s with packets of 4 KiB

std::string named(const std::string& path, std::size_t number) {
  std::string name = path;
  if (const std::size_t at = name.find("%p"); at != std::string::npos)
    name.replace(at, 2, fmt::format("{}-{}", getpid(), number));
  return name;
}

Status write_file(const std::string& path, std::span<const std::byte> bytes) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  bool written = file >= 0;
  while (written && !bytes.empty()) {
    const ssize_t put = ::write(file, bytes.data(), bytes.size());
    written = put > 0 || (put < 0 && errno == EINTR);
    bytes = bytes.subspan(put > 0 ? static_cast<std::size_t>(put) : 0);
  }
  const int error = errno;
  if (file >= 0) ::close(file);
  if (!written) return Error{ErrorCode::kSystem, system_text(error), ""};
  return Unit{};
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
  const auto written = write_file(path_, datapath::capture_of(packets, local_, to_wall));
  if (!written) {
    return LogLine{LogLevel::kWarn,
                   fmt::format("DLCP_TRACE: cannot write {}: {}", path_, written.error().what)};
  }
  return LogLine{LogLevel::kWarn, fmt::format("the last {} packets of {} are in {} (Wireshark with "
                                              "scripts/wireshark/dlcp.lua reads it)",
                                              packets.size(), lane_, path_)};
}

}  // namespace dlcp::engine
