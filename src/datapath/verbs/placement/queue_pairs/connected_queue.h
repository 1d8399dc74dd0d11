// One connected queue pair (UC or RC) for placed packets: its states, the payloads that it still
// reads, and the zero-length receives that it needs. Each has a receive queue of its own, because a
// write with a revoked key would consume a shared receive. Chains are shared by all (chains.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "datapath/address/ip_address.h"
#include "datapath/verbs/device/verbs_card.h"
#include "datapath/verbs/placement/placement_ability.h"
#include "datapath/verbs/placement/placement_counters.h"

namespace dlcp::datapath {

// Settings that are equal for all queues of a device.
struct QueueOptions {
  PlacementTransport transport = PlacementTransport::kUc;
  std::uint32_t sends = 128, receives = 512;  // a power of two; a multiple of 8
  bool permits_reads = false;                 // by the other end
};

// The other end of a queue and how its packets are marked.
struct QueueRemote {
  IpAddress ip;
  std::uint32_t queue_pair = 0;
  ibv_mtu mtu = IBV_MTU_1024;
  std::uint32_t flow_label = 0;
  std::uint8_t tos = 0;
  std::uint8_t repeat_exponent = 12;  // RC (datapath/repeat_time.h)
};

class ConnectedQueue {
 public:
  // Identifies the queue in completions (name_of). `generation` counts resets; a new queue with the
  // name of an old one continues the count, so that completions of the old one are detected.
  struct Name {
    std::uint16_t name = 0;
    std::uint16_t generation = 0;
  };
  static Result<std::unique_ptr<ConnectedQueue>> open(VerbsCard& card, ibv_cq* send_cq,
                                                      ibv_cq* receive_cq, Name name,
                                                      const QueueOptions& options,
                                                      PlacementCounters& counters);

  // Also for a queue that was connected before: what it had to send is lost, and its number stays.
  // Receives must be posted afterwards: receives_missing().
  Status connect(const QueueRemote& remote);
  bool is_connected() const { return is_connected_; }
  // True after an error; connect() repairs it.
  bool is_broken() const { return is_broken_; }
  void set_broken() { is_broken_ = true; }

  // --- Sending
  std::size_t room() const { return records_.size() - (added_ - reclaimed_); }
  bool has_outstanding() const { return added_ != reclaimed_; }
  // Requires room(). Records what the card will read and returns the wr_id of the request.
  std::uint64_t add(std::span<const std::byte> payload);
  bool reads(std::span<const std::byte> memory) const;
  // Handles a completion of a send request. Those from before the last reset are ignored.
  void on_send_completion(const ibv_wc& completion);
  // Forgets what was sent. Afterwards the card reads nothing, and the queue is not connected. If
  // the card refuses, the queue pair is destroyed and stays broken.
  void reset();
  void destroy();  // ends all traffic of the queue for ever: is_destroyed()
  bool is_destroyed() const { return is_destroyed_; }

  // --- Receiving
  // The wr_id of this queue's receives.
  std::uint64_t receive_id() const { return id_of(0); }
  // True if the completion belongs to the queue as it is now.
  bool is_current(const ibv_wc& completion) const {
    return completion.wr_id >> 32 == receive_id() >> 32;
  }
  // Counts a completed receive.
  void use_receive() { ++receives_missing_; }
  std::uint32_t receives_missing() const { return receives_missing_; }
  void on_receives_posted(std::uint32_t count) { receives_missing_ -= count; }

  Name next_name() const { return {name_.name, static_cast<std::uint16_t>(name_.generation + 1)}; }
  ibv_qp* queue_pair() const { return qp_.get(); }
  std::uint32_t number() const { return number_; }
  static std::uint16_t name_of(const ibv_wc& completion) {
    return static_cast<std::uint16_t>(completion.wr_id >> 48);
  }

 private:
  struct Record {
    const std::byte* begin = nullptr;
    const std::byte* end = nullptr;
  };

  ConnectedQueue(VerbsCard& card, Name name, const QueueOptions& options,
                 PlacementCounters& counters);
  Status initialise();
  Status make_ready(const QueueRemote& remote);
  std::uint64_t id_of(std::uint64_t request) const {
    return std::uint64_t{name_.name} << 48 | std::uint64_t{name_.generation} << 32 |
           static_cast<std::uint32_t>(request);
  }

  VerbsCard& card_;
  Name name_;
  const QueueOptions options_;
  PlacementCounters& counters_;
  QpPtr qp_;  // null if it had to be destroyed
  std::uint32_t number_ = 0;
  bool is_initialised_ = false;  // in the state INIT, ready to be connected
  bool is_connected_ = false, is_broken_ = false, is_destroyed_ = false;
  std::uint32_t receives_missing_;

  // Requests are numbered from 0: reclaimed_ <= added_.
  std::vector<Record> records_;
  std::uint64_t added_ = 0;
  std::uint64_t reclaimed_ = 0;
};

}  // namespace dlcp::datapath
