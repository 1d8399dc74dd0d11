// Collects the reasons for not rendering a switch, for the parts of a renderer.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "switch/vendors/vendor.h"

namespace dlcp::fabric {

class Refuser {
 public:
  Refuser(const SwitchPlan& plan, std::vector<Problem>& problems)
      : plan_(plan), problems_(problems) {}

  void operator()(std::string what, std::string seen, std::string expected,
                  std::string hint) const {
    problems_.push_back(
        refusal(plan_, std::move(what), std::move(seen), std::move(expected), std::move(hint)));
  }

 private:
  const SwitchPlan& plan_;
  std::vector<Problem>& problems_;
};

}  // namespace dlcp::fabric
