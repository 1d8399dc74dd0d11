#include "engine/lane/failures.h"

#include <set>
#include <string>
#include <utility>

#include "engine/opening/peer_trouble.h"

namespace dlcp::engine {

Error Failures::error_of(Time now, const core::Event& event) const {
  const Duration memory = 2 * pump_.endpoint().config().peer_timeout;
  return explain(trouble_of(datapath_, event, now, memory));
}

void Failures::closed(Time now, Connection& connection, const core::Event& event) {
  if (connection.failed.load(std::memory_order_relaxed)) return;
  const Error error = error_of(now, event);
  if (connection.leaves)
    notices_.log(
        LogLevel::kWarn,
        "the last messages of a closed connection may not have arrived: " + error.message());
  connection.ended_alone = event.ends_alone;
  end(connection, error);
  if (event.ends_alone) return;
  notices_.log(LogLevel::kWarn, error.message());
  notices_.failed(connection.context, error);
  pump_.endpoint().fail_context(now, connection.context, event.error);
  end_all(connection.context, error);
}

void Failures::device(Time now, const Error& error) {
  std::set<core::ContextId> contexts = listeners_.usable_contexts();
  contexts.merge(connections_.usable_contexts());
  const bool is_news = std::exchange(device_failure_, error.what) != error.what;
  if (is_news || !contexts.empty()) notices_.log(LogLevel::kWarn, error.message());
  for (const core::ContextId each : contexts) {
    context(now, each, error);
    notices_.failed(each, error);
  }
}

void Failures::take_refused_peer(Time now) {
  constexpr Duration kNotLoggedAgain = 60s;
  constexpr Duration kNotExplained = 1s;  // explaining queries the kernel
  const auto peer = datapath_.take_refused_peer();
  if (!peer || now < refusals_from_) return;
  auto line = refusal_of(datapath_, *peer);
  refusals_from_ = now + (line ? kNotLoggedAgain : kNotExplained);
  if (line) notices_.log(line->level, std::move(line->text));
}

void Failures::take_unplaced(Time now, Placer& placer) {
  while (const auto name = placer.poll_failed()) {
    const Connection* const connection = connections_.find(name->connection);
    if (connection == nullptr || connection->failed.load(std::memory_order_relaxed)) continue;
    const Error error{ErrorCode::kInternal,
                      "data has arrived for GPU memory that is not registered with the card",
                      "register memory before receives are posted in it, and deregister it after "
                      "they are done"};
    const core::ContextId failed = connection->context;
    notices_.log(LogLevel::kWarn, error.message());
    notices_.failed(failed, error);
    context(now, failed, error);
  }
}

void Failures::context(Time now, core::ContextId context, const Error& error) {
  pump_.endpoint().fail_context(now, context, error);
  end_all(context, error);
}

void Failures::end_all(core::ContextId context, const Error& error) {
  listeners_.fail(context, error);
  connections_.for_each_of(context, [&](Connection& connection) { end(connection, error); });
}

void Failures::end(Connection& connection, const Error& error) {
  for (const Request& request : connection.requests)
    if (request.state.load(std::memory_order_relaxed) == Request::State::kPending) {
      pump_.forget(connection.id, request.memory);
      if (request.waited_for) presence_.has_got();
    }
  connection.copies.for_each(
      [&](const Copies::Copy& copy) { pump_.forget(connection.id, copy.memory()); });
  connection.copies.clear();
  connection.fail(error);
}

}  // namespace dlcp::engine
