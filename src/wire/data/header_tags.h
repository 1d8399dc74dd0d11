// Headers and tags of several uncompressed data packets at once. With AVX2 a tag takes about 60
// instructions instead of 200. A run is a sequence of packets that each continue the one before:
// same header, but the next packet number, and the offset at which the previous payload ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "util/hash/siphash_lanes.h"
#include "wire/data/data_header.h"
#include "wire/packet.h"

namespace dlcp::wire {

inline constexpr std::size_t kTagsTogether = kSipLanes;

// Writes the headers of a run, without tags. `first` is the first header; all payloads but the last
// have `payload_bytes`.
void encode_run(const DataHeader& first, std::size_t payload_bytes, std::span<TxPacket> packets);
// Sets DataHeader::asks_ack in a header that encode_run() wrote.
void ask_ack(TxPacket& packet);
// Writes the tag of one of them, with any protection.
void seal_header(const DataSeal& seal, std::uint64_t number, TxPacket& packet);
// Writes their tags, with Protection::kHeader. The packets are numbered from `number`.
void seal_headers(const Key& key, std::uint64_t number, std::span<TxPacket> packets);

// True if the first kTagsTogether packets are such packets to `destination`, and authentic under
// numbers whose kUnsentBits are those of `number`. False if they must be checked one by one.
bool authentic_together(std::span<const RxPacket> packets, std::uint64_t destination,
                        const DataSeal& seal, std::uint64_t number);

// The number of packets at the front that are authentic and form a run with payloads of one length,
// from one host, with one ECN mark. It is a multiple of kTagsTogether; 0 says nothing about the
// packets. `number` is the full packet number of the first.
std::size_t authentic_run(std::span<const RxPacket> packets, const DataSeal& seal,
                          std::uint64_t number);

}  // namespace dlcp::wire
