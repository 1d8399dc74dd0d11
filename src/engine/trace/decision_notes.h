// Adds the core's decisions as notes to the packets of a trace.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "core/decision.h"
#include "datapath/trace/note.h"

namespace dlcp::engine {

class DecisionNotes final : public core::DecisionSink {
 public:
  explicit DecisionNotes(std::shared_ptr<datapath::PacketRing> ring) : ring_(std::move(ring)) {}

  void on_decision(const core::Decision& decision) override {
    const auto text = decision.value ? fmt::format("{} {}", decision.what, *decision.value)
                                     : std::string(decision.what);
    const auto note = datapath::note(decision.at, decision.peer_token, text);
    ring_->add({&note, 1});
  }

 private:
  const std::shared_ptr<datapath::PacketRing> ring_;
};

}  // namespace dlcp::engine
