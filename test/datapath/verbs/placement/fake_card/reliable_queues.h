// Reliable queue pairs (RC) of a fake card: packets have numbers, the receiver's card takes them in
// order and acknowledges them, and the sender's card repeats what is not acknowledged, a limited
// number of times. A packet that has been taken before is acknowledged again, and its key does not
// matter any more. A packet with a dead key ends both queue pairs.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "datapath/verbs/device/verbs.h"

namespace dlcp::datapath::test {

// A packet in the fake network.
struct FakeWrite {
  enum class Kind : std::uint8_t { kUnreliable, kReliable, kAck, kRefused };
  std::uint32_t to = 0;
  std::byte* address = nullptr;
  std::uint32_t key = 0;
  std::uint32_t immediate = 0;  // as on the wire
  std::vector<std::byte> bytes;
  std::uint64_t finished_at = 0;
  Kind kind = Kind::kUnreliable;
  std::uint32_t from = 0;    // a queue pair
  std::uint32_t number = 0;  // reliable: of the packet; kAck: the last that was taken
};

class ReliableQueues {
 public:
  std::uint64_t repeats_after = 30;  // steps, with the least time-out of the queue pairs
  unsigned repeats_max = 7;
  std::size_t repeats = 0, doubles_taken = 0;  // results

 protected:
  enum class Verdict { kTaken, kNoReceive, kDeadKey };
  ~ReliableQueues() = default;
  virtual void transmit(const FakeWrite& packet) = 0;  // the network may lose it
  virtual Verdict take(const FakeWrite& packet) = 0;
  virtual void report(std::uint32_t queue_pair, const ibv_wc& completion) = 0;
  virtual void end(std::uint32_t queue_pair) = 0;  // it is in the error state from now on

  void forget_reliable(std::uint32_t queue_pair) { ends_.erase(queue_pair); }
  void set_expected(std::uint32_t queue_pair, std::uint32_t number) {
    ends_[queue_pair].expected = number;
  }
  void set_next(std::uint32_t queue_pair, const ibv_qp_attr& attributes) {
    ends_[queue_pair].next = attributes.sq_psn;
    ends_[queue_pair].repeats_after = repeats_after << (attributes.timeout - 12);
  }

  // `completion`: if the request is signalled.
  void post(std::uint64_t now, FakeWrite packet, const std::optional<ibv_wc>& completion) {
    End& end = ends_[packet.from];
    packet.kind = FakeWrite::Kind::kReliable;
    packet.number = end.next;
    end.next = (end.next + 1) & kMask;
    if (end.unfinished.empty()) end.repeat_at = now + end.repeats_after;
    end.unfinished.push_back({packet, completion});
    transmit(packet);
  }
  // The first request fails with this status, all others with it.
  void fail_reliable(std::uint32_t queue_pair, ibv_wc_status status) {
    End& failed = ends_[queue_pair];
    for (Request& request : std::exchange(failed.unfinished, {})) {
      ibv_wc completion = request.completion.value_or(ibv_wc{});
      completion.status = std::exchange(status, IBV_WC_WR_FLUSH_ERR);
      completion.opcode = IBV_WC_RDMA_WRITE;
      completion.qp_num = queue_pair;
      if (request.completion) report(queue_pair, completion);
    }
    failed.has_failed = true;
    end(queue_pair);
  }

  void on_reliable(std::uint64_t now, const FakeWrite& packet) {
    const auto found = ends_.find(packet.to);
    if (found == ends_.end() || found->second.has_failed) return;
    if (packet.kind == FakeWrite::Kind::kReliable)
      on_data(packet, found->second);
    else if (packet.kind == FakeWrite::Kind::kRefused)
      fail_reliable(packet.to, IBV_WC_REM_ACCESS_ERR);
    else
      on_ack(now, packet, found->second);
  }
  void repeat(std::uint64_t now) {
    std::vector<std::uint32_t> failed;
    for (auto& [queue_pair, end] : ends_) {
      if (end.unfinished.empty() || end.repeat_at > now) continue;
      end.repeat_at = now + end.repeats_after;
      if (++end.tries > repeats_max) failed.push_back(queue_pair);
      for (const Request& request : std::deque(end.unfinished)) {
        if (end.tries > repeats_max) break;
        ++repeats;
        transmit(request.packet);
      }
    }
    for (const std::uint32_t queue_pair : failed)
      fail_reliable(queue_pair, IBV_WC_RETRY_EXC_ERR);
  }

 private:
  static constexpr std::uint32_t kMask = 0xffffff;
  static bool is_before(std::uint32_t number, std::uint32_t than) {
    return number != than && ((than - number) & kMask) < (kMask + 1) / 2;
  }
  struct Request {
    FakeWrite packet;
    std::optional<ibv_wc> completion;
  };
  struct End {
    std::uint32_t next = 0;      // to be sent
    std::uint32_t expected = 0;  // to be received
    std::deque<Request> unfinished;
    std::uint64_t repeats_after = 0;
    std::uint64_t repeat_at = 0;
    unsigned tries = 0;
    bool has_failed = false;
  };

  void on_data(const FakeWrite& packet, End& receiver) {
    FakeWrite answer;
    answer.to = packet.from;
    answer.from = packet.to;
    answer.kind = FakeWrite::Kind::kAck;
    if (is_before(packet.number, receiver.expected)) {
      ++doubles_taken;
    } else if (packet.number != receiver.expected) {
      return;  // one before it is missing, and will be repeated
    } else if (const Verdict verdict = take(packet); verdict == Verdict::kNoReceive) {
      return;
    } else if (verdict == Verdict::kDeadKey) {
      answer.kind = FakeWrite::Kind::kRefused;
      fail_reliable(packet.to, IBV_WC_WR_FLUSH_ERR);
      return transmit(answer);
    } else {
      receiver.expected = (receiver.expected + 1) & kMask;
    }
    answer.number = (receiver.expected - 1) & kMask;
    transmit(answer);
  }
  void on_ack(std::uint64_t now, const FakeWrite& ack, End& sender) {
    while (!sender.unfinished.empty() &&
           !is_before(ack.number, sender.unfinished.front().packet.number)) {
      const Request done = std::move(sender.unfinished.front());
      sender.unfinished.pop_front();
      sender.tries = 0;
      sender.repeat_at = now + sender.repeats_after;
      if (done.completion) report(ack.to, *done.completion);
    }
  }

  std::map<std::uint32_t, End> ends_;
};

}  // namespace dlcp::datapath::test
