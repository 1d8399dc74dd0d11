// AES-128-GCM by the system's libcrypto: known answers, and refusal of changed data.
#include "engine/host/libcrypto.h"

#include <string_view>
#include <vector>

#include "catch.h"
#include "wire/codec.h"

using namespace dlcp;

namespace {

using Bytes = std::vector<std::byte>;

Bytes hex(std::string_view digits) {
  Bytes bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2)
    bytes.push_back(
        static_cast<std::byte>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16)));
  return bytes;
}

wire::Key key_of(const Bytes& bytes) {
  return {wire::load_le<std::uint64_t>(bytes.data()),
          wire::load_le<std::uint64_t>(bytes.data() + 8)};
}

wire::Nonce nonce_of(const Bytes& bytes) {
  wire::Nonce nonce{};
  std::ranges::copy(bytes, nonce.begin());
  return nonce;
}

Bytes seal(wire::Cipher& cipher, const wire::Nonce& nonce, const Bytes& header,
           const Bytes& plain) {
  Bytes sealed(plain.size() + wire::kCipherTagBytes);
  cipher.seal(nonce, header, plain, sealed);
  return sealed;
}

// Null where this system has no libcrypto; the test then ends.
std::unique_ptr<wire::Cipher> cipher_with(const wire::Key& key) {
  const auto ciphers = engine::libcrypto_ciphers();
  if (!ciphers) {
    WARN(ciphers.error().message());
    return nullptr;
  }
  return ciphers.value()->make(key);
}

}  // namespace

// McGrew and Viega, "The Galois/Counter Mode of Operation", appendix B, test cases 1, 2 and 4.
TEST_CASE("AES-128-GCM gives the known answers") {
  struct Case {
    const char *key, *nonce, *header, *plain, *sealed, *tag;
  };
  const Case cases[] = {
      {"00000000000000000000000000000000", "000000000000000000000000", "", "", "",
       "58e2fccefa7e3061367f1d57a4e7455a"},
      {"00000000000000000000000000000000", "000000000000000000000000", "",
       "00000000000000000000000000000000", "0388dace60b6a392f328c2b971b2fe78",
       "ab6e47d42cec13bdf53a67b21257bddf"},
      {"feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888",
       "feedfacedeadbeeffeedfacedeadbeefabaddad2",
       "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449"
       "a6b525b16aedf5aa0de657ba637b39",
       "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac"
       "84aa051ba30b396a0aac973d58e091",
       "5bc94fbc3221a5db94fae95ae7121a47"}};
  for (const Case& known : cases) {
    const auto cipher = cipher_with(key_of(hex(known.key)));
    if (cipher == nullptr) return;
    Bytes expected = hex(known.sealed);
    const Bytes tag = hex(known.tag);
    expected.insert(expected.end(), tag.begin(), tag.end());
    const auto nonce = nonce_of(hex(known.nonce));
    const Bytes plain = hex(known.plain);
    CHECK(seal(*cipher, nonce, hex(known.header), plain) == expected);
    Bytes opened(plain.size());
    CHECK(cipher->open(nonce, hex(known.header), expected, opened));
    CHECK(opened == plain);
  }
}

TEST_CASE("no data with a changed bit, another nonce or another key decrypts") {
  const auto cipher = cipher_with({1, 2});
  if (cipher == nullptr) return;
  const auto nonce = wire::nonce_of(3, 1'000'000'000'000);
  const Bytes header = hex("00112233445566778899");
  const Bytes plain(100, std::byte{7});
  const Bytes sealed = seal(*cipher, nonce, header, plain);
  Bytes out(plain.size());
  REQUIRE(cipher->open(nonce, header, sealed, out));
  const auto flipped = [](Bytes bytes, std::size_t bit) {
    bytes[bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
    return bytes;
  };
  for (std::size_t bit = 0; bit < 8 * sealed.size(); ++bit)
    CHECK_FALSE(cipher->open(nonce, header, flipped(sealed, bit), out));
  for (std::size_t bit = 0; bit < 8 * header.size(); ++bit)
    CHECK_FALSE(cipher->open(nonce, flipped(header, bit), sealed, out));
  CHECK_FALSE(cipher->open(wire::nonce_of(3, 1'000'000'000'001), header, sealed, out));
  CHECK_FALSE(cipher->open(wire::nonce_of(4, 1'000'000'000'000), header, sealed, out));
  CHECK_FALSE(cipher_with({1, 3})->open(nonce, header, sealed, out));
  CHECK(cipher->open(nonce, header, sealed, out));  // a refusal leaves no state
  CHECK(out == plain);
}

TEST_CASE("without libcrypto the error names the package to install") {
  const char* const missing[] = {"libcrypto-nosuch.so.9"};
  const auto ciphers = engine::load_ciphers(missing);
  REQUIRE_FALSE(ciphers.ok());
  CHECK(ciphers.error().code == ErrorCode::kSystem);
  CHECK_THAT(ciphers.error().message(), Contains("needs libcrypto-nosuch.so.9") &&
                                            Contains("apt-get install libssl3") &&
                                            Contains("unset DLCP_ENCRYPT"));
}

TEST_CASE("the error has the reason for each library that cannot be loaded") {
  const char* const missing[] = {"libcrypto-nosuch.so.9", "libcrypto-nosuch.so.8"};
  const std::string message = engine::load_ciphers(missing).error().message();
  CHECK_THAT(message, Contains("libcrypto-nosuch.so.9: cannot open") &&
                          Contains("libcrypto-nosuch.so.8: cannot open"));
}
