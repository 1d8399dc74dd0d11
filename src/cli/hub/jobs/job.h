// A group that a hub serves: its ranks join one by one, then the group is set up with them, then
// the hub adds for it until they leave. The front accepts the ranks; a driver does the work.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cli/hub/tenants.h"
#include "collective/exchange/hub_exchange.h"
#include "engine/devices/registry.h"
#include "engine/group/group.h"
#include "engine/group/group_opening.h"
#include "engine/hub/hub_word.h"

namespace dlcp::cli {

class HubJob {
 public:
  using Say = std::function<void(const std::string& line)>;
  enum class Step { kRests, kMoved, kOver };
  struct Counts {
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;  // of contributions
  };

  // `first`: of the rank that joined first; the others must agree with it. `tenant` must outlive
  // this object.
  HubJob(engine::Registry& registry, const engine::Port& port, std::uint32_t speed_mbps,
         const engine::HubJoin& first, Tenant& tenant, Say say);
  ~HubJob();

  const engine::HubJoin& terms() const { return first_; }
  Tenant& tenant() const { return tenant_; }
  // The address at which the job listens.
  engine::Opening::Peer peer() const { return {invitation_, listening_.address()}; }

  // Adds the rank. Returns the reason if it cannot join, else "".
  std::string seat(const engine::HubJoin& join);
  // If the rank has died (not `in_order`), the job ends at once, unless another rank has already
  // left in order. Then the data connections report the death within DLCP_PEER_TIMEOUT.
  void leave(std::uint32_t rank, bool in_order);
  // Ends the job because the hub ends.
  void end(const std::string& why);

  // Performs a bounded step; only one thread may call it at a time. After kOver no work is left.
  // An exception ends this job with an error, because the other jobs of the hub must continue.
  Step step();
  bool over() const { return over_.load(); }
  bool failed() const { return failed_.load(); }
  Counts counts();

 private:
  Step advance();
  Step open();
  Step serve();
  void begin_opening();
  void begin_group();
  Step finish(const std::string& failure);

  engine::Registry& registry_;
  const engine::Port port_;
  const engine::Port listening_;
  const std::uint32_t speed_mbps_;
  const engine::HubJoin first_;
  Tenant& tenant_;
  const Say say_;
  const core::ContextId context_;
  const Time began_;
  std::mutex mutex_;
  wire::Invitation invitation_;
  std::vector<core::ListenerId> listeners_;
  std::vector<engine::Opening::Peer> peers_;  // by rank
  std::vector<bool> seated_;
  std::uint32_t seats_taken_ = 0;
  std::unique_ptr<engine::GroupOpening> opening_;
  std::unique_ptr<engine::Group::Staging> staging_;  // for group_
  std::unique_ptr<engine::Group> group_;
  const collective::HubExchange* exchange_ = nullptr;  // the group's
  std::string wrong_;            // why the job must end: a rank died, or the hub ends
  std::optional<Time> left_at_;  // when the first rank left properly
  Counts counts_;
  std::atomic<bool> over_{false};
  std::atomic<bool> failed_{false};
};

}  // namespace dlcp::cli
