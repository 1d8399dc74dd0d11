// Reads the text of `show running-config` (all of it, or its QoS and interface sections).
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "switch/vendors/eos/document.h"
#include "switch/vendors/numbers.h"
#include "switch/vendors/words.h"

namespace dlcp::fabric::eos {
namespace {

// DSCPs of a line without a mapping: EOS user manual, default DSCP to traffic class map.
int usual_class(int dscp) {
  const int block = dscp / 8;
  return block == 0 ? 1 : block == 1 ? 0 : block;
}

class Importer {
 public:
  explicit Importer(const NamedText& running) : running_(running) {}

  Checked<SiteConfig> run() {
    std::istringstream lines(running_.text);
    bool any = false;
    for (std::string line; std::getline(lines, line);) {
      ++line_;
      if (!line.empty() && line.back() == '\r') line.pop_back();
      const auto begin = line.find_first_not_of(' ');
      if (begin == std::string::npos) continue;
      const std::string text = line.substr(begin);
      if (text[0] == '!' && !text.starts_with(kOwnComment)) continue;  // separators, comments
      if (text.starts_with("%") || text.starts_with("> "))
        fault("this is an error message of the switch", text, "output of `show running-config`");
      if (text.find("--More--") != std::string::npos)
        fault("the switch has paged its output", text, "all of it at once");
      any |= begin == 0 ? read_statement(text) : read_inside(text, begin > kNested.size());
    }
    if (!any)
      fault("there is nothing of QoS or interfaces in this file", "",
            "output of "
            "`show running-config`");
    Checked<SiteConfig> result;
    if (!has_errors(problems_)) result.value = site();
    result.problems = std::move(problems_);
    return result;
  }

 private:
  void fault(std::string what, std::string seen, std::string expected) {
    problems_.push_back({Severity::kError, running_.file, line_, std::move(what), std::move(seen),
                         std::move(expected),
                         "take it with: show running-config | no-more > SWITCH.eos"});
  }

  // "8 9 10", "8-15,20": every DSCP or class named before "to".
  std::vector<int> numbers(const std::vector<std::string>& words, std::size_t from, std::size_t to,
                           int max) {
    std::vector<int> list;
    for (std::size_t i = from; i < to; ++i) {
      std::istringstream parts(words[i]);
      for (std::string part; std::getline(parts, part, ',');) {
        const auto dash = part.find('-');
        const auto first = number_of(std::string_view(part).substr(0, dash));
        const auto last =
            dash == std::string::npos ? first : number_of(std::string_view(part).substr(dash + 1));
        if (!first || !last || *last > max || *first > *last) {
          fault("not a list of numbers", part, fmt::format("numbers 0..{}", max));
          return list;
        }
        for (int n = *first; n <= *last; ++n)
          list.push_back(n);
      }
    }
    return list;
  }

  bool read_statement(const std::string& text) {
    block_ = nullptr;
    interface_ = nullptr;
    if (text.starts_with("qos map ")) return read_map(words_of(text));
    if (text == "qos rewrite dscp") {
      document_->rewrites_dscps = true;
      return true;
    }
    if (text.starts_with("qos random-detect ecn allow non-ect")) {
      document_->allows_non_ect = true;
      return true;
    }
    for (const char* kind :
         {"qos profile ", "policy-map type quality-of-service ", "class-map type qos match-any "})
      if (text.starts_with(kind)) {
        block_ = &document_->blocks[text];
        return true;
      }
    if (!text.starts_with("interface ")) return false;
    auto name = text.substr(10);
    if (name.empty() || name.find(' ') != std::string::npos) return false;
    interface_ = &document_->interfaces[name];
    return true;
  }

  bool read_map(const std::vector<std::string>& words) {
    const auto to =
        static_cast<std::size_t>(std::find(words.begin(), words.end(), "to") - words.begin());
    const auto number = [&](std::size_t at, int max) -> int {
      const auto value = at < words.size() ? number_of(words[at]) : std::nullopt;
      if (value && *value <= max) return *value;
      fault("a QoS map ends in something else than a number", at < words.size() ? words[at] : "",
            fmt::format("0..{}", max));
      return 0;
    };
    const bool dscp = words.size() > 2 && words[2] == "dscp";
    const bool queue = words.size() > 2 && words[2] == "traffic-class";
    if ((!dscp && !queue) || to + 2 >= words.size()) return true;  // cos, exp: not DLCP's concern
    if (dscp && words[to + 1] == "traffic-class") {
      DscpEntry entry{number(to + 2, 7), {}};
      if (to + 4 < words.size() && words[to + 3] == "drop-precedence")
        entry.drop_precedence = number(to + 4, 2);
      for (const int d : numbers(words, 3, to, kDscpCount - 1))
        document_->dscp[d] = entry;
    } else if (queue && (words[to + 1] == "tx-queue" || words[to + 1] == "uc-tx-queue")) {
      const int index = number(to + 2, 7);
      if (document_->map_word.empty()) document_->map_word = words[to + 1];
      for (const int c : numbers(words, 3, to, kQueueCount - 1))
        document_->queue[c] = index;
    } else if (queue && words[to + 1] == "dscp") {
      const int dscp_out = number(to + 2, kDscpCount - 1);
      for (const int c : numbers(words, 3, to, kQueueCount - 1))
        document_->class_to_dscp[c] = dscp_out;
    }
    return true;
  }

