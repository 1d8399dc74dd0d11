// Facts of a running configuration: statements that one of the target's patterns says the meaning
// of, with what its holes hold. import.cc lists their kinds.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "switch/vendors/tree/target.h"

namespace dlcp::fabric::tree {

struct Fact {
  Captures held;
  const Statement* from;
};
using Facts = std::map<std::string, std::vector<Fact>, std::less<>>;

const std::vector<Fact>& of(const Facts& facts, std::string_view kind);
std::string held(const Captures& captures, std::string_view name);  // empty: no such hole
// What both have of these, they have alike.
bool joins(const Captures& a, const Captures& b, std::initializer_list<std::string_view> names);
// By the name that the site or the target has for a queue, else by its number.
std::optional<int> queue_named(const Document& document, const std::string& name);

// The ports with their speeds and aggregates.
void read_ports(const Target& target, const Facts& facts, const Document& document,
                SiteConfig& site);

// How queues are served in the scheduler policy of this name, which most ports have.
void read_scheduling(const Target& target, const Facts& facts, const std::string& scheduler,
                     Document& document, SiteConfig& site);

// What becomes of DSCPs on the way out; the ports of the site are known already.
void read_rewriting(const Target& target, const Facts& facts, const Document& document,
                    SiteConfig& site);

}  // namespace dlcp::fabric::tree
