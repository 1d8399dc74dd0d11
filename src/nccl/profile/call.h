// A collective, send or receive in the words of NCCL's profiler event, for the profile.
#pragma once

#include <cstdint>
#include <string_view>

#include "nccl/profile/profile.h"

namespace dlcp::nccl {

// Pointers are valid during the event only, and may be null.
struct ProfiledCall {
  const char* function = nullptr;
  const char* type = nullptr;
  const char* algorithm = nullptr;
  const char* protocol = nullptr;
  const void* buffer = nullptr;  // that is sent; null: not to be sampled
  std::uint64_t count = 0;
  std::uint32_t channels = 0;
};

template <class Coll>
ProfiledCall collective_call(const Coll& from) {
  return {from.func,     from.datatype, from.algo,     from.proto,
          from.sendBuff, from.count,    from.nChannels};
}

template <class P2p>
ProfiledCall point_to_point_call(const P2p& from) {
  return {from.func, from.datatype, nullptr, nullptr, nullptr, from.count, from.nChannels};
}

// Records the call and, from time to time, samples its buffer. `ranks`: of the communicator.
inline Recorder::Handle record_call(Profile& profile, Time now, std::uint32_t communicator,
                                    std::uint32_t ranks, const ProfiledCall& call,
                                    Recorder::Handle inner) {
  const auto word = [](const char* text) {
    return std::string(std::string_view(text != nullptr ? text : "").substr(0, 32));
  };
  const whatif::Kind kind{word(call.function), short_type_name(call.type), word(call.algorithm),
                          word(call.protocol), call.channels};
  const bool by_rank = kind.function == "AllGather" || kind.function == "ReduceScatter";
  const std::uint64_t bytes = call.count * element_bytes(kind.type);
  profile.sampler().look(now, kind.type, call.buffer, bytes);
  return profile.recorder().start_collective(now, communicator, kind,
                                             by_rank ? bytes * ranks : bytes, inner);
}

}  // namespace dlcp::nccl
