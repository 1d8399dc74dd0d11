// Knob table, config file and environment: accepted values, and the exact text of every refusal.
#include "catch.h"
#include "core/config.h"
#include "engine/settings/config_file.h"
#include "engine/settings/environment.h"
#include "engine/settings/knobs.h"
#include "engine/settings/settings.h"
#include "no_open_files.h"

namespace {

using dlcp::Result;
using dlcp::engine::Settings;
using dlcp::engine::Variables;

Result<Settings> load(const Variables& environment,
                      std::optional<std::string> file = std::nullopt) {
  return dlcp::engine::load_settings(
      environment, [&](const std::string&) -> Result<std::optional<std::string>> { return file; });
}

std::string refusal(const Variables& environment, std::optional<std::string> file = std::nullopt) {
  const auto settings = load(environment, std::move(file));
  return settings.ok() ? "accepted" : settings.error().message();
}

}  // namespace

TEST_CASE("without settings every knob has the table's default") {
  auto settings = load({});
  REQUIRE(settings.ok());
  CHECK(settings->paths == 16);
  CHECK(settings->peer_timeout == std::chrono::seconds(30));
  CHECK(settings->eager_bytes == 65536);
  CHECK(settings->gso);
  CHECK(settings->interfaces.empty());
  CHECK(settings->effective.size() == dlcp::engine::knobs().size());
  for (const auto& one : settings->effective)
    CHECK(one.origin == "default");
}

// The core and datapaths can be used without settings; then they use the values of a job.
TEST_CASE("the core's built-in values equal the table's defaults") {
  const Settings defaults = dlcp::engine::default_settings();
  const dlcp::core::Config core;
  CHECK(core.paths == defaults.paths);
  CHECK(core.burst_packets_max == defaults.burst_packets_max);
  CHECK(core.peer_timeout == defaults.peer_timeout);
  CHECK(core.protection == defaults.protection);
  CHECK(core.target_delay == defaults.target_delay);
  CHECK(core.eager_bytes == defaults.eager_bytes);
  CHECK(core.licence_bytes_min == defaults.loss_bytes_min);
}

TEST_CASE("the environment takes precedence over the file, and the file over the default") {
  auto settings =
      load({{"DLCP_PATHS", "8"}, {"DLCP_PEER_TIMEOUT", "2.5"}},
           "# site defaults\nDLCP_PATHS = 4\n\nDLCP_BURST=3 # short\n DLCP_EAGER = 128K\r\n");
  REQUIRE(settings.ok());
  CHECK(settings->paths == 8);
  CHECK(settings->burst_packets_max == 3);
  CHECK(settings->eager_bytes == 131072);
  CHECK(settings->peer_timeout == std::chrono::milliseconds(2500));
  const auto lines = dlcp::engine::effective_lines(settings.value());
  CHECK_THAT(lines[0], Contains("DLCP_PATHS=8 (environment)"));
  CHECK_THAT(lines[0], Contains("DLCP_BURST=3 (/etc/dlcp.conf:4)"));
  CHECK_THAT(lines[1], Contains("DLCP_CHECKSUM=header"));
}

TEST_CASE(
    "a budget for the whole process needs the user's statement that all reductions are gradients") {
  CHECK_THAT(refusal({{"DLCP_LOSS_BUDGET", "0.01"}}),
             Contains("DLCP_LOSS_BUDGET would allow loss") &&
                 Contains("DLCP_LOSS_SCOPE=data-parallel") && Contains("dlcp traffic-class"));
  CHECK_THAT(refusal({{"DLCP_LOSS_BUDGET", "0.3"}, {"DLCP_LOSS_SCOPE", "data-parallel"}}),
             Contains("DLCP_LOSS_BUDGET = '0.3'") && Contains("0.25"));
  auto settings = load({{"DLCP_LOSS_BUDGET", "0.0125"}, {"DLCP_LOSS_SCOPE", "data-parallel"}});
  REQUIRE(settings.ok());
  CHECK(settings->loss_budget_ppm == 12500);
  CHECK(load({{"DLCP_LOSS_BUDGET", "0"}})->loss_budget_ppm == 0);
}

