#include "cli/measure/histogram.h"

#include <nlohmann/json.hpp>

#include "catch.h"

using dlcp::cli::Histogram;

TEST_CASE("percentiles of small values are exact and the maximum always is") {
  Histogram h;
  for (int i = 1; i <= 100; i++)
    h.add(i);
  CHECK(h.percentile(0.5) == 50);
  CHECK(h.percentile(0.99) == 99);
  CHECK(h.percentile(1.0) == 100);
  h.add(1'234'567);
  CHECK(h.max() == 1'234'567);
  CHECK(h.percentile(1.0) == 1'234'567);
}

TEST_CASE("percentiles of large values are accurate to one part in 128") {
  Histogram h;
  for (int i = 1; i <= 1000; i++)
    h.add(i * std::int64_t{1'000'000});
  for (const double share : {0.1, 0.5, 0.9, 0.99, 0.999}) {
    const double exact = share * 1000 * 1e6;
    CHECK(static_cast<double>(h.percentile(share)) >= exact);
    CHECK(static_cast<double>(h.percentile(share)) <= exact * (1 + 1.0 / 128));
  }
}

TEST_CASE("an empty histogram has zero percentiles") {
  CHECK(Histogram().percentile(0.5) == 0);
  CHECK(Histogram().max() == 0);
}

TEST_CASE("a merged or transmitted histogram equals that of all samples together") {
  Histogram a, b, all;
  for (int i = 0; i < 500; i++) {
    (i % 3 == 0 ? a : b).add(i * 977);
    all.add(i * 977);
  }
  a.merge(nlohmann::json(b).get<Histogram>());
  CHECK(a.count() == all.count());
  CHECK(a.max() == all.max());
  for (const double share : {0.25, 0.5, 0.99})
    CHECK(a.percentile(share) == all.percentile(share));
}
