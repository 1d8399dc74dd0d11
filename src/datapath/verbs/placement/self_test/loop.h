// Two queues of one device that are connected to each other, with memory to write from and to: the
// means of the self-test (self_test.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "datapath/verbs/placement/queue_pairs/chains.h"
#include "datapath/verbs/placement/queue_pairs/connected_queue.h"

namespace dlcp::datapath {

class Loop {
 public:
  static constexpr std::uint32_t kReceives = 64;

  static Result<std::unique_ptr<Loop>> open(VerbsCard& card, PlacementTransport transport);

  // The memory of the tests, one packet long, registered with access for windows if possible.
  std::span<std::byte> target() { return std::span(target_); }
  ibv_mr* target_region() { return target_mr_.get(); }

  // Posts `packets` writes of one packet to target() with this key.
  void write(std::uint32_t key, std::size_t packets);
  // True if one more write, to other memory, arrives within a second without any error: then every
  // earlier write has arrived or was dropped.
  bool passes();
  // True if a write with this key is in target() afterwards.
  bool is_placed(std::uint32_t key);
  // UC: true if more writes with this key than there are receives change nothing.
  bool is_dropped(std::uint32_t key);
  // RC: true if a write with this key changes nothing and ends the queue pairs.
  bool is_refused(std::uint32_t key);
  // True if all writes have arrived or been dropped, and others can follow. RC: if some were
  // refused, the queue pairs are replaced first.
  bool settles();
  void fill_with_canary();
  bool is_canary_intact() const;

 private:
  struct Queues {
    CqPtr send_cq, receive_cq;
    std::unique_ptr<ConnectedQueue> sender, receiver;  // destroyed first
  };
  Loop(VerbsCard& card, PlacementTransport transport);
  Status open_queues();
  Status open_memory();
  bool collect(std::uint32_t immediate);
  void make_room();
  bool ends();

  VerbsCard& card_;
  const PlacementTransport transport_;
  PlacementCounters counters_;
  std::vector<std::byte> source_, target_, other_;
  MrPtr source_mr_, target_mr_, other_mr_;
  std::unique_ptr<Queues> queues_;
  SendChain chain_;
  ReceiveChain receives_;
  std::uint16_t last_index_ = 0;
  bool has_failed_ = false;  // a completion had an error
};

}  // namespace dlcp::datapath
