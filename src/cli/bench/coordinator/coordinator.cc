#include "cli/bench/coordinator/coordinator.h"

#include <fmt/format.h>
#include <poll.h>

#include <cstring>

#include "cli/launch/clock.h"

namespace dlcp::cli {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kGrace = 2000 * kMs;  // for the other ranks to detect a failure
constexpr int kLookMs = 100;                 // between two checks of the ranks' progress

}  // namespace

Coordinator::Coordinator(const BenchCase& bench_case, std::vector<FrameReader>& lines,
                         LocalRanks& local, SharedArea& shared, std::function<void()> on_tick)
    : case_(bench_case),
      local_(local),
      shared_(shared),
      on_tick_(std::move(on_tick)),
      silence_(now_ns()) {
  for (FrameReader& line : lines)
    peers_.push_back({line, "", false, false, {}});
}

void Coordinator::answer_exchange() {
  std::string all;
  for (const Peer& peer : peers_) {
    if (!peer.has_part) return;
    const auto length = static_cast<std::uint32_t>(peer.part.size());
    all.append(reinterpret_cast<const char*>(&length), sizeof length);
    all += peer.part;
  }
  for (Peer& peer : peers_) {
    write_frame(peer.reader.fd(), FrameType::kExchange, all);
    peer.has_part = false;
  }
  if (started_at_ == 0) started_at_ = now_ns();
}

void Coordinator::read(int rank) {
  Peer& peer = peers_[static_cast<std::size_t>(rank)];
  while (!peer.has_result) {
    const auto frame = peer.reader.read(0);
    if (!frame) break;
    silence_.broken(now_ns());
    if (frame->type == FrameType::kExchange) {
      peer.part = frame->body;
      peer.has_part = true;
      answer_exchange();
    } else if (frame->type == FrameType::kResult) {
      peer.result = RankResult::decode(frame->body);
      peer.result.rank = rank;
      peer.has_result = true;
      if (!peer.result.error.empty() && failed_at_ == 0) {
        failed_at_ = now_ns();
        first_failure_ = fmt::format("rank {}: {}", rank, peer.result.error);
      }
    }
  }
  if (peer.reader.ended() && !peer.has_result) note_end(rank);
}

void Coordinator::note_end(int rank) {
  Peer& peer = peers_[static_cast<std::size_t>(rank)];
  for (int i = 0; i < 50 && local_.ending(rank).empty(); i++) {
    if (local_.reap()) break;
    poll(nullptr, 0, 1);
  }
  const std::string how = local_.ending(rank);
  peer.has_result = true;
  peer.result.rank = rank;
  peer.result.exit_code = ExitCode::kTransport;
  peer.result.error = how.empty() ? "ended without a result" : "ended without a result: " + how;
  peer.result.error_at_ns = now_ns();
  if (failed_at_ != 0) return;
  failed_at_ = now_ns();
  first_failure_ = fmt::format("rank {} {}", rank, peer.result.error);
}

void Coordinator::stop_all(const std::string& why) {
  shared_.stop();
  for (Peer& peer : peers_)
    if (!peer.has_result) write_frame(peer.reader.fd(), FrameType::kStop, why);
  stopping_at_ = now_ns();
}

void Coordinator::fail_missing(ExitCode code, const std::string& what) {
  for (std::size_t i = 0; i < peers_.size(); i++) {
    Peer& peer = peers_[i];
    if (peer.has_result) continue;
    peer.has_result = true;
    peer.result.rank = static_cast<int>(i);
    peer.result.exit_code = code;
    peer.result.error = what;
    peer.result.stopped = failed_at_ != 0;
    local_.kill(static_cast<int>(i));
  }
}

void Coordinator::kill_as_asked(std::int64_t now) {
  if (case_.kill_rank < 0 || killed_at_ != 0 || started_at_ == 0) return;
  if (now < started_at_ + case_.kill_after_ms * kMs) return;
  local_.kill(case_.kill_rank);
  killed_at_ = now_ns();
}

void Coordinator::watch(std::int64_t now) {
  std::uint64_t activity = 0;
  for (int i = 0; i < case_.ranks; i++)
    activity += shared_.rank(i).activity;
  const std::int64_t silent = silence_.look(now, activity);
  const auto timeout = static_cast<std::int64_t>(case_.timeout * 1e9);
  const bool on_purpose = case_.kill_rank >= 0 || case_.each_finds_out;
  if (silent > timeout && (stopping_at_ == 0 || now - stopping_at_ > kGrace)) {
    fail_missing(ExitCode::kTimeout,
                 failed_at_ != 0 && !on_purpose
                     ? "no progress after a failure: " + first_failure_
                     : fmt::format("no progress for {} s (--timeout)", case_.timeout));
    return;
  }
  if (failed_at_ == 0) return;
  // When the failure is the test, the other ranks have to detect it without our help.
  if (on_purpose) return shared_.open_barriers();
  if (stopping_at_ == 0 && now - failed_at_ > kGrace) stop_all("stopped: " + first_failure_);
  if (stopping_at_ != 0 && now - stopping_at_ > kGrace)
    fail_missing(ExitCode::kTransport, "no progress after a failure: " + first_failure_);
}

bool Coordinator::complete() const {
  for (const Peer& peer : peers_)
    if (!peer.has_result) return false;
  return true;
}

std::vector<RankResult> Coordinator::run() {
  // Frames that arrived during the case before are already in the readers.
  for (std::size_t i = 0; i < peers_.size(); i++)
    read(static_cast<int>(i));
  while (!complete()) {
    std::vector<pollfd> waits;
    for (const Peer& peer : peers_)
      waits.push_back({peer.has_result ? -1 : peer.reader.fd(), POLLIN, 0});
    poll(waits.data(), waits.size(), case_.kill_rank >= 0 && killed_at_ == 0 ? 1 : kLookMs);
    for (std::size_t i = 0; i < peers_.size(); i++)
      if (waits[i].revents != 0) read(static_cast<int>(i));
    const std::int64_t now = now_ns();
    kill_as_asked(now);
    watch(now);
    on_tick_();
  }
  // A rank that has sent its result has closed everything; only its exit is left.
  const std::int64_t deadline = now_ns() + kGrace;
  while (!local_.reap() && now_ns() < deadline)
    poll(nullptr, 0, 1);
  local_.kill_all();
  std::vector<RankResult> results;
  for (Peer& peer : peers_)
    results.push_back(std::move(peer.result));
  return results;
}

}  // namespace dlcp::cli
