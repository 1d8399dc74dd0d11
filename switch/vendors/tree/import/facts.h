// Facts of a running configuration: statements that match one of the target's patterns, with the
// values of its holes. import.cc lists their kinds.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "switch/vendors/tree/target/target.h"

namespace dlcp::fabric::tree {

struct Fact {
  Captures held;
  const Statement* from;
};
using Facts = std::map<std::string, std::vector<Fact>, std::less<>>;

const std::vector<Fact>& of(const Facts& facts, std::string_view kind);
std::string held(const Captures& captures, std::string_view name);  // empty: no such hole
// True if the captures agree in all of these names that both have.
bool joins(const Captures& a, const Captures& b, std::initializer_list<std::string_view> names);
// The queue with this name, given by the site or the target, or else with this number.
std::optional<int> queue_named(const Document& document, const std::string& name);

// The ports with their speeds and aggregates.
void read_ports(const Target& target, const Facts& facts, const Document& document,
                SiteConfig& site);

// How the scheduler policy of this name, which most ports have, serves queues.
void read_scheduling(const Target& target, const Facts& facts, const std::string& scheduler,
                     Document& document, SiteConfig& site);

// Reports a statement: what is wrong, what is expected.
using FaultAt = std::function<void(const Statement& at, std::string what, std::string expected)>;

// Buffer pools and limits of queues that the site sets; classes and ports must be filled already.
void read_buffers(const Target& target, const Facts& facts, const Document& document,
                  SiteConfig& site, const FaultAt& fault);

// The rewriting of DSCPs on egress; the site's ports must be filled already.
void read_rewriting(const Target& target, const Facts& facts, const Document& document,
                    SiteConfig& site);

}  // namespace dlcp::fabric::tree
