#include "cli/launch/control.h"

#include <cstdlib>
#include <cstring>

#include "cli/launch/bench_error.h"

namespace dlcp::cli {

Control::Control(int fd, int rank, int ranks, bool one_host, SharedArea& shared)
    : reader_(fd), rank_(rank), ranks_(ranks), one_host_(one_host), shared_(shared) {}

void Control::stop(const std::string& why) {
  throw Stopped(why.empty() ? "stopped because another rank failed" : why);
}

std::vector<std::string> Control::exchange(const std::string& mine) {
  if (!write_frame(reader_.fd(), FrameType::kExchange, mine))
    stop("lost the connection to the coordinator; see the output of rank 0");
  while (true) {
    const auto frame = reader_.read(100);
    if (!frame) {
      if (reader_.ended()) stop("lost the connection to the coordinator; see the output of rank 0");
      if (shared_.stopped()) stop("");
      continue;
    }
    if (frame->type == FrameType::kStop) stop(frame->body);
    if (frame->type != FrameType::kExchange) continue;
    shared_.rank(rank_).activity++;
    std::vector<std::string> parts;
    for (std::size_t at = 0; at + 4 <= frame->body.size();) {
      std::uint32_t length = 0;
      std::memcpy(&length, frame->body.data() + at, sizeof length);
      parts.push_back(frame->body.substr(at + 4, length));
      at += 4 + length;
    }
    return parts;
  }
}

void Control::barrier() {
  shared_.rank(rank_).activity++;
  if (!one_host_)
    exchange("");
  else if (!shared_.barrier(ranks_))
    stop("");
}

std::uint64_t Control::agree(std::uint64_t value) {
  if (one_host_) {
    if (rank_ == 0) shared_.agreed().store(value);
    barrier();
    return shared_.agreed().load();
  }
  const auto parts = exchange(std::to_string(value));
  return std::strtoull(parts.at(0).c_str(), nullptr, 10);
}

void Control::send_result(const std::string& json) {
  write_frame(reader_.fd(), FrameType::kResult, json);
}

void Control::alive(std::uint64_t bytes_received) {
  SharedArea::RankCell& cell = shared_.rank(rank_);
  if (cell.bytes.load(std::memory_order_relaxed) != bytes_received) {
    cell.bytes.store(bytes_received, std::memory_order_relaxed);
    cell.activity++;
  }
  if (shared_.stopped()) stop("");
  if (one_host_) return;
  const auto frame = reader_.read(0);
  if (frame && frame->type == FrameType::kStop) stop(frame->body);
  if (reader_.ended()) stop("lost the connection to the coordinator; see the output of rank 0");
}

}  // namespace dlcp::cli
