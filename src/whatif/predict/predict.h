// The step time on other networks and with other settings, predicted from where it goes now. Every
// step of every rank is predicted; the estimate is their median. Its range is the spread between
// steps (10% to 90%), widened by the error of the fitted cost.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "whatif/predict/cost.h"
#include "whatif/run/run.h"
#include "whatif/steps/shares.h"

namespace dlcp::whatif {

struct Estimate {
  double seconds = 0;
  double low = 0;
  double high = 0;
};

enum class Change { kNone, kInfinite, kRate, kCompression, kDirect, kTail, kEvenRanks };

struct Prediction {
  Change change = Change::kNone;
  std::string name;        // "at 100 Gbit/s"
  std::string assumption;  // a sentence
  std::string setting;     // to try; empty: no setting of DLCP does it
  bool known = true;       // false: `assumption` says what is missing, and there is no estimate
  double rate_bits = 0;    // of kRate, in bit/s
  Estimate estimate;
};

struct RankSummary {
  std::int32_t rank = -1;
  std::size_t steps = 0;
  double step = 0, compute = 0, waiting = 0, network = 0;  // s, medians over the steps
  double blocked = 0, concurrent = 0;                      // see RankShares
};

struct TypeRatio {
  std::string type;
  double ratio = 1;
  std::uint64_t samples = 0;
};

struct Answer {
  std::size_t collectives = 0;  // of a step; 0: none was found
  double agreement = 0;
  std::size_t steps = 0;  // of the rank with the fewest
  std::uint32_t ranks_of_job = 1;
  std::vector<RankSummary> ranks;
  Cost cost;
  double payload_bits = 0;  // bit/s that the network carries now, of payload; 0: unknown
  std::vector<TypeRatio> ratios;
  Estimate now;
  double compute = 0, waiting = 0, network = 0;  // shares of the step, over all ranks and steps
  std::vector<Prediction> predictions;
  std::vector<std::string> notes;  // limits of the answer, for example missing ranks
  std::string verdict;             // one sentence
};

// The rates that are always shown, in bit/s.
inline constexpr double kUsualRates[] = {10e9, 25e9, 50e9, 100e9, 200e9, 400e9};

// The share of a link's rate that carries payload, for packets of 1500 bytes.
inline constexpr double kPayloadShare = 0.94;

Answer answer(std::span<const Run> runs, std::span<const double> rates);

// "Worth it or not", from all other fields.
std::string verdict_of(const Answer& answer);

}  // namespace dlcp::whatif
