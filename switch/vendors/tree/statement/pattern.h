// A statement with holes: "interface {port} > service-policy type qos input {name}". A hole matches
// one word, or the part of a word between fixed ends ("c-out-8q-q{queue}", "{port}.0"). {name*}
// matches all remaining words; {*} matches any number of them and captures nothing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlcp::fabric::tree {

using Captures = std::map<std::string, std::string, std::less<>>;

class Pattern {
 public:
  Pattern() = default;
  explicit Pattern(std::string_view text);

  // The values of the holes; nullopt: the statement does not match.
  std::optional<Captures> match(std::string_view statement) const;
  // The same for a statement that begins with the pattern; `taken` is the length of the match.
  std::optional<Captures> begins(std::string_view statement, std::size_t& taken) const;
  bool covers(std::string_view statement, std::size_t& taken) const {
    return scan(statement, true, &taken, nullptr);
  }
  // The text with its holes filled; holes without a capture remain.
  std::string filled(const Captures& captures) const;
  const std::string& text() const { return text_; }

 private:
  struct Word {
    std::string fixed, hole, tail;  // hole empty: fixed text only
    bool rest = false;
  };
  // Captures only after the whole pattern has matched, as most statements do not match.
  bool scan(std::string_view statement, bool prefix, std::size_t* taken, Captures* captures) const;

  bool begins_with_head(std::string_view statement) const;

  std::string text_;
  std::string head_;  // text before the first hole
  std::vector<Word> words_;
};

// Any text, with those of its {holes} filled that `captures` has.
std::string with_holes_filled(std::string text, const Captures& captures);

}  // namespace dlcp::fabric::tree
