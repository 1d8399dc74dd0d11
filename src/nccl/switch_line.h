// One rank's line to a switch that adds (collective/switch_worker): a UDP socket, driven by whoever
// asks, as the group's connections are. It asks the switch whether it is still there where nothing
// else comes from it.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "collective/switch_hello.h"
#include "collective/switch_name.h"
#include "collective/switch_worker.h"
#include "util/fd.h"
#include "util/result.h"
#include "util/time.h"

namespace dlcp::nccl {

class SwitchLine {
 public:
  // Asks the system's resolver.
  static Result<std::unique_ptr<SwitchLine>> open(const collective::SwitchName& name,
                                                  unsigned rank);

  const std::string& name() const { return text_; }  // HOST:PORT
  // So many packets have room in the socket's buffer at once.
  unsigned packets_held() const;

  // Its hello has the last of the slots, sums have the others. `timeout`: that the switch may be
  // silent for when it is asked.
  void join(const collective::SwitchHello::Terms& terms, Duration timeout);
  // Before all sums: whether all workers are there. Fails where the switch adds other workers.
  Result<bool> greet(Time now);
  // What has been seen of it, where nothing came.
  std::string silence() const;

  // As SwitchWorker's; after it has been greeted.
  bool start(std::span<const float> input, std::span<float> result, Time now);
  collective::SwitchWorker::Call call() const { return worker_->call(); }
  // Takes what has come and sends what is due. Fails when a sum can come no more.
  Status drive(Time now);

  const collective::SwitchWorker::Counts& counts() const { return worker_->counts(); }

 private:
  static constexpr std::size_t kBatch = 32;
  static constexpr std::size_t kDatagramBytes = 1280;  // the longest packet has 1034
  struct Batch {
    Batch();
    std::array<std::array<std::byte, kDatagramBytes>, kBatch> bytes;
    std::array<iovec, kBatch> vectors;
    std::array<mmsghdr, kBatch> headers;
  };

  SwitchLine(Fd socket, std::string text) : socket_(std::move(socket)), text_(std::move(text)) {}

  void receive(Time now);
  void transmit(Time now);
  void say_hello(Time now);
  void on_heard(Time now);
  void on_error(int error, Time now);
  Status check(Time now);

  Fd socket_;
  const std::string text_;
  Batch received_;
  Batch sent_;
  std::unique_ptr<collective::SwitchHello> hello_;
  std::unique_ptr<collective::SwitchWorker> worker_;
  Duration timeout_{0};
  bool greeted_ = false;
  Time heard_{};
  Time asked_{};              // the last time
  Time unanswered_ = kNever;  // since when it has been asked in vain
  Time refused_ = kNever;     // since when its host says that the port is closed
  Time looked_{};             // when drive() was last called in a call
  Time progress_ = kNever;    // the call's last answer
  std::uint64_t taken_ = 0;
};

}  // namespace dlcp::nccl
