// AES-128-GCM by OpenSSL's libcrypto, which is loaded at run time and only where it is asked for:
// the plugin loads on systems that have none.
#pragma once

#include <memory>
#include <span>

#include "util/result.h"
#include "wire/cipher.h"

namespace dlcp::engine {

using Ciphers = Result<std::shared_ptr<const wire::CipherSource>>;

// kSystem, saying what to install, if there is no libcrypto 1.1 or 3. It stays loaded.
Ciphers libcrypto_ciphers();
// By the first of these libraries that can be loaded.
Ciphers load_ciphers(std::span<const char* const> libraries);

}  // namespace dlcp::engine