TEST_CASE("RDMA devices fall back to NCCL_IB_HCA, and a GID index may be -1 or a number") {
  CHECK(load({{"NCCL_IB_HCA", "=mlx5_0:1"}}).value().hcas == "=mlx5_0:1");
  CHECK(load({{"NCCL_IB_HCA", "a"}, {"DLCP_HCA", "b"}}).value().hcas == "b");
  CHECK(load({}).value().gid_index == -1);
  CHECK(load({{"DLCP_GID_INDEX", "3"}}).value().gid_index == 3);
  for (const char* bad : {"-2", "65536", "", "3x"})
    CHECK_FALSE(load({{"DLCP_GID_INDEX", bad}}).ok());
  CHECK(load({}).value().datapath == dlcp::engine::DatapathChoice::kAuto);
  CHECK(load({{"DLCP_DATAPATH", "verbs"}}).value().datapath ==
        dlcp::engine::DatapathChoice::kVerbs);
}

TEST_CASE("NCCL_SOCKET_FAMILY chooses the address family, and other values are ignored") {
  CHECK(load({}).value().family == std::nullopt);
  CHECK(load({{"NCCL_SOCKET_FAMILY", "AF_INET"}}).value().family == dlcp::datapath::IpFamily::kV4);
  CHECK(load({{"NCCL_SOCKET_FAMILY", "AF_INET6"}}).value().family == dlcp::datapath::IpFamily::kV6);
  CHECK(load({{"NCCL_SOCKET_FAMILY", "inet6"}}).value().family == std::nullopt);
}

TEST_CASE("interfaces fall back to NCCL_SOCKET_IFNAME, which never overrides DLCP_IFNAME") {
  CHECK(load({{"NCCL_SOCKET_IFNAME", "=lo"}}).value().interfaces == "=lo");
  CHECK(load({{"NCCL_SOCKET_IFNAME", "=lo"}, {"DLCP_IFNAME", "eth"}}).value().interfaces == "eth");
  CHECK(load({{"NCCL_SOCKET_IFNAME", "=lo"}}, "DLCP_IFNAME = ib\n").value().interfaces == "ib");
}

TEST_CASE("a refusal names variable, value, origin and range") {
  CHECK(refusal({{"DLCP_PATHS", "0"}}) ==
        "DLCP_PATHS = '0' (environment) is not valid; give 1..256");
  CHECK(refusal({{"DLCP_PATHS", "257"}}) ==
        "DLCP_PATHS = '257' (environment) is not valid; give 1..256");
  CHECK(refusal({}, "\nDLCP_BURST = many\n") ==
        "DLCP_BURST = 'many' (/etc/dlcp.conf:2) is not valid; give 0 (auto) or 1..64");
  CHECK(refusal({{"DLCP_CHECKSUM", "none"}}) ==
        "DLCP_CHECKSUM = 'none' (environment) is not valid; give header|full");
  CHECK(refusal({{"DLCP_GSO", "yes"}}) ==
        "DLCP_GSO = 'yes' (environment) is not valid; give 0 or 1");
  CHECK(refusal({{"DLCP_PEER_TIMEOUT", "0.05"}}) ==
        "DLCP_PEER_TIMEOUT = '0.05' (environment) is not valid; give 0.1..3600 s, or 200us, 5ms or "
        "1.5s");
  CHECK(
      refusal({{"DLCP_EAGER", "1MX"}}) ==
      "DLCP_EAGER = '1MX' (environment) is not valid; give 0 (none) or 1..16777216 bytes, or 64k, "
      "1MiB (powers of 1024) or 1MB (of 1000)");
  CHECK(refusal({{"DLCP_LOSS_BUDGET", "1e-9"}}) ==
        "DLCP_LOSS_BUDGET = '1e-9' (environment) is not valid; give 0 (exact) or 1e-06..0.25, as "
        "0.01 or 1%");
}

TEST_CASE("numbers are exact: no sign, blank, fraction or overflow is accepted") {
  for (const char* bad : {"", " 4", "4 ", "-1", "+4", "4.0", "0x4", "99999999999999999999", "4K"})
    CHECK_THAT(refusal({{"DLCP_PATHS", bad}}), Contains("is not valid"));
  for (const char* bad : {"", "nan", "inf", "1e9", "-3", "3x", "3 s"})
    CHECK_THAT(refusal({{"DLCP_PEER_TIMEOUT", bad}}), Contains("is not valid"));
  for (const char* bad : {"K", "1T", "18446744073709551615G", "1KK"})
    CHECK_THAT(refusal({{"DLCP_RCVBUF", bad}}), Contains("is not valid"));
  CHECK(load({{"DLCP_RCVBUF", "4M"}}).value().receive_buffer_bytes == std::size_t{4} << 20);
  CHECK(load({{"DLCP_RCVBUF", "0"}}).value().receive_buffer_bytes == 0);
}

