// The handle: DLCP's own decode correctly, and every foreign one is refused with a message, up to
// the connect call.
#include "nccl/net/handle.h"

#include "catch.h"
#include "datapath/address/device_address.h"
#include "nccl/plugin.h"
#include "util/rng.h"
#include "wire/frame_head.h"

namespace {

using namespace dlcp::test;
namespace nccl = dlcp::nccl;

nccl::Handle example() {
  dlcp::datapath::DeviceAddress address;
  address.ip = dlcp::datapath::parse_ip_address("127.0.0.1").value();
  address.add(dlcp::datapath::LocatorKind::kUdpPort, 50000);
  return {{7, {0x1122334455667788u, 0x99aabbccddeeff01u}},
          dlcp::datapath::encode(address),
          0xc0000001,
          "1.2.3",
          {10'000, 65'536, 100'000, 15'000}};
}

std::string refusal(const Handle& bytes) {
  const auto decoded = nccl::decode_handle(bytes);
  return decoded.ok() ? "accepted" : decoded.error().message();
}

}  // namespace

TEST_CASE("a handle survives encoding and decoding, whatever its ticket") {
  Handle bytes;
  nccl::encode_handle(example(), bytes);
  CHECK(nccl::ticket_of(bytes) == 0);
  nccl::set_ticket(bytes, 77);
  CHECK(nccl::ticket_of(bytes) == 77);
  auto decoded = nccl::decode_handle(bytes);
  REQUIRE(decoded.ok());
  CHECK(decoded->listener == example().listener);
  CHECK(decoded->secret_fingerprint == 0xc0000001);
  CHECK(decoded->address == example().address);
  CHECK(decoded->plugin_version == "1.2.3");
  CHECK(decoded->terms == example().terms);
}

TEST_CASE("a refusal that names a long path still contains the setting and the reason") {
  Handle bytes;
  nccl::encode_refusal(
      "DLCP_PLAN = '/" + std::string(200, 'x') + "/plan.json': the plan is for broadcast", bytes);
  CHECK_THAT(refusal(bytes), Contains("it does not take part: DLCP_PLAN = '/") &&
                                 Contains("...x") &&
                                 Contains("x/plan.json': the plan is for broadcast"));
  const std::string fits(116, 'y');
  nccl::encode_refusal(fits, bytes);
  CHECK_THAT(refusal(bytes), Contains(fits));
}

TEST_CASE("foreign handles are refused with a message that names both sides") {
  Handle bytes{};
  CHECK_THAT(refusal(bytes), Contains("another network plugin") && Contains("0000000000000000") &&
                                 Contains("DLCPnet") && Contains("NCCL_NET=DLCP"));
  nccl::encode_handle(example(), bytes);
  bytes[9] = std::byte{9};
  CHECK_THAT(refusal(bytes),
             Contains("DLCP 1.2.3") && Contains("wire version 9") &&
                 Contains("wire version " + std::to_string(dlcp::wire::kWireVersion)));
  nccl::encode_handle(example(), bytes);
  bytes[40] ^= std::byte{1};
  CHECK_THAT(refusal(bytes), Contains("damaged"));
}

TEST_CASE("the handle shows whether a rank has a switch, and whether it encrypts") {
  for (int flags = 0; flags < 4; ++flags) {
    nccl::Handle handle = example();
    handle.terms.encrypts = (flags & 1) != 0;
    handle.terms.by_switch = (flags & 2) != 0;
    Handle bytes;
    nccl::encode_handle(handle, bytes);
    CHECK(nccl::decode_handle(bytes)->terms == handle.terms);
  }
  nccl::AgreedTerms ours, theirs;
  theirs.by_switch = true;
  CHECK_THAT(nccl::check_terms(ours, theirs).error().message(),
             Contains("the peer's rank has a DLCP_COLLNET_SWITCH, but this rank has none"));
  CHECK_THAT(nccl::check_terms(theirs, ours).error().message(),
             Contains("this rank has a DLCP_COLLNET_SWITCH, but the peer's rank has none"));
}

TEST_CASE(
    "ranks that would choose different algorithms are refused with a message that names both") {
  const auto terms = example().terms;
  CHECK(nccl::check_terms(terms, terms).ok());
  const auto refused = nccl::check_terms({.latency_ns = terms.latency_ns}, terms);
  REQUIRE_FALSE(refused.ok());
  CHECK_THAT(refused.error().message(), Contains("the peer's rank may lose 1%") &&
                                            Contains("but this rank may lose 0%") &&
                                            Contains("DLCP_LOSS_BUDGET"));
  for (const auto part : {&nccl::AgreedTerms::bytes_min, &nccl::AgreedTerms::margin_ppm}) {
    auto other = terms;
    other.*part = 0;
    CHECK_FALSE(nccl::check_terms(other, terms).ok());
  }
  auto elsewhere = terms;
  elsewhere.latency_ns = 0;
  CHECK_THAT(nccl::check_terms(elsewhere, terms).error().message(),
             Contains("the peer's rank reports a latency of 15 us to NCCL, but this rank 0 us") &&
                 Contains("DLCP_ORDER"));
}

