// Prints many similar messages briefly, for every report of `dlcp-switch`: of each kind the first
// ten, and each distinct hint once, with the number of messages that it belongs to and where the
// first of them are.
#pragma once

#include <string>
#include <vector>

namespace dlcp::fabric::cli {

struct Message {
  std::string text;   // one message, without its hint
  std::string kind;   // equal for messages that differ only in names and numbers: see kind_of()
  std::string hint;   // the remedy or the cause; may be empty
  std::string place;  // "intent.yaml:12", "Ethernet0 queue 3"; may be empty
};

// The text with names in quotes and words that contain a digit replaced by '#'.
std::string kind_of(const std::string& text);

// One line for each message and, indented below them, "... and N more" and the hints. Messages
// with the same hint, and those of a kind that has more than ten, are moved together to the first
// of them; the others remain in their order. `all`: no message is left out.
std::string message_list(const std::vector<Message>& messages, bool all);

// "leaf1, leaf2, leaf3 and 13 more"; `all`: every name.
std::string first_names(const std::vector<std::string>& names, bool all);

// The report of one switch.
struct NamedReport {
  std::string name, text;
};
struct SharedReport {
  std::vector<std::string> names;  // of the switches with this text
  std::string text;
};

// Joins equal texts, in the order of the first switch of each.
std::vector<SharedReport> joined_reports(const std::vector<NamedReport>& reports);

}  // namespace dlcp::fabric::cli
