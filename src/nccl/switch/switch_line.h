// One rank's connection to a switch that adds (collective/switchml/worker/switch_worker): a UDP
// socket, driven by its callers like the group's connections. If nothing arrives from the switch,
// it sends a query to test that the switch still answers.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "collective/switchml/switch_hello.h"
#include "collective/switchml/switch_name.h"
#include "collective/switchml/worker/switch_worker.h"
#include "util/result.h"
#include "util/system/fd.h"
#include "util/time.h"

namespace dlcp::nccl {

class SwitchLine {
 public:
  // Uses the system's resolver.
  static Result<std::unique_ptr<SwitchLine>> open(const collective::SwitchName& name,
                                                  unsigned rank);

  const std::string& name() const { return text_; }  // HOST:PORT
  // The number of packets that fit into the socket's buffer.
  unsigned packets_held() const;

  // The hello uses the last slot, sums use the others; both begin with the serial of `terms`.
  // `timeout`: how long the switch may take to answer a query.
  void join(const collective::SwitchHello::Terms& terms, Duration timeout);
  // Must be called before all sums: true once all workers are present. Fails if the switch adds
  // other workers.
  Result<bool> greet(Time now);
  // Describes what was observed if the switch does not answer.
  std::string silence() const;

  // Like SwitchWorker's; requires that greet() has succeeded.
  bool start(std::span<const float> input, std::span<float> result, Time now);
  collective::SwitchWorker::Call call() const { return worker_->call(); }
  // Handles received packets and sends those that are due. Fails if no sum can arrive any more.
  Status drive(Time now);

  const collective::SwitchWorker::Counts& counts() const { return worker_->counts(); }

 private:
  static constexpr std::size_t kBatch = 32;
  static constexpr std::size_t kDatagramBytes = 1280;  // the largest packet has 1034
  struct Batch {
    Batch();
    std::array<std::array<std::byte, kDatagramBytes>, kBatch> bytes;
    std::array<iovec, kBatch> vectors;
    std::array<mmsghdr, kBatch> headers;
  };

  explicit SwitchLine(std::string text) : text_(std::move(text)) {}

  void receive(Time now);
  void receive_from(std::size_t address, Time now);
  void transmit(Time now);
  void say_hello(Time now);
  void on_heard(Time now);
  void on_error(std::size_t address, int error, Time now);
  void use_next_address(Time now);
  Status check(Time now);

  // One for each address of the switch's host to which there is a route. The switch may answer at
  // an address that greet() has left, when the last rank has sent its hello there. Once greeted,
  // only the socket that received the answer is left.
  std::vector<Fd> sockets_;
  std::size_t address_ = 0;  // that packets are sent to; index of sockets_
  const std::string text_;
  Batch received_;
  Batch sent_;
  std::unique_ptr<collective::SwitchHello> hello_;
  std::unique_ptr<collective::SwitchWorker> worker_;
  Duration timeout_{0};
  bool greeted_ = false;
  Time taken_at_ = kNever;  // time since when greet() uses this address of the switch
  Time heard_{};
  Time asked_{};              // time of the last query
  Time unanswered_ = kNever;  // time of the first query without an answer
  Time refused_ = kNever;     // time since when its host reports that the port is closed
  Time looked_{};             // time of the last drive() during a call
  Time progress_ = kNever;    // time of the call's last answer
  std::uint64_t taken_ = 0;
};

}  // namespace dlcp::nccl
