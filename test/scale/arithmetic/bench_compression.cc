// How fast one core encodes and decodes packets, and how much shorter they become: each
// implementation, on bytes that resemble gradients, compared with memcpy. Reports the best of
// several rounds, because other load on the machine only slows them.
//
//   bench_compression [--packet BYTES] [--set BYTES] [--seconds S] [--json] [FORMAT FILE]
//
// FILE, elements of FORMAT (bf16, fp16, fp32, fp8-e4m3, fp8-e5m2), replaces the built-in data.
#include <fmt/core.h>

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "compression/gradients.h"
#include "compression/packet_code.h"
#include "speed.h"

using namespace dlcp;
using compression::Format;

namespace {

struct Options : scale::SpeedOptions {
  std::size_t packet = 8192;  // room on the wire
  std::string_view format{};
  std::string_view file{};
};

struct Load {
  std::string name;
  Format format;
  std::vector<std::byte> bytes;
};

struct Row {
  std::string text;
  std::string json;
};

struct Piece {
  std::size_t at;
  compression::Packet packet;
};

constexpr std::size_t kGranule = 128;

// Packets as a sender would cut them; `out` holds each at an offset of its own.
std::vector<Piece> encode_all(const compression::BlockForm& form, const Load& load,
                              std::size_t room, std::vector<std::byte>& out) {
  std::vector<Piece> pieces;
  const std::size_t place = room + compression::block_room(Format::kFloat32);
  for (std::size_t at = 0; at < load.bytes.size(); at += pieces.back().packet.taken) {
    if (out.size() < (pieces.size() + 1) * place) out.resize(2 * (pieces.size() + 1) * place);
    const auto to = std::span(out).subspan(pieces.size() * place, place);
    const auto packet =
        encode(form, load.format, std::span(load.bytes).subspan(at), room, kGranule, to);
    if (packet.taken == 0) return {};
    pieces.push_back({at, packet});
  }
  return pieces;
}

Row measure(const compression::BlockForm& form, const Load& load, const Options& options) {
  const std::size_t place = options.packet + compression::block_room(Format::kFloat32);
  std::vector<std::byte> out;
  const auto pieces = encode_all(form, load, options.packet, out);
  std::vector<std::byte> back(load.bytes.size());
  std::size_t written = 0;
  bool exact = !pieces.empty();
  const auto decode_all = [&] {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const auto to = std::span(back).subspan(pieces[i].at, pieces[i].packet.taken);
      const auto from = std::span(out).subspan(i * place, pieces[i].packet.written);
      exact = decode(form, from, to) && exact;
    }
  };
  decode_all();
  exact = exact && back == load.bytes;
  for (const Piece& piece : pieces)
    written += piece.packet.written;
  std::vector<std::byte> again(place);
  const double encoding = scale::best_speed(
      options.seconds, 4, load.bytes.size(),
      [&] {
        for (std::size_t at = 0; at < load.bytes.size();)
          at += encode(form, load.format, std::span(load.bytes).subspan(at), options.packet,
                       kGranule, again)
                    .taken;
      });
  const double decoding =
      scale::best_speed(options.seconds, 4, load.bytes.size(), [&] { decode_all(); });
  const double ratio = static_cast<double>(load.bytes.size()) / static_cast<double>(written);
  return {
      fmt::format("{:10} {:26} {:7.3f} {:8.1f} {:8.1f}{}\n", form.name, load.name, ratio, encoding,
                  decoding, exact ? "" : "  NOT EXACT"),
      fmt::format(R"({{"form": "{}", "data": "{}", "ratio": {:.3f}, "encode_gb_per_s": {:.1f}, )"
                  R"("decode_gb_per_s": {:.1f}, "exact": {}}})",
                  form.name, load.name, ratio, encoding, decoding, exact)};
}