  bool read_inside(const std::string& text, bool nested) {
    if (document_->queue_word.empty() && queue_of(text))
      document_->queue_word = text.substr(0, text.find(' '));
    if (block_ != nullptr) {
      block_->push_back((nested ? std::string(kNested) : std::string()) + text);
      return true;
    }
    if (interface_ == nullptr) return false;
    if (text.starts_with("service-profile ")) {
      interface_->profile = text.substr(16);
      return true;
    }
    read_port(text);
    for (const char* kind : {"qos ", "tx-queue ", "uc-tx-queue ", "priority-flow-control",
                             "service-policy type qos", "random-detect"})
      if (text.starts_with(kind)) interface_->lines.push_back(text);
    return true;
  }

  // "speed forced 100gfull", "speed 400g-8"; "channel-group 7 mode active".
  void read_port(const std::string& text) {
    const auto words = words_of(text);
    if (words.size() > 1 && words[0] == "channel-group")
      interface_->lag = "Port-Channel" + words[1];
    if (words.size() < 2 || words[0] != "speed") return;
    const std::string& speed = words.back();
    const auto digits = speed.find_first_not_of("0123456789");
    const auto number = number_of(std::string_view(speed).substr(0, digits));
    if (number && digits != std::string::npos && (speed[digits] == 'g' || speed[digits] == 'G'))
      interface_->bits_per_second = static_cast<std::uint64_t>(*number) * 1'000'000'000;
  }

  // `qos rewrite dscp` writes a DSCP per class into everything that leaves. Without a line of its
  // own, class N leaves as DSCP 8 x N, but classes 0 and 1 change places (EOS user manual, Quality
  // of Service, default traffic class to DSCP map).
  void read_rewrite(SiteConfig& site) {
    if (!document_->rewrites_dscps) return;
    site.egress_rewrite = "qos rewrite dscp";
    for (int c = 0; c < kQueueCount; ++c) {
      const int usual = 8 * (c < 2 ? 1 - c : c);
      site.class_to_dscp[c] =
          static_cast<std::uint8_t>(document_->class_to_dscp[c].value_or(usual));
    }
  }

  SiteConfig site() {
    SiteConfig site;
    std::array<int, kQueueCount> uses{};
    for (int d = 0; d < kDscpCount; ++d) {
      const auto& entry = document_->dscp[d];
      site.dscp_to_class[d] =
          static_cast<std::uint8_t>(entry ? entry->traffic_class : usual_class(d));
      ++uses[*site.dscp_to_class[d]];
    }
    site.default_class =
        static_cast<std::uint8_t>(std::max_element(uses.begin(), uses.end()) - uses.begin());
    for (int c = 0; c < kQueueCount; ++c)
      site.class_to_queue[c] = static_cast<std::uint8_t>(document_->queue[c].value_or(c));
    read_owned(site);
    for (int d = 0; d < kDscpCount; ++d)
      if ((site.dlcp_dscps >> d & 1) == 0)
        site.queues[*site.class_to_queue[*site.dscp_to_class[d]]].in_use = true;
    // Without a line, platforms differ in whether class 0 has queue 0 or 1, and class 1 the other.
    for (const int c : {0, 1})
      if (!document_->queue[c]) site.queues[c].in_use = true;
    read_queues(site);
    read_rewrite(site);
    for (const auto& [name, interface] : document_->interfaces) {
      if (!name.starts_with("Ethernet")) continue;
      site.ports.push_back(name);
      site.port_facts.push_back(
          {name, interface.bits_per_second, interface.lag, document_->rewrites_dscps});
    }
    site.source = running_.file;
    site.imported = true;
    site.document = document_;
    return site;
  }

  // The DSCP map is one for the whole switch, so what an earlier change took is found by its
  // queues.
  void read_owned(SiteConfig& site) {
    for (const auto& [head, lines] : document_->blocks) {
      if (!head.starts_with("qos profile ") || !is_own(head.substr(12))) continue;
      std::optional<int> queue;
      for (const auto& line : lines) {
        if (const auto begins = queue_of(line)) queue = begins;
        if (queue && trimmed(line).starts_with(kOwnComment))
          site.dlcp_queues |= static_cast<std::uint8_t>(1u << *queue);
      }
    }
    for (int d = 0; d < kDscpCount; ++d)
      if (document_->dscp[d] &&
          (site.dlcp_queues >> *site.class_to_queue[*site.dscp_to_class[d]] & 1) != 0)
        site.dlcp_dscps |= std::uint64_t{1} << d;
  }

