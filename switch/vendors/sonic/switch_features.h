// Features of a SONiC switch in addition to queues: hash fields, trimming, PFC watchdog.
#pragma once

#include <string>

#include "switch/vendors/refuser.h"
#include "switch/vendors/sonic/change.h"

namespace dlcp::fabric::sonic {

// Adds problems and notes to `out`.
class SwitchFeatures {
 public:
  SwitchFeatures(const SwitchPlan& plan, const Document& document, const Release& release,
                 Rendering& out)
      : plan_(plan), document_(document), release_(release), out_(out) {}

  void put_switch(ChangeSet& change);
  // `maps`: the port's row of PORT_QOS_MAP that is being built.
  void put_port(const std::string& port, Json& maps, ChangeSet& change);

 private:
  void put_hash(ChangeSet& change);
  void put_trimming(ChangeSet& change);
  void remove_trimming(ChangeSet& change);
  void note(Severity severity, std::string text) {
    out_.notes.push_back({severity, std::move(text), false});
  }

  const SwitchPlan& plan_;
  const Document& document_;
  const Release& release_;
  Rendering& out_;
  const Refuser refuse_{plan_, out_.problems};
};

}  // namespace dlcp::fabric::sonic
