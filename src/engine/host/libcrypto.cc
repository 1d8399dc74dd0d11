#include "engine/host/libcrypto.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "wire/codec.h"

namespace dlcp::engine {
namespace {

constexpr const char* kLibraries[] = {"libcrypto.so.3", "libcrypto.so.1.1"};

// From openssl/evp.h; both versions have the same values.
constexpr int kCtrlGetTag = 0x10;  // EVP_CTRL_AEAD_GET_TAG
constexpr int kCtrlSetTag = 0x11;  // EVP_CTRL_AEAD_SET_TAG

struct Functions {
  void* (*context_new)() = nullptr;
  void (*context_free)(void*) = nullptr;
  const void* (*aes_128_gcm)() = nullptr;
  int (*init)(void*, const void* cipher, void* engine, const unsigned char* key,
              const unsigned char* nonce, int encrypts) = nullptr;
  int (*update)(void*, unsigned char* out, int* out_bytes, const unsigned char* in,
                int in_bytes) = nullptr;
  int (*final)(void*, unsigned char* out, int* out_bytes) = nullptr;
  int (*control)(void*, int type, int argument, void* pointer) = nullptr;
};

// Returns the name of the first function that is missing, or null.
const char* look_up(void* library, Functions& f) {
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    return function != nullptr ? nullptr : name;
  };
  for (const char* missing :
       {find(f.context_new, "EVP_CIPHER_CTX_new"), find(f.context_free, "EVP_CIPHER_CTX_free"),
        find(f.aes_128_gcm, "EVP_aes_128_gcm"), find(f.init, "EVP_CipherInit_ex"),
        find(f.update, "EVP_CipherUpdate"), find(f.final, "EVP_CipherFinal_ex"),
        find(f.control, "EVP_CIPHER_CTX_ctrl")})
    if (missing != nullptr) return missing;
  return nullptr;
}

const unsigned char* from(std::span<const std::byte> bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
unsigned char* into(std::span<std::byte> bytes) {
  return reinterpret_cast<unsigned char*>(bytes.data());
}

// The key is expanded once, and each packet only sets a nonce. Each direction has a context of its
// own, because a change of direction would expand the key again.
class AesGcm final : public wire::Cipher {
 public:
  AesGcm(const Functions& functions, const wire::Key& key)
      : f_(functions), seals_(f_.context_new()), opens_(f_.context_new()) {
    std::array<std::byte, 16> bytes;
    wire::store_le(bytes.data(), key.low);
    wire::store_le(bytes.data() + 8, key.high);
    ready_ = seals_ != nullptr && opens_ != nullptr &&
             f_.init(seals_, f_.aes_128_gcm(), nullptr, from(bytes), nullptr, 1) == 1 &&
             f_.init(opens_, f_.aes_128_gcm(), nullptr, from(bytes), nullptr, 0) == 1;
    explicit_bzero(bytes.data(), bytes.size());
  }
  ~AesGcm() override {
    f_.context_free(seals_);
    f_.context_free(opens_);
  }
  AesGcm(const AesGcm&) = delete;
  AesGcm& operator=(const AesGcm&) = delete;

  bool ready() const { return ready_; }

  void seal(const wire::Nonce& nonce, std::span<const std::byte> header,
            std::span<const std::byte> plain, std::span<std::byte> out) override {
    const auto tag = out.last(wire::kCipherTagBytes);
    int bytes = 0;
    const bool sealed =
        run(seals_, nonce, header, plain, out) && f_.final(seals_, into(tag), &bytes) == 1 &&
        f_.control(seals_, kCtrlGetTag, static_cast<int>(tag.size()), tag.data()) == 1;
    if (!sealed) std::ranges::fill(out, std::byte{0});
  }

  bool open(const wire::Nonce& nonce, std::span<const std::byte> header,
            std::span<const std::byte> sealed, std::span<std::byte> out) override {
    const auto body = sealed.first(sealed.size() - wire::kCipherTagBytes);
    std::array<std::byte, wire::kCipherTagBytes> tag;
    std::ranges::copy(sealed.last(tag.size()), tag.begin());
    std::array<std::byte, 16> rest;  // nothing is written to it
    int bytes = 0;
    return run(opens_, nonce, header, body, out) &&
           f_.control(opens_, kCtrlSetTag, static_cast<int>(tag.size()), tag.data()) == 1 &&
           f_.final(opens_, into(rest), &bytes) == 1;
  }

 private:
  bool run(void* context, const wire::Nonce& nonce, std::span<const std::byte> header,
           std::span<const std::byte> in, std::span<std::byte> out) {
    int bytes = 0;
    return f_.init(context, nullptr, nullptr, nullptr, from(nonce), -1) == 1 &&
           f_.update(context, nullptr, &bytes, from(header), static_cast<int>(header.size())) ==
               1 &&
           (in.empty() ||
            f_.update(context, into(out), &bytes, from(in), static_cast<int>(in.size())) == 1);
  }

  const Functions f_;
  void* const seals_;
  void* const opens_;
  bool ready_ = false;
};

class Libcrypto final : public wire::CipherSource {
 public:
  explicit Libcrypto(const Functions& functions) : f_(functions) {}

  std::unique_ptr<wire::Cipher> make(const wire::Key& key) const override {
    auto cipher = std::make_unique<AesGcm>(f_, key);
    if (!cipher->ready()) return nullptr;
    return cipher;
  }

 private:
  const Functions f_;
};

}  // namespace

Ciphers load_ciphers(std::span<const char* const> libraries) {
  void* library = nullptr;
  std::vector<std::string> reasons;
  for (const char* name : libraries) {
    library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
    reasons.emplace_back(::dlerror());
  }
  if (library == nullptr) {
    return Error{ErrorCode::kSystem,
                 fmt::format("DLCP_ENCRYPT=aes-gcm needs {}, but none of them can be loaded: {}",
                             fmt::join(libraries, " or "), fmt::join(reasons, "; ")),
                 "install OpenSSL's library on every host (apt-get install libssl3), or unset "
                 "DLCP_ENCRYPT on all ranks"};
  }
  Functions functions;
  if (const char* missing = look_up(library, functions); missing != nullptr) {
    return Error{
        ErrorCode::kSystem,
        fmt::format("DLCP_ENCRYPT=aes-gcm: the system's libcrypto does not have {}", missing),
        "install OpenSSL 1.1 or 3"};
  }
  return std::shared_ptr<const wire::CipherSource>(std::make_shared<Libcrypto>(functions));
}

Ciphers libcrypto_ciphers() {
  static const auto* const loaded = new auto(load_ciphers(kLibraries));
  return *loaded;
}

}  // namespace dlcp::engine
