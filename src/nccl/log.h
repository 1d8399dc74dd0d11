// NCCL's logger as ours: every line begins with NET/DLCP, warnings pass all filters, the rest is
// tagged so that NCCL_DEBUG=INFO shows it under its default subsystems. Never call it with an
// engine's lock held: NCCL takes a mutex of its own.
#pragma once

#include <string>

#include "engine/log.h"
#include "nccl/abi/types.h"
#include "util/result.h"

namespace dlcp::nccl {

// The logger stays valid for the life of libnccl; the last one given is used. May be null.
void set_logger(DebugLogger logger);
void say(const engine::LogLine& line);

// Logs a warning and returns what NCCL is to be told.
ResultCode refuse(const Error& error);
ResultCode code_of(ErrorCode code);

// For a setting that makes the plugin unusable: also one line on stderr, once per process and text,
// because NCCL_DEBUG may be unset and the job would seem to fail for no reason.
ResultCode refuse_on_stderr(const Error& error);

}  // namespace dlcp::nccl
