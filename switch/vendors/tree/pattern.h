// A statement with holes: "interface {port} > service-policy type qos input {name}". A hole takes
// one word, or what is between its fixed ends ("c-out-8q-q{queue}", "{port}.0"); {name*} takes all
// words that are left, {*} takes them or none and forgets them.
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

  // What the holes hold; nullopt: it is another statement.
  std::optional<Captures> match(std::string_view statement) const;
  // The same for a statement that only begins so; `taken` is how much of it the pattern covers.
  std::optional<Captures> begins(std::string_view statement, std::size_t& taken) const;
  bool covers(std::string_view statement, std::size_t& taken) const {
    return scan(statement, true, &taken, nullptr);
  }
  // The text with its holes filled; those without a capture stay.
  std::string filled(const Captures& captures) const;
  const std::string& text() const { return text_; }

 private:
  struct Word {
    std::string fixed, hole, tail;  // hole empty: fixed text alone
    bool rest = false;
  };
  // Most statements are none of a pattern's: nothing is captured before all of it fits.
  bool scan(std::string_view statement, bool prefix, std::size_t* taken, Captures* captures) const;

  bool begins_with_head(std::string_view statement) const;

  std::string text_;
  std::string head_;  // before the first hole
  std::vector<Word> words_;
};

// Text of any form, with its {holes} filled where something is known of them.
std::string with_holes_filled(std::string text, const Captures& captures);

}  // namespace dlcp::fabric::tree