TEST_CASE("sizes, shares and times are written as on the command line") {
  CHECK(load({{"DLCP_EAGER", "64k"}})->eager_bytes == 65536);
  CHECK(load({{"DLCP_EAGER", "1MiB"}})->eager_bytes == 1048576);
  CHECK(load({{"DLCP_EAGER", "1MB"}})->eager_bytes == 1000000);
  CHECK(load({{"DLCP_LOSS_BUDGET", "1%"}, {"DLCP_LOSS_SCOPE", "data-parallel"}})->loss_budget_ppm ==
        10000);
  CHECK(load({{"DLCP_TUNER_MARGIN", "5%"}})->tuner_margin == Approx(0.05));
  CHECK(load({{"DLCP_TARGET_DELAY", "200us"}})->target_delay == std::chrono::microseconds(200));
  CHECK(load({{"DLCP_TARGET_DELAY", "1ms"}})->target_delay == std::chrono::milliseconds(1));
  CHECK(load({{"DLCP_TARGET_DELAY", "150"}})->target_delay == std::chrono::microseconds(150));
  CHECK(load({{"DLCP_PEER_TIMEOUT", "500ms"}})->peer_timeout == std::chrono::milliseconds(500));
  CHECK(load({{"DLCP_LINGER", "1s"}})->linger == std::chrono::seconds(1));
  for (const char* bad : {"nan", "-1%", "26%", "1e-9"})
    CHECK_THAT(refusal({{"DLCP_LOSS_BUDGET", bad}}), Contains("is not valid"));
}

TEST_CASE("an unknown name is refused with the most similar known name") {
  CHECK(refusal({{"DLCP_PATH", "4"}}) ==
        "DLCP_PATH (environment) is not a setting of this plugin; did you mean DLCP_PATHS?");
  CHECK(refusal({}, "DLCP_PEERTIMEOUT = 3") ==
        "DLCP_PEERTIMEOUT (/etc/dlcp.conf:1) is not a setting of this plugin; did you mean "
        "DLCP_PEER_TIMEOUT?");
  CHECK(refusal({{"DLCP_peer_timeout", "3"}}) ==
        "DLCP_peer_timeout (environment) is not a setting of this plugin; did you mean "
        "DLCP_PEER_TIMEOUT?");
  CHECK(
      refusal({}, "DLCP_SOMETHING_ELSE = 4") ==
      "DLCP_SOMETHING_ELSE (/etc/dlcp.conf:1) is not a setting of this plugin; 'dlcp knobs' lists "
      "all settings");
}

TEST_CASE("a variable similar to no setting is ignored, and one line lists all of them") {
  CHECK(unknown_line(load({{"DLCP_PATHS", "4"}}).value()).empty());
  auto settings = load({{"DLCP_BUILD", "x"}, {"DLCP_PATHS", "4"}, {"DLCP_HOME", "/opt"}});
  REQUIRE(settings.ok());
  CHECK(settings->paths == 4);
  CHECK(settings->unknown == std::vector<std::string>{"DLCP_BUILD", "DLCP_HOME"});
  CHECK(
      unknown_line(settings.value()) ==
      "ignoring environment variables that are not settings of this plugin: DLCP_BUILD, DLCP_HOME; "
      "`dlcp knobs` lists all settings");
}

TEST_CASE("the line about unknown variables has a bounded length") {
  Variables many;
  for (int i = 0; i < 20; ++i)
    many.emplace_back("DLCP_SITE_" + std::string(100, 'X') + std::to_string(i), "");
  const std::string line = unknown_line(load(many).value());
  CHECK(line.size() < 900);
  CHECK_THAT(line, Contains(" and 12 more; "));
}

TEST_CASE("an ambiguous config file is refused") {
  CHECK(refusal({}, "DLCP_PATHS 4\n") ==
        "/etc/dlcp.conf:1: cannot read 'DLCP_PATHS 4'; write NAME = value, or a comment that "
        "begins with #");
  CHECK(refusal({}, "= 4\n") ==
        "/etc/dlcp.conf:1: cannot read '= 4'; write NAME = value, or a comment that begins with #");
  CHECK(refusal({}, "DLCP_PATHS = 4\nDLCP_PATHS = 5\n") ==
        "DLCP_PATHS is set twice, at /etc/dlcp.conf:1 and /etc/dlcp.conf:2; remove one");
  CHECK(refusal({}, "DLCP_CONFIG = x\n") ==
        "DLCP_CONFIG (/etc/dlcp.conf:1) cannot be set in a config file; set it in the environment");
}

