// The running quantile on streams that are steady, drift, jump or become zero.
#include "gradient/magnitude_quantile.h"

#include <cmath>
#include <vector>

#include "catch.h"
#include "util/rng.h"

using namespace dlcp;
using gradient::MagnitudeQuantile;

namespace {

// Spread over about two decades, like the packets of different layers.
float draw(Rng& rng, double scale) {
  return static_cast<float>(scale * std::exp(4 * (rng.unit() + rng.unit() + rng.unit() - 1.5)));
}

double share_below(MagnitudeQuantile& quantile, Rng& rng, double scale, int samples) {
  int below = 0;
  for (int i = 0; i < samples; ++i)
    below += quantile.add(draw(rng, scale)) ? 1 : 0;
  return static_cast<double>(below) / samples;
}

}  // namespace

TEST_CASE("for a steady stream the requested share lies below the threshold", "[quantile]") {
  for (const float share : {0.1f, 0.25f, 0.5f, 0.75f, 0.9f}) {
    Rng rng(3);
    MagnitudeQuantile quantile(share);
    share_below(quantile, rng, 1e-3, 500);
    INFO("share " << share);
    CHECK(share_below(quantile, rng, 1e-3, 20'000) == Approx(share).margin(0.02));
  }
}

TEST_CASE("after a tenfold jump in scale the threshold adapts within a message's packets",
          "[quantile]") {
  for (const double factor : {10.0, 0.1}) {
    Rng rng(5);
    MagnitudeQuantile quantile(0.5f);
    share_below(quantile, rng, 1, 1000);
    share_below(quantile, rng, factor, 250);
    CHECK(share_below(quantile, rng, factor, 2000) == Approx(0.5).margin(0.06));
  }
}

TEST_CASE("a share of zero protects everything", "[quantile]") {
  Rng rng(5);
  MagnitudeQuantile quantile(0);
  CHECK(share_below(quantile, rng, 1, 1000) == 0);
}

TEST_CASE("the first packet of a stream is protected, zeros after it are droppable", "[quantile]") {
  MagnitudeQuantile quantile(0.5f);
  CHECK_FALSE(quantile.add(2.0f));
  CHECK(quantile.threshold() == 2.0f);
  CHECK(quantile.add(0.0f));
}

TEST_CASE("after a stream of zeros real gradients raise the threshold again", "[quantile]") {
  MagnitudeQuantile quantile(0.5f);
  for (int i = 0; i < 100'000; ++i)
    quantile.add(0);
  CHECK(quantile.threshold() > 0);
  Rng rng(5);
  share_below(quantile, rng, 1e-4, 4000);
  CHECK(share_below(quantile, rng, 1e-4, 2000) == Approx(0.5).margin(0.06));
}

TEST_CASE("of packets of zeros no more than the requested share is unprotected", "[quantile]") {
  Rng rng(7);
  for (const double zeros : {0.5, 0.95, 1.0}) {
    gradient::WorthJudge two(0.25f), three(0.15f, 0.10f);
    int unprotected[2] = {};
    for (int i = 0; i < 30'000; ++i) {
      const float magnitude = rng.unit() < zeros ? 0 : draw(rng, 1e-3);
      const bool unprotected_now[2] = {two.judge(magnitude) != gradient::Worth::kProtected,
                                       three.judge(magnitude) != gradient::Worth::kProtected};
      for (int k = 0; k < 2 && i >= 10'000; ++k)
        unprotected[k] += unprotected_now[k] ? 1 : 0;
    }
    INFO("share of zeros " << zeros);
    CHECK(unprotected[0] == Approx(5000).margin(200));
    CHECK(unprotected[1] == Approx(5000).margin(200));
  }
}

TEST_CASE("a packet without a score is protected and does not move the threshold", "[quantile]") {
  MagnitudeQuantile quantile(0.9f);
  quantile.add(1);
  for (int i = 0; i < 100; ++i) {
    CHECK_FALSE(quantile.add(gradient::kPriceless));
    CHECK_FALSE(quantile.add(std::nanf("")));
  }
  CHECK(quantile.threshold() == 1);
}

TEST_CASE("the judge protects large packets and marks small ones droppable", "[quantile]") {
  gradient::WorthJudge judge(0.5f);
  std::vector<float> packet(352);
  const auto judged = [&](float magnitude) {
    std::fill(packet.begin(), packet.end(), -magnitude);
    return judge.judge(gradient::mean_magnitude(gradient::ElementType::kFloat32,
                                                std::as_bytes(std::span(packet))));
  };
  for (int i = 0; i < 200; ++i)
    judged(i % 2 == 0 ? 1.0f : 100.0f);
  CHECK(judged(1) == gradient::Worth::kDroppable);
  CHECK(judged(100) == gradient::Worth::kProtected);
  gradient::WorthJudge three(0.3f, 0.3f);
  int worths[3] = {};
  for (int i = 0; i < 6000; ++i) {
    std::fill(packet.begin(), packet.end(), static_cast<float>(1 + i * 7 % 10));
    const auto worth = three.judge(gradient::mean_magnitude(gradient::ElementType::kFloat32,
                                                            std::as_bytes(std::span(packet))));
    if (i >= 1000) ++worths[static_cast<int>(worth)];
  }
  CHECK(worths[static_cast<int>(gradient::Worth::kDroppable)] == Approx(1500).margin(250));
  CHECK(worths[static_cast<int>(gradient::Worth::kMiddle)] == Approx(1500).margin(250));
  packet[7] = gradient::kPriceless;
  CHECK(judge.judge(gradient::mean_magnitude(gradient::ElementType::kFloat32,
                                             std::as_bytes(std::span(packet)))) ==
        gradient::Worth::kProtected);
  CHECK(judge.judge(gradient::mean_magnitude(gradient::ElementType::kOther,
                                             std::as_bytes(std::span(packet)))) ==
        gradient::Worth::kProtected);
}
