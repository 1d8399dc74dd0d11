// All-reduce by a plan (`dlcp synth`), as one rank of a group sees it: messages between ranks in
// the plan's order, sums and copies of chunks in between.
//
// What is done with one chunk is done in the plan's order, whatever arrives first; so a plan whose
// ranks add alike (nccl/collective_plan) gives all of them the same bits, every time. What arrives
// to be added without anything being sent in between is added at once: 16-bit types are rounded
// once for each rank that adds, not for each message.
//
// Memory for everything that a call receives and sends is taken when it starts, so nobody waits for
// room, and messages to be added never hold up those that are complete: they have lanes of their
// own. So there is no circle of waiting that the plan's proof has not ruled out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collective/all_reduce.h"
#include "collective/staging.h"
#include "collective/transfer_queues.h"

namespace dlcp::collective {

struct PlannedChunk {
  std::uint32_t begin = 0;  // units of the call
  std::uint32_t units = 1;
};
struct PlannedMessage {
  std::uint32_t peer = 0;
  bool sends = false;  // else receives
  bool adds = false;   // to what the receiver has; else replaces it
  std::vector<std::uint32_t> chunks;
};
// One rank's part of a plan, for calls up to a size.
struct PlannedSize {
  std::size_t bytes_max = 0;
  std::uint32_t units = 1;  // in which a call is cut
  std::vector<PlannedChunk> chunks;
  std::vector<PlannedMessage> messages;  // in the order in which this rank handles them
};

class PlannedExchange final : public AllReduce {
 public:
  // `sizes` by rising bytes_max, of which the last holds for all that are larger; at least one.
  // `staging`: for what ranks send; outlives this.
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
  struct Part {  // of a message: one chunk
    std::uint32_t message = 0;
    std::uint32_t index = 0;  // among the parts of all messages
  };
  struct Size {
    PlannedSize plan;
    std::vector<std::vector<Part>> of_chunk;        // what is done with it, in order
    std::vector<std::vector<std::uint32_t>> lines;  // messages, as TransferQueues numbers them
    std::size_t parts = 0;
  };
  struct Running {
    Call call;
    const Size* size = nullptr;
    bool staged = false;
    std::vector<std::span<std::byte>> memory;  // by message
    std::vector<std::size_t> offsets;          // by part, in its message
    std::vector<std::uint32_t> missing;        // by message: chunks to be gathered, or 1: to come
    std::vector<std::uint32_t> turn;           // by chunk: what is done of it
    std::vector<std::size_t> sent;             // by line: messages that are queued
    std::deque<std::uint32_t> ready;           // chunks that something has happened to
    std::size_t parts_left = 0;
    std::size_t unposted = 0;  // messages to be sent
    std::size_t out = 0;       // messages sent and not delivered

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
  std::deque<Running> calls_;  // the oldest has number first_call_
  std::uint64_t first_call_ = 0;
  std::vector<const std::byte*> inputs_;
  std::string disagreement_;
};

}  // namespace dlcp::collective
