// The vendor of a fuzz target: the only difference between the targets of switch_imports.cc, and
// between those of switch_counters.cc and switch_answers.cc.
extern const char* const fuzz_vendor;
const char* const fuzz_vendor = DLCP_FUZZ_VENDOR;
