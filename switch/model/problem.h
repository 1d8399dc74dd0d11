// A problem of an input, as a value: where it is, the value seen, the value expected, and the
// remedy. Parsers and checks collect all problems of a file, so that they can be fixed together.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dlcp::fabric {

enum class Severity { kError, kWarning, kNote };

struct Problem {
  Severity severity = Severity::kError;
  std::string file;       // as the user named it; empty: not from a file
  int line = 0;           // 1-based; 0: the file as a whole
  std::string what;       // one clause: "unknown key 'asics' in switch 'leaf1'"
  std::string seen;       // the value as written; may be empty
  std::string expected;   // a correct value; may be empty
  std::string hint;       // the remedy; may be empty
  std::string rule = {};  // name of the check (`dlcp-switch check`) that found it; may be empty
};

// "file:line: error: what: 'seen', expected ... [rule]\n  hint: ..."; no line break at the end.
std::string to_text(const Problem& problem);
bool has_errors(const std::vector<Problem>& problems);

// A value, or the errors that prevented it; warnings may accompany a value.
template <class T>
struct Checked {
  std::optional<T> value;
  std::vector<Problem> problems;

  static Checked failed(Problem problem) {
    Checked result;
    result.problems.push_back(std::move(problem));
    return result;
  }
};

}  // namespace dlcp::fabric