  void read_queues(SiteConfig& site) {
    std::map<std::string, int> uses;
    for (const auto& [name, interface] : document_->interfaces) {
      read_pfc(site, interface.lines);
      if (!interface.profile.empty()) ++uses[std::string(site_name(interface.profile))];
    }
    for (const auto& [head, lines] : document_->blocks)
      read_pfc(site, lines);
    const auto most = std::max_element(
        uses.begin(), uses.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    for (int q = 0; q < kQueueCount; ++q)
      site.queues[q].queue = static_cast<std::uint8_t>(q);
    if (most == uses.end()) return;
    const auto profile = document_->blocks.find("qos profile " + most->first);
    if (profile == document_->blocks.end()) return;
    int queue = -1;
    unsigned round_robin = 0;
    for (const auto& line : profile->second) {
      if (opens_sub_block(line)) queue = queue_of(line).value_or(-1);
      if (queue < 0 || !line.starts_with(kNested)) continue;
      auto& row = site.queues[queue];
      row.name = most->first;
      row.configured = true;
      const auto words = words_of(line);
      if (trimmed(line) == "no priority") round_robin |= 1U << queue;
      if (words.size() == 4 && words[0] == "shape")
        if (const auto rate = number_of(words[2]))  // a percentage: of a port of 100 Gb/s
          row.shaped_bits_per_second =
              static_cast<std::uint64_t>(*rate) * (words[3] == "percent" ? 1'000'000'000 : 1'000);
      if (words.size() > 2 && words[0] == "bandwidth" && words[words.size() - 2] == "percent")
        if (const auto percent = number_of(words.back()))
          row.weight = static_cast<unsigned>(std::min(*percent, 100));
    }
    // A queue is strict unless it or one above it says `no priority` (EOS user manual, Quality of
    // Service, Trident and Tomahawk, transmit queue scheduling).
    for (int q = 0; q < kQueueCount; ++q)
      site.queues[q].strict = round_robin >> q == 0;
  }

  void read_pfc(SiteConfig& site, const Lines& lines) {
    for (const auto& line : lines) {
      const auto words = words_of(line);
      if (words.size() != 4 || words[1] != "priority" || words[3] != "no-drop") continue;
      const auto priority = number_of(words[2]);
      if (!priority || *priority > 7) continue;
      site.pfc_priorities |= static_cast<std::uint8_t>(1u << *priority);
      auto& queue = site.queues[*site.class_to_queue[*priority]];
      queue.lossless = queue.in_use = true;
    }
  }

  const NamedText& running_;
  int line_ = 0;
  std::shared_ptr<Document> document_ = std::make_shared<Document>();
  Lines* block_ = nullptr;
  Interface* interface_ = nullptr;
  std::vector<Problem> problems_;
};

}  // namespace

bool is_own(std::string_view name) {
  return name.starts_with(kPrefix);
}

std::string_view site_name(std::string_view name) {
  if (!is_own(name)) return name;
  const auto dash = name.find('-', kPrefix.size());  // DLCP-1-base
  const auto base = dash == std::string_view::npos ? std::string_view() : name.substr(dash + 1);
  return base == kNoProfile ? std::string_view() : base;
}

std::string text_of(const DscpEntry& entry) {
  auto text = fmt::format("traffic-class {}", entry.traffic_class);
  if (entry.drop_precedence) text += fmt::format(" drop-precedence {}", *entry.drop_precedence);
  return text;
}

std::optional<int> queue_of(std::string_view line) {
  const auto space = line.find(' ');
  const auto word = line.substr(0, space);
  if (space == std::string_view::npos || (word != "tx-queue" && word != "uc-tx-queue"))
    return std::nullopt;
  const auto queue = number_of(line.substr(space + 1));
  return queue && *queue < kQueueCount ? queue : std::nullopt;
}

std::string_view trimmed(std::string_view line) {
  const auto begin = line.find_first_not_of(' ');
  return begin == std::string_view::npos ? std::string_view() : line.substr(begin);
}

bool opens_sub_block(std::string_view line) {
  return queue_of(line) || line.starts_with("mc-tx-queue ") || line.starts_with("class ");
}

std::string canonical(const Lines& lines) {
  std::string sub;
  std::vector<std::string> entries;
  for (const auto& line : lines) {
    if (!line.starts_with(kNested)) sub = opens_sub_block(line) ? line : "";
    entries.push_back(sub + "|" + (line == sub ? "" : std::string(trimmed(line))));
  }
  std::sort(entries.begin(), entries.end());
  std::string text;
  for (const auto& entry : entries)
    text += (text.empty() ? "" : "\n") + entry;
  return text;
}

Checked<SiteConfig> import_config(const NamedText& running) {
  return Importer(running).run();
}

}  // namespace dlcp::fabric::eos
