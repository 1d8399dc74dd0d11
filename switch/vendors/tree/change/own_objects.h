// DLCP's objects in a configuration whose statements are separate rows (Target::leaf_rows): finds
// the statements that a change must remove, because the patch writes the object without them or
// nothing refers to the object.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "switch/vendors/tree/change/rows.h"

namespace dlcp::fabric::tree {

class OwnObjects {
 public:
  // The running statements must outlive this object.
  OwnObjects(const Target& target, const Statements& running)
      : target_(target), running_(running) {}

  // Adds the removal of statements that the patch's objects no longer have.
  void complete(Patch& patch, std::set<std::string>& touched) const;
  // Adds the removal of objects that the patch's ports no longer use.
  void unbind(Patch& patch, const std::vector<std::string>& ports,
              std::set<std::string>& touched) const;
  // Removes objects that nothing refers to. Objects that ports outside the plan refer to are kept;
  // their roots are put into `kept`.
  Patch stale(const std::vector<Patch>& patches, const std::set<std::string>& touched,
              std::set<std::string>& kept) const;

 private:
  std::string root_of(const std::string& statement) const;  // empty: not part of an object of DLCP
  // The root that a port's binding refers to; empty: not a binding to an object of DLCP.
  std::string referred(const std::string& statement) const;
  bool is_own_binding(const std::string& statement, std::string& port) const;

  const Target& target_;
  const Statements& running_;
};

// All but the last word of a statement, and the last word.
std::string leaf_path(const std::string& statement);
std::string leaf_value(const std::string& statement);

}  // namespace dlcp::fabric::tree
