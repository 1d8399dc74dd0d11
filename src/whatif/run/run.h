// The recording of one rank's collectives (DLCP_PROFILE_FILE). The plugin writes it, `dlcp
// whatif` reads it. Times are nanoseconds of the rank's own clock; clocks of ranks are not
// compared.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dlcp::whatif {

// The properties of collectives besides their size.
struct Kind {
  std::string function;   // NCCL's name: "AllReduce"
  std::string type;       // "float32"
  std::string algorithm;  // "RING"; empty for Send and Recv
  std::string protocol;   // "SIMPLE"
  std::uint32_t channels = 0;

  bool is_point_to_point() const { return function == "Send" || function == "Recv"; }
  bool operator==(const Kind&) const = default;
};

struct Communicator {
  std::uint64_t id = 0;     // NCCL's, the same on all ranks
  std::uint32_t rank = 0;   // of this process in it
  std::uint32_t ranks = 1;  // in it
};

struct Record {
  std::uint32_t communicator = 0;  // indices of Run's lists
  std::uint32_t kind = 0;
  // Among the communicator's collectives, the same on all ranks; or among this rank's sends and
  // receives, which have numbers of their own.
  std::uint64_t sequence = 0;
  std::uint64_t bytes = 0;  // of the whole buffer: for AllGather and ReduceScatter of all ranks
  std::int64_t enqueued_ns = 0;  // when the application called NCCL
  std::int64_t start_ns = 0;     // when this rank was ready: its kernel, or its proxy, began
  std::int64_t end_ns = 0;
  std::int64_t blocked_ns = 0;  // at least one receive of the observed channel was outstanding
  std::int64_t overlap_ns = 0;  // other recorded collectives were in flight, too

  std::int64_t duration_ns() const { return end_ns - start_ns; }
};

// How far the code of src/compression shortens samples of the job's buffers.
struct BufferSample {
  std::string type;  // as in Kind
  std::uint64_t samples = 0;
  double ratio = 1;  // bytes before, for one after
};

struct Run {
  std::int32_t rank = -1;  // in the largest communicator; -1: unknown
  std::uint32_t ranks = 1;
  std::string host;
  std::int64_t pid = 0;
  std::uint64_t collectives = 0;  // that ended, also those whose record has been overwritten
  std::string starts;             // what start_ns is: "kernel" or "proxy"
  std::string buffers;            // why there are no samples; empty if there are some
  // Bytes of the messages that DLCP's own connections compressed, and of the packets that carried
  // them.
  std::uint64_t compressed_bytes = 0;
  std::uint64_t compressed_wire_bytes = 0;
  std::vector<Communicator> communicators;
  std::vector<Kind> kinds;
  std::vector<BufferSample> samples;
  std::vector<Record> records;
};

}  // namespace dlcp::whatif
