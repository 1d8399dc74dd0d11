// Ranks of one communicator in one process that sum through a simulated switch: the parts of
// switch_test.
#pragma once

#include <atomic>
#include <cmath>
#include <cstdarg>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>

#include "catch.h"
#include "cli/aggregator/server.h"
#include "nccl/collnet/collnet.h"
#include "nccl/collnet/group_comm.h"
#include "nccl/net/handle.h"

namespace dlcp::test {

using collective::DataType;
using collective::ReduceOp;
using nccl::GroupComm;
using nccl::ResultCode;
namespace collnet = nccl::collnet;

inline std::mutex log_mutex;
inline std::string log_text;

__attribute__((format(printf, 5, 6))) inline void logger(nccl::LogLevel, unsigned long, const char*,
                                                         int, const char* format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const std::lock_guard lock(log_mutex);
  log_text += std::string(text) + "\n";
}

inline std::string take_log() {
  const std::lock_guard lock(log_mutex);
  return std::exchange(log_text, "");
}

// A simulated switch on free ports, served by a thread.
class Server {
 public:
  explicit Server(unsigned workers, double drop = 0) {
    cli::ServerOptions options;
    options.terms.workers = workers;
    options.drop = drop;
    for (options.port = 21000; !server_;
         options.port = static_cast<std::uint16_t>(options.port + 50)) {
      auto opened = cli::AggregatorServer::open(options, true);
      if (opened) {
        port_ = options.port;
        server_.emplace(std::move(opened).value());
      }
    }
    thread_ = std::thread([this] {
      while (!stop_)
        server_->serve(10ms);
    });
  }
  ~Server() { stop(); }
  // Stops answering and closes its ports.
  void stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    server_.reset();
  }
  std::string name() const { return "127.0.0.1:" + std::to_string(port_); }
  std::uint64_t sums() const { return server_->aggregator().counts().sums; }

 private:
  std::optional<cli::AggregatorServer> server_;
  std::uint16_t port_ = 0;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// The switch of each rank; an empty string: none.
struct Ranks {
  explicit Ranks(const std::vector<std::string>& switches, std::uint64_t comm_id = 9)
      : members(switches.size()) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      use(switches[0]);  // the setting is global to the process
      REQUIRE(collnet::init_communicator(&members[i].context, comm_id, logger) ==
              ResultCode::kSuccess);
      REQUIRE(collnet::listen(members[i].context, 0, members[i].handle, &members[i].listening) ==
              ResultCode::kSuccess);
      if (switches[i].empty()) without_switch(members[i].handle);
    }
    std::vector<void*> handles;
    for (Member& member : members)
      handles.push_back(member.handle);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < members.size(); ++i) {
      threads.emplace_back([this, handles, i]() mutable {
        Member& member = members[i];
        member.connected = collnet::connect(handles.data(), static_cast<int>(members.size()),
                                            static_cast<int>(i), member.listening, &member.group);
        if (member.connected == ResultCode::kSuccess) collnet::close_listen(member.listening);
      });
    }
    for (auto& thread : threads)
      thread.join();
  }
  // All ranks end at the same time, because each waits for the others.
  ~Ranks() {
    std::vector<std::thread> threads;
    for (const Member& member : members) {
      threads.emplace_back([&member] {
        if (member.group != nullptr) collnet::close_group(member.group);
        collnet::finalize_communicator(member.context);
      });
    }
    for (auto& thread : threads)
      thread.join();
  }
  static void use(const std::string& name) {
    setenv("DLCP_IFNAME", "=lo", 1);
    setenv("DLCP_CONFIG", "", 1);
    setenv("DLCP_PEER_TIMEOUT", "2", 1);
    setenv("DLCP_COLLNET_TIMEOUT", "2", 1);
    setenv("DLCP_COLLNET_SWITCH", name.c_str(), 1);
    engine::Registry::of_process().refresh();
  }
  // Changes the handle to that of a rank without a switch.
  static void without_switch(char* handle) {
    const std::span<std::byte, nccl::kHandleBytes> bytes(reinterpret_cast<std::byte*>(handle),
                                                         nccl::kHandleBytes);
    auto read = nccl::decode_handle(bytes);
    REQUIRE(read.ok());
    REQUIRE(read->terms.by_switch);
    read->terms.by_switch = false;
    nccl::encode_handle(read.value(), bytes);
  }
  bool connected() const {
    bool all = true;
    for (const Member& member : members)
      all = all && member.connected == ResultCode::kSuccess;
    return all;
  }
  GroupComm& comm(std::size_t rank) { return *static_cast<GroupComm*>(members[rank].group); }

  struct Member {
    void* context = nullptr;
    void* listening = nullptr;
    void* group = nullptr;
    char handle[nccl::kHandleBytes] = {};
    ResultCode connected = ResultCode::kInternalError;
  };
  std::vector<Member> members;
};

template <class T>
struct Vectors {
  Vectors(std::size_t ranks, std::size_t count, DataType data_type)
      : inputs(ranks, std::vector<T>(count)), results(inputs), type(data_type) {
    for (std::size_t rank = 0; rank < ranks; ++rank)
      for (std::size_t i = 0; i < count; ++i)
        inputs[rank][i] = static_cast<T>(static_cast<T>((i * 7 + rank * 13) % 101) / T{2});
  }
  collective::Call call(std::size_t rank, bool told = true, ReduceOp op = ReduceOp::kSum) {
    collective::Call made;
    made.input = std::as_bytes(std::span(inputs[rank]));
    made.result = std::as_writable_bytes(std::span(results[rank]));
    made.real_bytes = made.input.size();
    made.type = type;
    made.op = op;
    made.tensor = told ? 1 : 0;
    return made;
  }
  double sum(std::size_t i) const {
    double all = 0;
    for (const auto& input : inputs)
      all += static_cast<double>(input[i]);
    return all;
  }
  // The largest error of any rank; all must have the same bits.
  double worst() const {
    double error = 0;
    for (std::size_t i = 0; i < results[0].size(); ++i)
      error = std::max(error, std::abs(static_cast<double>(results[0][i]) - sum(i)));
    for (const auto& result : results)
      REQUIRE(std::memcmp(result.data(), results[0].data(), result.size() * sizeof(T)) == 0);
    return error;
  }
  std::vector<std::vector<T>> inputs, results;
  DataType type;
};

using Floats = Vectors<float>;
using Integers = Vectors<std::int32_t>;

// Calls of all ranks, started and driven in turn; false if one fails.
class Calls {
 public:
  explicit Calls(Ranks& ranks) : ranks_(ranks), numbers_(ranks.members.size()) {}
  bool start(std::size_t rank, const collective::Call& call) {
    const auto started = ranks_.comm(rank).by_switch->start(call);
    if (started.ok()) numbers_[rank].push_back(*started.value());
    return started.ok();
  }
  bool finish(Duration within = 20s) {
    const auto end = std::chrono::steady_clock::now() + within;
    for (bool all = false; !all;) {
      all = true;
      for (std::size_t rank = 0; rank < numbers_.size(); ++rank) {
        for (const std::uint64_t number : numbers_[rank]) {
          const auto done = ranks_.comm(rank).by_switch->finished(number);
          if (!done) {
            error = done.error().what;
            return false;
          }
          all = all && done.value();
        }
      }
      if (std::chrono::steady_clock::now() > end) {
        error = "too late";
        return false;
      }
    }
    return true;
  }
  std::string error;

 private:
  Ranks& ranks_;
  std::vector<std::vector<std::uint64_t>> numbers_;
};

}  // namespace dlcp::test