TEST_CASE("a missing config file is an error only if its name was set") {
  CHECK(refusal({}) == "accepted");
  CHECK(refusal({{"DLCP_CONFIG", ""}}, "garbage") == "accepted");
  CHECK(refusal({{"DLCP_CONFIG", "/no/such"}}) ==
        "DLCP_CONFIG = '/no/such' (environment): no such file; create it, or unset the variable");
}

TEST_CASE("the error for an unreadable file has the setting that names it") {
  const auto folder = [](const std::string&) -> dlcp::Result<std::optional<std::string>> {
    return dlcp::Error{dlcp::ErrorCode::kInvalidUsage, "Is a directory", ""};
  };
  for (const char* knob : {"DLCP_CONFIG", "DLCP_CLASSES", "DLCP_SECRET_FILE"}) {
    Variables environment = {{knob, "/etc"}};
    if (std::string(knob) != "DLCP_CONFIG") environment.push_back({"DLCP_CONFIG", ""});
    const auto refused = dlcp::engine::load_settings(environment, folder);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().message() ==
          std::string(knob) + " = '/etc': cannot be read: Is a directory; make it readable for " +
              "this user, or name another file");
  }
  const auto refused = [] {
    const dlcp::test::NoOpenFiles limit;
    return dlcp::engine::load_settings({}, dlcp::engine::read_text_file);
  }();
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message() ==
        "DLCP_CONFIG = '/etc/dlcp.conf': cannot be read: Too many open files; raise the limit on "
        "open files (ulimit -n)");
  CHECK(dlcp::engine::read_text_file("/etc").error().what == "Is a directory");
  CHECK_FALSE(dlcp::engine::read_text_file("/no/such").value().has_value());
}

TEST_CASE("a site's class table is read from its file; errors are refused with line and value") {
  const Variables environment = {{"DLCP_CONFIG", ""}, {"DLCP_CLASSES", "/etc/classes"}};
  auto settings = load(environment, "exact.dscp = 26\ncontrol.ecn = ect1\n");
  REQUIRE(settings.ok());
  CHECK(settings->classes[1].dscp == 26);
  CHECK(settings->classes[0].ecn == dlcp::Ecn::kEct1);
  CHECK(settings->classes[2].dscp == dlcp::kTrafficClasses[2].dscp);
  CHECK_THAT(
      refusal(environment, "\nexact.dscp = 64"),
      Contains("DLCP_CLASSES = '/etc/classes', line 2") && Contains("'64'") && Contains("0 to 63"));
  CHECK_THAT(refusal(environment), Contains("'/etc/classes': no such file"));
}

TEST_CASE("a site's secret is 32 hexadecimal digits in a file, and is never printed") {
  const Variables environment = {{"DLCP_CONFIG", ""}, {"DLCP_SECRET_FILE", "/etc/secret"}};
  auto settings = load(environment, " 00112233445566778899aabbccddeeff\n");
  REQUIRE(settings.ok());
  CHECK(settings->site_secret == dlcp::wire::Key{0x0011223344556677u, 0x8899aabbccddeeffu});
  for (const std::string& line : dlcp::engine::effective_lines(settings.value()))
    CHECK(line.find("8899aabb") == std::string::npos);
  CHECK(load({{"DLCP_CONFIG", ""}})->site_secret == dlcp::wire::Key{});
  for (const char* wrong :
       {"", "password", "00112233445566778899aabbccddeef", "00112233445566778899aabbccddeefff",
        "0x112233445566778899aabbccddeeff", "00000000000000000000000000000000"}) {
    INFO(wrong);
    const std::string words = refusal(environment, wrong);
    CHECK_THAT(words, Contains("DLCP_SECRET_FILE = '/etc/secret'") && Contains("32 hexadecimal") &&
                          Contains("openssl rand -hex 16"));
    CHECK(words.find("password") == std::string::npos);
  }
  CHECK_THAT(refusal(environment), Contains("'/etc/secret': no such file"));
}

TEST_CASE("each knob accepts its own default and has a description") {
  for (const auto& knob : dlcp::engine::knobs()) {
    INFO(knob.name);
    Settings settings;
    CHECK(dlcp::engine::set_knob(settings, knob, knob.fallback, "default").ok());
    CHECK(*dlcp::engine::type_name(knob.type) != '\0');
    CHECK(std::string(knob.help).size() > 10);
  }
}
