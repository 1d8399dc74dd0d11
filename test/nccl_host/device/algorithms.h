// The algorithms that the cases need: rings, and the chain of a node's ranks to the rank that
// passes its sums to the CollNet plugin.
#pragma once

#include <thread>

#include "collectives.h"  // NCCL's
#include "links.h"

namespace nccl_host {

template <class T>
struct Part {  // this channel's part, in elements
  ssize_t count = 0;
  ssize_t offset = 0;
  ssize_t size = 0;
  ssize_t chunk = 0;
};

template <class T>
Part<T> part_of(const Channel& channel, ncclDevWorkColl* work) {
  Part<T> part;
  ncclCollCbdPart<ssize_t>(work, static_cast<std::uint32_t>(channel.id()), NCCL_PROTO_SIMPLE,
                           sizeof(T), &part.count, &part.offset, &part.size, &part.chunk);
  return part;
}

// A ring through which every chunk passes twice: first summed, then distributed.
template <class T>
void all_reduce_ring(Channel& channel, ncclDevWorkColl* work, Operation<T> operation) {
  const ncclRing& ring = channel.device().ring;
  const int ranks = channel.comm().nRanks;
  const Part<T> part = part_of<T>(channel, work);
  Links<T> links(channel, *work, operation,
                 {ALLREDUCE_CHUNKSTEPS / ALLREDUCE_SLICESTEPS, ALLREDUCE_SLICESTEPS}, 0);
  links.receive_from(ring.prev);
  links.send_to(ring.next);
  for (ssize_t base = 0; base < part.size && !channel.is_aborted(); base += ranks * part.chunk) {
    const ssize_t left = part.size - base;
    ssize_t chunk = part.chunk;
    if (left < ranks * chunk) {
      constexpr auto kAlign = static_cast<ssize_t>(16 / sizeof(T));
      chunk = ((left + ranks - 1) / ranks + kAlign - 1) / kAlign * kAlign;
    }
    const auto first = [&](int step) { return (ring.index + ranks - step) % ranks * chunk; };
    const auto at = [&](int step) { return part.offset + base + first(step); };
    const auto length = [&](int step) { return std::min(chunk, left - first(step)); };
    links.run({false, true, at(1), Links<T>::kNone, false}, length(1));
    for (int step = 2; step < ranks; ++step)
      links.run({true, true, at(step), Links<T>::kNone, false}, length(step));
    links.run({true, true, at(0), at(0), true}, length(0));
    for (int step = 1; step < ranks - 1; ++step)
      links.run({true, true, Links<T>::kNone, at(step), false}, length(step));
    links.run({true, false, Links<T>::kNone, at(ranks - 1), false}, length(ranks - 1));
  }
}

template <class T>
void reduce_scatter_ring(Channel& channel, ncclDevWorkColl* work, Operation<T> operation) {
  const ncclRing& ring = channel.device().ring;
  const int ranks = channel.comm().nRanks;
  const Part<T> part = part_of<T>(channel, work);
  Links<T> links(channel, *work, operation,
                 {REDUCESCATTER_CHUNKSTEPS / REDUCESCATTER_SLICESTEPS, REDUCESCATTER_SLICESTEPS},
                 0);
  links.receive_from(ring.prev);
  links.send_to(ring.next);
  for (ssize_t base = 0; base < part.size && !channel.is_aborted(); base += part.chunk) {
    const ssize_t at = part.offset + base;
    const ssize_t length = std::min(part.chunk, part.size - base);
    const auto of_rank = [&](int step) { return at + ring.userRanks[step] * part.count; };
    links.run({false, true, of_rank(ranks - 1), Links<T>::kNone, false}, length);
    for (int step = 2; step < ranks; ++step)
      links.run({true, true, of_rank(ranks - step), Links<T>::kNone, false}, length);
    links.run({true, false, of_rank(0), at, true}, length);
  }
}

inline void all_gather_ring(Channel& channel, ncclDevWorkColl* work) {
  using Byte = std::uint8_t;
  const ncclRing& ring = channel.device().ring;
  const int ranks = channel.comm().nRanks;
  const Part<Byte> part = part_of<Byte>(channel, work);
  Links<Byte> links(channel, *work, {ncclDevSum, 0},
                    {ALLGATHER_CHUNKSTEPS / ALLGATHER_SLICESTEPS, ALLGATHER_SLICESTEPS}, 0);
  links.receive_from(ring.prev);
  links.send_to(ring.next);
  for (ssize_t base = 0; base < part.size && !channel.is_aborted(); base += part.chunk) {
    const ssize_t at = part.offset + base;
    const ssize_t length = std::min(part.chunk, part.size - base);
    const auto of_rank = [&](int step) { return at + ring.userRanks[step] * part.count; };
    links.run({false, true, at, of_rank(0), false}, length);
    for (int step = 1; step < ranks - 1; ++step)
      links.run({true, true, Links<Byte>::kNone, of_rank(ranks - step), false}, length);
    links.run({true, false, Links<Byte>::kNone, of_rank(1), false}, length);
  }
}

// The network uses registered buffers directly: it only needs the times.
inline void all_reduce_registered(Channel& channel) {
  auto* const network = channel.device().peers[channel.comm().nRanks];
  if (channel.device().collnetChain.down[0] != -1)
    die("a chain of several ranks over registered buffers", channel.id());
  ncclConnInfo& send = network->send[1];
  ncclConnInfo& receive = network->recv[0];
  write_counter(send.tail, ++send.step);
  const std::uint64_t step = ++receive.step;
  write_counter(receive.head, step);
  channel.wait([&] { return read_counter(receive.tail) >= step; });
}

// Along the chain of the node's ranks, through the network at its head, and back; both directions
// at the same time, as by two groups of warps.
template <class T>
void all_reduce_chain(Channel& channel, ncclDevWorkColl* work, Operation<T> operation) {
  if (work->netRegUsed != 0) return all_reduce_registered(channel);
  const ncclTree& chain = channel.device().collnetChain;
  const ssize_t chunk = work->collnet.chunkCount;
  const auto size = static_cast<ssize_t>(work->collnet.count);
  const ssize_t first = (channel.id() - work->channelLo) * chunk;
  const ssize_t stride = (work->channelHi - work->channelLo + 1) * chunk;
  const int network = channel.comm().nRanks;
  const bool is_leaf = chain.down[0] == -1;

  const auto go = [&](Channel& own, int connection, int from, int to, auto step_at) {
    Links<T> links(own, *work, operation, {1, 1}, connection);
    links.receive_from(from);
    links.send_to(to);
    for (ssize_t at = first; at - first < size && !own.is_aborted(); at += stride)
      links.run(step_at(at), std::min(chunk, size - at));
  };
  Channel other = channel;
  std::thread down([&] {
    go(
        other, 0, chain.up, chain.down[0],
        [&](ssize_t at) -> typename Links<T>::Step {
          return {true, !is_leaf, Links<T>::kNone, at, chain.up == network};
        });
  });
  go(channel, 1, chain.down[0], chain.up, [&](ssize_t at) -> typename Links<T>::Step {
    return {!is_leaf, true, at, Links<T>::kNone, false};
  });
  down.join();
  channel.join(other);
}

}  // namespace nccl_host