std::vector<Load> loads(const Options& options) {
  std::vector<Load> all;
  const std::size_t size = options.set;
  const auto add = [&](std::string name, Format format, test::Gradients what = {}) {
    all.push_back({std::move(name), format,
                   test::gradients(format, size / element_bytes(format), all.size() + 1, what)});
  };
  add("bf16", Format::kBfloat16);
  add("bf16, 95% zeros", Format::kBfloat16, {.zeros = 0.95});
  add("fp16", Format::kFloat16);
  add("fp32", Format::kFloat32);
  add("fp32, autocast", Format::kFloat32, {.autocast = true});
  add("fp32, autocast, sum of 2", Format::kFloat32, {.workers = 2, .autocast = true});
  add("fp32, autocast, sum of 4", Format::kFloat32, {.workers = 4, .autocast = true});
  add("fp32, 95% zeros", Format::kFloat32, {.zeros = 0.95});
  add("fp8-e4m3", Format::kFloat8E4m3);
  add("fp8-e5m2", Format::kFloat8E5m2);
  std::vector<std::byte> random(size);
  Rng rng(99);
  for (auto& byte : random)
    byte = static_cast<std::byte>(rng.below(256));
  all.push_back({"random bytes as bf16", Format::kBfloat16, random});
  all.push_back({"random bytes as fp32", Format::kFloat32, std::move(random)});
  return all;
}

bool read_file(const Options& options, std::vector<Load>& all) {
  for (const Format format : compression::kFormats) {
    if (options.format != name_of(format)) continue;
    std::ifstream file(std::string(options.file), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (text.empty()) return false;
    Load load{std::string(options.file), format, std::vector<std::byte>(text.size())};
    std::memcpy(load.bytes.data(), text.data(), text.size());
    all = {std::move(load)};
    return true;
  }
  return false;
}

bool read_options(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    if (options.take(argc, argv, i)) continue;
    if (argv[i] == std::string_view("--packet") && i + 1 < argc) {
      options.packet = std::stoul(argv[++i]);
    } else if (i + 2 == argc) {
      options.format = argv[i++];
      options.file = argv[i];
    } else {
      return false;
    }
  }
  return options.packet >= 512 && options.set >= 4096;
}

}  // namespace

int main(int argc, char** argv) {
  Options options{{.set = std::size_t{4} << 20, .seconds = 0.2}};
  std::vector<Load> all;
  if (!read_options(argc, argv, options) || (!options.file.empty() && !read_file(options, all))) {
    fmt::print(
        stderr,
        "usage: bench_compression [--packet BYTES, at least 512] [--set BYTES, at least 4096]\n"
        "                         [--seconds S] [--json] [FORMAT FILE]\n");
    return 2;
  }
  if (all.empty()) all = loads(options);
  std::vector<std::byte> copy(all[0].bytes.size());
  const double memcpy_speed = scale::best_speed(options.seconds, 4, copy.size(), [&] {
    std::memcpy(copy.data(), all[0].bytes.data(), copy.size());
    asm volatile("" : : "r"(copy.data()) : "memory");
  });
  if (!options.json) {
    fmt::print("{:10} {:26} {:>7} {:>8} {:>8}\n", "form", "data", "ratio", "encode", "decode");
    fmt::print("{:10} {:26} {:>7} {:8.1f} {:>8} GB/s\n", "memcpy", "", "", memcpy_speed, "");
  }
  std::string rows;
  for (const auto* form : compression::block_forms()) {
    if (!form->supported) continue;
    for (const Load& load : all) {
      const Row row = measure(*form, load, options);
      if (!options.json) fmt::print("{}", row.text);
      rows += (rows.empty() ? "" : ", ") + row.json;
    }
  }
  if (options.json) {
    fmt::print(R"({{"packet_bytes": {}, "set_bytes": {}, "memcpy_gb_per_s": {:.1f}, "rows": [{}]}})"
               "\n",
               options.packet, copy.size(), memcpy_speed, rows);
  }
  return 0;
}
