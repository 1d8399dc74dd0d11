// A hub's TCP server: accepts ranks' connections, adds ranks with a valid token to jobs within the
// limits of the hub and their tenant, and detects when they leave or die. One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/hub/admission/caller.h"
#include "cli/hub/admission/log_limit.h"
#include "cli/hub/jobs/drivers.h"
#include "cli/hub/jobs/job.h"
#include "util/hash/siphash.h"
#include "util/system/fd.h"

namespace dlcp::cli {

struct FrontOptions {
  std::uint64_t memory_max = std::uint64_t{4} << 30;
  std::uint32_t jobs_max = 64;
};

class Front {
 public:
  struct Door {
    Fd socket;  // listening
    engine::Registry* registry = nullptr;
    engine::Port port;
    std::uint32_t speed_mbps = 0;
    std::uint32_t secret_fingerprint = 0;
    bool encrypts = false;
    SipKey random;  // for challenges
  };

  Front(Door door, const FrontOptions& options, Tenants tenants, Drivers& drivers, HubJob::Say say);

  // Handles the events of the next `wait`.
  void serve(Duration wait);
  // New jobs are refused from now on.
  void drain() { drains_ = true; }
  void end_all(const std::string& why);
  std::size_t jobs() const { return jobs_.size(); }
  std::string metrics();  // in Prometheus' text format

 private:
  struct Seat {
    Fd socket;
    std::string from;  // the caller's address
    Caller caller;
    Time since;
    std::shared_ptr<HubJob> job;  // null: not seated
  };
  struct ById {
    bool operator()(const SipKey& a, const SipKey& b) const {
      return a.low != b.low ? a.low < b.low : a.high < b.high;
    }
  };
  using Jobs = std::map<SipKey, std::shared_ptr<HubJob>, ById>;

  std::size_t strangers() const;  // connections that belong to no job
  void accept();
  void pause_door(int error);
  void hear(Seat& seat);
  void let_in(Seat& seat);
  Jobs::iterator begin(const engine::HubJoin& join, Tenant& tenant);
  std::string why_not(const Caller& caller) const;
  void send(Seat& seat, const engine::HubFrame& frame);
  void gone(Seat& seat);
  void sweep(Time asked_at);

  const Door door_;
  const FrontOptions options_;
  const Tenants tenants_;
  Drivers& drivers_;
  const HubJob::Say say_;
  const std::size_t strangers_max_;
  std::list<Seat> seats_;
  Jobs jobs_;
  std::uint64_t challenges_ = 0;
  std::uint64_t memory_ = 0;
  std::map<std::string, std::uint64_t> refused_;  // by reason
  bool drains_ = false;
  Time door_shut_until_{};  // no connection is accepted before this time
  LogLimit door_log_;
  LogLimit strangers_log_;
  LogLimit ranks_log_;  // ranks with a token, which strangers' lines must not hide
};

}  // namespace dlcp::cli
