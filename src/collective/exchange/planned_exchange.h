// All-reduce by a plan (`dlcp synth`), as one rank of a group runs it: the plan orders the messages
// between ranks, and sums and copies of chunks happen between them.
//
// The operations on one chunk run in the plan's order, whatever arrives first. A plan in which all
// ranks add in the same order (nccl/plan/collective_plan) therefore gives identical bits on all
// ranks, every time. Contributions between which nothing is sent are added in one pass, so 16-bit
// types are rounded once per adding rank and not once per message.
//
// A call reserves memory for all its messages when it starts, so no message waits for memory.
// Messages that will be added use a lane of their own and never delay complete results. The plan's
// own proof therefore excludes every deadlock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collective/calls/all_reduce.h"
#include "collective/calls/staging.h"
#include "collective/calls/transfer_queues.h"

namespace dlcp::collective {

struct PlannedChunk {
  std::uint32_t begin = 0;  // in units of the call
  std::uint32_t units = 1;
};
struct PlannedMessage {
  std::uint32_t peer = 0;
  bool sends = false;  // else this rank receives it
  bool adds = false;   // added to the receiver's chunk; else replaces it
  std::vector<std::uint32_t> chunks;
};
// One rank's part of a plan, for calls of up to bytes_max bytes.
struct PlannedSize {
  std::size_t bytes_max = 0;
  std::uint32_t units = 1;  // number of units that a call is divided into
  std::vector<PlannedChunk> chunks;
  std::vector<PlannedMessage> messages;  // in the order in which this rank handles them
};

class PlannedExchange final : public AllReduce {
 public:
  // `sizes` has at least one entry, in ascending order of bytes_max; the last one also serves all
  // larger calls. `staging` holds messages and must outlive this object.
  PlannedExchange(std::uint32_t ranks, const std::vector<PlannedSize>& sizes,
                  std::span<std::byte> staging);

  std::size_t staging_needed(const Call& call) const override;
  std::optional<std::uint64_t> start(const Call& call) override;
  bool finished(std::uint64_t call) const override;
  void post_to(Mesh& mesh) override;
  using AllReduce::on_done;
  void on_done(const Transfer& transfer, std::size_t bytes,
               std::span<const ByteRange> lost) override;
  bool work() override;
  bool busy() const override;
  std::size_t peers_at_once() const override { return 4; }
  bool idle() const override { return calls_.empty() && queues_.empty(); }
  const std::string& disagreement() const override { return disagreement_; }

 private:
  struct Part {  // one chunk of a message
    std::uint32_t message = 0;
    std::uint32_t index = 0;  // among the parts of all messages
  };
  struct Size {
    PlannedSize plan;
    std::vector<std::vector<Part>> of_chunk;        // the chunk's operations, in order
    std::vector<std::vector<std::uint32_t>> lines;  // messages by queue number of TransferQueues
    std::size_t parts = 0;
  };
  struct Running {
    Call call;
    const Size* size = nullptr;
    bool staged = false;
    std::vector<std::span<std::byte>> memory;  // by message
    std::vector<std::size_t> offsets;          // by part, within its message
    std::vector<std::uint32_t> missing;        // by message: chunks to gather, or 1 until received
    std::vector<std::uint32_t> turn;           // by chunk: number of operations done
    std::vector<std::size_t> sent;             // by line: messages queued
    std::deque<std::uint32_t> ready;           // chunks whose next operation may be possible
    std::size_t parts_left = 0;
    std::size_t unposted = 0;  // messages to send
    std::size_t out = 0;       // messages sent but not delivered

    bool finished() const { return parts_left == 0 && unposted == 0; }
  };

  const Size& size_for(const Call& call) const;
  static std::span<std::byte> chunk_of(const Running& running, std::uint32_t chunk);
  Running& running(std::uint64_t call) { return calls_[call - first_call_]; }
  void cut(Running& running, std::span<std::byte> staging) const;
  void expect(std::uint64_t number);
  bool advance(Running& call, std::uint32_t chunk);
  std::size_t add_arrived(Running& running, std::uint32_t chunk);
  void gather(Running& call, std::uint32_t chunk, const Part& part);
  void send_what_is_whole(std::size_t line);
  void retire();

  std::vector<Size> sizes_;
  Staging staging_;
  TransferQueues queues_;
  std::deque<Running> calls_;  // the first one has number first_call_
  std::uint64_t first_call_ = 0;
  std::vector<const std::byte*> inputs_;
  std::string disagreement_;
};

}  // namespace dlcp::collective