TEST_CASE("a handle with one damaged byte, also in the ticket, is refused") {
  Handle intact;
  nccl::encode_handle(example(), intact);
  nccl::set_ticket(intact, 5);
  dlcp::Rng rng(4);
  for (std::size_t i = 0; i < intact.size(); ++i) {
    Handle bytes = intact;
    bytes[i] ^= static_cast<std::byte>(1 + rng.below(255));
    CHECK(refusal(bytes) != "accepted");
  }
}

TEST_CASE("ranks with different DLCP_SECRET_FILE are refused with a message") {
  // When fingerprints had 8 bits, those of this pair were equal.
  const std::uint32_t ours = dlcp::wire::fingerprint({1, 2});
  nccl::Handle peer = example();
  peer.secret_fingerprint = dlcp::wire::fingerprint({330, 4});
  Handle bytes;
  nccl::encode_handle(peer, bytes);
  const std::uint32_t theirs = nccl::decode_handle(bytes)->secret_fingerprint;
  CHECK(nccl::check_secret(ours, ours).ok());
  CHECK(nccl::check_secret(0, 0).ok());
  CHECK_THAT(nccl::check_secret(ours, theirs).error().message(),
             Contains("the secrets in DLCP_SECRET_FILE"));
  CHECK_THAT(nccl::check_secret(ours, 0).error().message(),
             Contains("this rank has a DLCP_SECRET_FILE, but the peer's rank has none"));
  CHECK_THAT(nccl::check_secret(0, theirs).error().message(),
             Contains("the peer's rank has a DLCP_SECRET_FILE, but this rank has none"));
}

TEST_CASE("connect refuses a peer of another plugin, version or address family at once") {
  set_environment();
  Plugin plugin;
  Rank rank(plugin.net());
  void* comm = &rank;
  Handle foreign{};
  take_log();
  CHECK(plugin.net().connect(rank.context(), 0, foreign.data(), &comm, nullptr) ==
        ResultCode::kInvalidUsage);
  CHECK(comm == nullptr);
  CHECK_THAT(take_log().back(), Contains("another network plugin"));

  nccl::Handle v6 = example();
  dlcp::datapath::DeviceAddress address;
  address.ip = dlcp::datapath::parse_ip_address("2001:db8::1").value();
  address.add(dlcp::datapath::LocatorKind::kUdpPort, 50000);
  v6.address = dlcp::datapath::encode(address);
  v6.secret_fingerprint = 0;
  Handle bytes;
  nccl::encode_handle(v6, bytes);
  CHECK(plugin.net().connect(rank.context(), 0, bytes.data(), &comm, nullptr) ==
        ResultCode::kInvalidUsage);
  CHECK_THAT(take_log().back(), Contains("IPv6") && Contains("IPv4") && Contains("2001:db8::1") &&
                                    Contains("DLCP_IFNAME"));
}

TEST_CASE("the ticket of another handle's pending connect finds nothing") {
  set_environment();
  Plugin plugin;
  Rank from(plugin.net());
  Rank to(plugin.net());
  void* listeners[2] = {};
  Handle handles[2] = {};
  for (int i = 0; i < 2; ++i) {
    REQUIRE(plugin.net().listen(to.context(), 0, handles[i].data(), &listeners[i]) ==
            ResultCode::kSuccess);
  }
  void* first = nullptr;
  REQUIRE(plugin.net().connect(from.context(), 0, handles[0].data(), &first, nullptr) ==
          ResultCode::kSuccess);
  REQUIRE(first == nullptr);
  nccl::set_ticket(handles[1], nccl::ticket_of(handles[0]));
  void* second = nullptr;
  void* accepted = nullptr;
  CHECK(within(std::chrono::seconds(10), [&] {
    if (second == nullptr)
      plugin.net().connect(from.context(), 0, handles[1].data(), &second, nullptr);
    if (accepted == nullptr) plugin.net().accept(listeners[1], &accepted, nullptr);
    return second != nullptr && accepted != nullptr;
  }));
  plugin.net().closeSend(second);
  plugin.net().closeRecv(accepted);
  for (void* listener : listeners)
    plugin.net().closeListen(listener);
}
