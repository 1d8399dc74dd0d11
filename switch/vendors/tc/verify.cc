// Compares a captured `tc -s -j qdisc show` with the plan: the queues exist with the planned
// depths, and drops and marks occur only where DLCP causes them. Counters start at the time of
// apply.
#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string>

#include "switch/vendors/tc/tc_parts.h"
#include "switch/vendors/tc/tree.h"

namespace dlcp::fabric::tc {
namespace {

using Json = nlohmann::json;

std::uint64_t number(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

std::string text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

const Json& member(const Json& object, const char* key) {
  static const Json kNone = Json::object();
  const auto found = object.find(key);
  return found != object.end() ? *found : kNone;
}

constexpr const char* kNoReaction = "the senders do not slow down when their packets are marked";

// Findings of one port.
class PortJudge {
 public:
  PortJudge(const Json& qdiscs, std::string port, std::vector<Finding>& findings)
      : qdiscs_(qdiscs), port_(std::move(port)), findings_(findings) {}

  void judge(const Tree& tree) {
    const Json* root = find(fmt::format("{:x}:", kHandle));
    if (root == nullptr) {
      note(Verdict::kNotShown, -1, "the output shows no queues of DLCP on this port");
      return;
    }
    if (text(*root, "kind") != "ets" ||
        number(member(*root, "options"), "bands") != tree.bands.size()) {
      note(Verdict::kWrong, -1, "the queues are not the planned ones", "render and apply again");
      return;
    }
    for (std::size_t i = 0; i < tree.bands.size(); ++i) {
      const Band& band = tree.bands[i];
      if (band.kind == BandKind::kSite) continue;
      const Json* qdisc = find(fmt::format("{:x}:", kHandle + i + 1));
      if (qdisc == nullptr)
        note(Verdict::kWrong, band.queue, band.name + ": the queue is missing");
      else
        judge(band, *qdisc);
    }
  }

 private:
  const Json* find(const std::string& handle) const {
    for (const Json& qdisc : qdiscs_)
      if (text(qdisc, "dev") == port_ && text(qdisc, "handle") == handle) return &qdisc;
    return nullptr;
  }

  void note(Verdict verdict, int queue, std::string what, std::string cause = "") {
    findings_.push_back({verdict, port_, queue, std::move(what), std::move(cause)});
  }

  void judge(const Band& band, const Json& qdisc) {
    switch (band.kind) {
      case BandKind::kSite:
        break;
      case BandKind::kShaped:
        judge_shaped(band, qdisc);
        break;
      case BandKind::kTail:
        judge_kind(band, qdisc, "bfifo", "limit", band.limit_bytes) &&
            judge_tail(band, number(qdisc, "drops"));
        break;
      case BandKind::kMarked:
        judge_marked(band, qdisc);
        break;
      case BandKind::kLevels:
        if (judge_kind(band, qdisc, "gred", "limit", band.limit_bytes)) judge_levels(band, qdisc);
        break;
    }
  }

  // Checks that the qdisc has the planned kind, and one option with the planned value.
  bool judge_kind(const Band& band, const Json& qdisc, const char* kind, const char* option,
                  std::uint64_t planned) {
    const std::uint64_t is = number(member(qdisc, "options"), option);
    if (text(qdisc, "kind") != kind) {
      note(Verdict::kWrong, band.queue,
           fmt::format("{}: is {}, planned {}", band.name, text(qdisc, "kind"), kind));
      return false;
    }
    if (is != planned) {
      note(Verdict::kWrong, band.queue,
           fmt::format("{}: {} {} is {}, planned {}", band.name, kind, option, is, planned));
      return false;
    }
    return true;
  }

  void judge_shaped(const Band& band, const Json& qdisc) {
    if (!judge_kind(band, qdisc, "tbf", "rate", band.bits_per_second / 8)) return;
    const std::uint64_t drops = number(qdisc, "drops");
    const std::uint64_t packets = number(qdisc, "packets");
    if (drops == 0) {
      note(Verdict::kAsPlanned, band.queue,
           fmt::format("{}: {} packets, none dropped", band.name, packets));
    } else {
      note(Verdict::kWrong, band.queue,
           fmt::format("{}: {} of {} packets dropped", band.name, drops, drops + packets),
           fmt::format("more than {} bit/s arrive for this queue: look for other senders that use "
                       "its DSCP",
                       band.bits_per_second));
    }
  }

  bool judge_tail(const Band& band, std::uint64_t drops) {
    note(Verdict::kAsPlanned, band.queue,
         fmt::format("{}: {} dropped above {} bytes", band.name, drops, band.limit_bytes));
    return true;
  }

  void judge_marked(const Band& band, const Json& qdisc) {
    if (!judge_kind(band, qdisc, "red", "min", band.mark_bytes) ||
        !judge_kind(band, qdisc, "red", "limit", band.limit_bytes))
      return;
    const std::uint64_t drops = number(qdisc, "drops");
    const std::uint64_t marked = number(qdisc, "marked");
    if (drops == 0) {
      note(Verdict::kAsPlanned, band.queue,
           fmt::format("{}: {} packets, {} marked, none dropped", band.name,
                       number(qdisc, "packets"), marked));
    } else {
      note(Verdict::kWrong, band.queue,
           fmt::format("{}: {} packets dropped at {} bytes ({} marked)", band.name, drops,
                       band.limit_bytes, marked),
           kNoReaction);
    }
  }

  void judge_levels(const Band& band, const Json& qdisc) {
    const Json& queues = member(member(qdisc, "options"), "vqs");
    std::uint64_t dropped_before = 0;  // of the previous level, which is dropped first
    std::uint64_t seen_before = 0;
    for (std::size_t i = 0; i < band.levels.size(); ++i) {
      const BandLevel& level = band.levels[i];
      const Json* row = nullptr;
      for (const Json& one : queues)
        if (one.is_object() && number(one, "vq") == i) row = &one;
      if (row == nullptr || number(*row, "limit") != level.limit_bytes ||
          (level.mark_bytes > 0 && number(*row, "min") != level.mark_bytes)) {
        note(Verdict::kWrong, band.queue,
             fmt::format("{} {}: the depths are not the planned ones (mark above {} bytes, drop "
                         "above {} bytes)",
                         band.name, level.name, level.mark_bytes, level.limit_bytes));
        continue;
      }
      const std::uint64_t drops =
          number(*row, "forced_drop") + number(*row, "prob_drop") + number(*row, "pdrop");
      const std::uint64_t marks = number(*row, "forced_mark") + number(*row, "prob_mark");
      const std::uint64_t packets = number(*row, "packets");
      Verdict verdict = Verdict::kAsPlanned;
      std::string cause;
      if (level.protect && drops > 0) {
        verdict = Verdict::kWrong;
        cause = number(*row, "pdrop") == drops
                    ? kNoReaction
                    : "some packets arrive without ECT: the sender or an earlier switch clears ECN";
      } else if (i > 0 && drops > 0 && dropped_before == 0 && seen_before > 0) {
        verdict = Verdict::kWrong;
        cause = "the level that should be dropped first lost nothing";
      }
      note(verdict, band.queue,
           fmt::format("{} {}: {} packets, {} marked, {} dropped", band.name, level.name, packets,
                       marks, drops),
           std::move(cause));
      dropped_before = drops;
      seen_before = packets;
    }
  }

  const Json& qdiscs_;
  std::string port_;
  std::vector<Finding>& findings_;
};

}  // namespace

std::vector<VerifyCommand> commands(const SwitchPlan& plan) {
  return {
      {"tc -s -j qdisc show",
       fmt::format("of every port of {}: drops of the strict queue (none), marks, and drops per "
                   "level of gred's virtual queues",
                   plan.name)}};
}

Checked<std::vector<Finding>> judge(const SwitchPlan& plan, const NamedText& captured) {
  const Json qdiscs = Json::parse(captured.text, nullptr, false);
  if (!qdiscs.is_array()) {
    return Checked<std::vector<Finding>>::failed(
        {.severity = Severity::kError,
         .file = captured.file,
         .line = 0,
         .what = "this is not the output of `tc -s -j qdisc show`",
         .seen = captured.text.substr(0, 40),
         .expected = "one JSON array",
         .hint = "capture all devices with `tc -s -j qdisc show > FILE`"});
  }
  std::vector<Finding> findings;
  for (const PortGroupPlan& group : plan.groups) {
    const Tree tree = tree_of(plan, group);
    for (const std::string& port : group.group.ports)
      PortJudge(qdiscs, port, findings).judge(tree);
  }
  return {std::move(findings), {}};
}

}  // namespace dlcp::fabric::tc
