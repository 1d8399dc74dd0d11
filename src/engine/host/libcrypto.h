// AES-128-GCM from OpenSSL's libcrypto. It is loaded at run time and only if encryption is enabled,
// so that the plugin also loads on systems without it.
#pragma once

#include <memory>
#include <span>

#include "util/result.h"
#include "wire/data/cipher.h"

namespace dlcp::engine {

using Ciphers = Result<std::shared_ptr<const wire::CipherSource>>;

// kSystem, with the package to install, if libcrypto 1.1 or 3 is missing. The library stays loaded.
Ciphers libcrypto_ciphers();
// Uses the first of these libraries that can be loaded.
Ciphers load_ciphers(std::span<const char* const> libraries);

}  // namespace dlcp::engine
