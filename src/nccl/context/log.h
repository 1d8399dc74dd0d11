// Log output through NCCL's logger: every line begins with NET/DLCP, warnings pass all filters, and
// other lines are tagged so that NCCL_DEBUG=INFO shows them with its default subsystems. Must not
// be called with an engine's lock held, because NCCL takes a mutex of its own.
#pragma once

#include <string>

#include "engine/host/log.h"
#include "nccl/abi/types.h"
#include "util/result.h"

namespace dlcp::nccl {

// The logger is valid for the life of libnccl; the last one set is used. It may be null.
void set_logger(DebugLogger logger);
void say(const engine::LogLine& line);

// Logs a warning and returns the code for NCCL.
ResultCode refuse(const Error& error);
ResultCode code_of(ErrorCode code);

// For a setting that makes the plugin unusable: also prints one line to stderr, once per process
// and text, because without NCCL_DEBUG the job would fail without a visible reason.
ResultCode refuse_on_stderr(const Error& error);

}  // namespace dlcp::nccl
