// A configuration as statements, whatever its syntax: a statement is one line, preceded by
// everything that leads to it. "interface Ethernet1/1 > service-policy type qos input P" is a line
// in a block; "qos queues queue q5 queue-index 5" comes from flat text or a JSON tree. Two
// configurations are equal if they have the same statements.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "switch/model/problem.h"

namespace dlcp::fabric::tree {

// A switch of 512 ports with everything set has about 10,000.
inline constexpr std::size_t kStatementsMax = 400'000;

enum class Syntax {
  kBlocks,      // indented lines: a line belongs to the nearest earlier line with less indentation
  kFlat,        // "set a b c": every line is complete
  kJson,        // RFC 7951, as gNMI carries it
  kOperations,  // YAML, a list of `set` operations on one tree, as in NVUE
};

struct Statement {
  std::string text;
  int line = 0;          // of the file; 0: not from a file
  bool implied = false;  // the system's default where the configuration states nothing
};
using Statements = std::vector<Statement>;

// Describes how statements map to a JSON tree and back: the lists with their keys, and the types of
// leaves.
struct JsonShape {
  std::map<std::string, std::string> keys;     // path of a list -> its key leaves
  std::map<std::string, std::string> modules;  // path of a node -> the prefix that it needs
  // Leaves, each by the last names of its path ("config value").
  std::vector<std::string> leaf_lists;
  std::vector<std::string> numbers;   // JSON numbers; others are strings
  std::vector<std::string> booleans;  // true or false
};

// Lines that name several numbers, each of which becomes a statement: "qos map dscp 8 10-12 to
// traffic-class 1". Errors: the text between `before` and `after` is not a list of numbers, or
// exceeds `max`.
struct NumberList {
  std::string before, after;
  int max = 0;
};

struct Reader {
  Syntax syntax = Syntax::kBlocks;
  std::string prefix;  // of flat lines: "set "
  // Only statements with these prefixes are kept; of operations: {hole}.
  std::vector<std::string> roots;
  JsonShape json;
  std::vector<NumberList> lists;
  std::string kept_comment;    // of blocks: comments with this prefix are statements; empty: none
  std::string ends_with = {};  // last line that the system prints, of blocks; the last item read,
                               // of operations; empty: none
  std::string names_itself = {};         // precedes the switch's name, which is not a statement
  std::vector<std::string> ranged = {};  // of operations: lists with keys such as "swp1-4,swp6"
};

// The key leaves of a list, given by the names that lead to it ("qos queues queue"); empty: not a
// list.
std::vector<std::string> keys_of(const JsonShape& shape, std::string_view names);

// Errors: text that is an error message of a switch, invalid JSON, more than 400,000 statements.
// Warnings: an incomplete last line, or one that differs from the system's usual last line.
Checked<Statements> read_statements(const Reader& reader, const std::string& file,
                                    const std::string& text);

// The same for operations: one statement for each name that a key covers.
Checked<Statements> read_operations(const Reader& reader, const std::string& file,
                                    const std::string& text);

// "a > b > c" -> a, b, c.
std::vector<std::string> contexts_of(std::string_view statement);
// True for the statement itself and for everything inside it or after it.
bool is_under(std::string_view statement, std::string_view root);

}  // namespace dlcp::fabric::tree
