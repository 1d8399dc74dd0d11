// Whose configurations a fuzz target imports: all that differs between those of switch_imports.cc.
extern const char* const fuzz_vendor;
const char* const fuzz_vendor = DLCP_FUZZ_VENDOR;
