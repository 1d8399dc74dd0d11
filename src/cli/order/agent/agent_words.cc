#include "cli/order/agent/agent_words.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/command_line/output/json_text.h"

namespace dlcp::cli {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kHostsMax = 65536;
constexpr std::size_t kPortsMax = 16;
constexpr int kMsMax = 10'000;

// Values of a wrong type or out of range throw; only this function catches the exceptions.
template <class Word, class Read>
std::optional<Word> decode(std::string_view text, const Read& read) {
  try {
    Word word;
    return read(Json::parse(text), word) ? std::optional(std::move(word)) : std::nullopt;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

bool sane(double value) {
  return std::isfinite(value) && value >= -1;
}

std::string dump(const Json& json) {
  return json_text(json);
}

// Checks the value first: get<int>() of 1e300 would be undefined.
int whole(const Json& json) {
  const double value = json.get<double>();
  return std::isfinite(value) && std::fabs(value) < 1e9 ? static_cast<int>(value) : -2;
}

bool read_ports(const Json& json, std::vector<std::uint16_t>& ports) {
  for (const Json& port : json) {
    const int number = whole(port);
    if (number < 1 || number > 65535) return false;
    ports.push_back(static_cast<std::uint16_t>(number));
  }
  return !ports.empty() && ports.size() <= kPortsMax;
}

}  // namespace

std::string encode(const AgentHello& hello) {
  return dump({{"name", hello.name},
               {"machine", hello.machine},
               {"addresses", hello.addresses},
               {"ports", hello.ports},
               {"speed", hello.speed_mbps}});
}

std::string encode(const PeerList& peers) {
  return dump({{"session", peers.session},
               {"self", peers.self},
               {"addresses", peers.addresses},
               {"ports", peers.ports}});
}

std::string encode(const AgentJob& job) {
  return dump({{"probe", job.probe},
               {"load", job.load},
               {"to", job.to},
               {"ms", job.ms},
               {"gb_per_s", job.gb_per_s}});
}

std::string encode(const AgentAnswer& answer) {
  Json measured = Json::array();
  for (const order::Measurement& one : answer.measured)
    measured.push_back({one.answered ? one.round_trip_us : -1, one.hops});
  return dump({{"measured", measured},
               {"received", answer.received_gb_per_s},
               {"received_bytes", answer.received_bytes},
               {"sent_bytes", answer.sent_bytes}});
}

std::optional<AgentHello> decode_hello(std::string_view text) {
  return decode<AgentHello>(
      text,
      [](const Json& json, AgentHello& hello) {
        hello.name = json.at("name").get<std::string>();
        hello.machine = json.at("machine").get<std::string>();
        hello.addresses = json.at("addresses").get<std::vector<std::string>>();
        hello.speed_mbps = whole(json.at("speed"));
        return !hello.name.empty() && !hello.addresses.empty() && hello.speed_mbps >= 0 &&
               read_ports(json.at("ports"), hello.ports);
      });
}

std::optional<PeerList> decode_peers(std::string_view text) {
  return decode<PeerList>(
      text,
      [](const Json& json, PeerList& peers) {
        peers.session = json.at("session").get<std::uint64_t>();
        peers.self = whole(json.at("self"));
        peers.addresses = json.at("addresses").get<std::vector<std::string>>();
        const std::size_t hosts = peers.addresses.size();
        const Json& ports = json.at("ports");
        if (hosts > kHostsMax || ports.size() != hosts || peers.self < 0 ||
            static_cast<std::size_t>(peers.self) >= hosts)
          return false;
        peers.ports.resize(hosts);
        for (std::size_t i = 0; i < hosts; ++i)
          if (!read_ports(ports.at(i), peers.ports[i])) return false;
        return true;
      });
}

std::optional<AgentJob> decode_job(std::string_view text) {
  return decode<AgentJob>(
      text,
      [](const Json& json, AgentJob& job) {
        for (const Json& host : json.at("probe")) {
          job.probe.push_back(whole(host));
          if (job.probe.back() < 0 || job.probe.size() > kHostsMax) return false;
        }
        job.load = json.at("load").get<bool>();
        job.to = whole(json.at("to"));
        job.ms = whole(json.at("ms"));
        job.gb_per_s = json.at("gb_per_s").get<double>();
        return job.to >= -1 && job.ms >= 0 && job.ms <= kMsMax && sane(job.gb_per_s);
      });
}

std::optional<AgentAnswer> decode_answer(std::string_view text) {
  return decode<AgentAnswer>(
      text,
      [](const Json& json, AgentAnswer& answer) {
        for (const Json& one : json.at("measured")) {
          const double us = one.at(0).get<double>();
          const int hops = whole(one.at(1));
          if (!sane(us) || hops < -1 || hops > 255) return false;
          answer.measured.push_back({us >= 0, us, hops});
        }
        answer.received_gb_per_s = json.at("received").get<double>();
        answer.received_bytes = json.at("received_bytes").get<double>();
        answer.sent_bytes = json.at("sent_bytes").get<double>();
        return sane(answer.received_gb_per_s) && sane(answer.received_bytes) &&
               sane(answer.sent_bytes);
      });
}

}  // namespace dlcp::cli
