#include "bench_run.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "catch.h"

namespace {

std::string read_all(std::FILE* file) {
  std::rewind(file);
  std::string text;
  char bytes[4096];
  std::size_t n;
  while ((n = std::fread(bytes, 1, sizeof bytes, file)) > 0)
    text.append(bytes, n);
  std::fclose(file);
  return text;
}

}  // namespace

nlohmann::json BenchRun::json() const {
  INFO(out << err);
  auto json = nlohmann::json::parse(out, nullptr, false);
  REQUIRE_FALSE(json.is_discarded());
  return json;
}

BenchRun run_bench(const std::string& plugin, std::vector<std::string> arguments,
                   const std::vector<std::string>& environment) {
  const auto given = [&](const char* name) {
    return std::find(arguments.begin(), arguments.end(), name) != arguments.end();
  };
  std::vector<std::string> all = {DLCP_BINARY, "bench", "--plugin", plugin, "--json"};
  if (!given("--timeout")) all.insert(all.end(), {"--timeout", "20"});
  if (!given("--warmup")) all.insert(all.end(), {"--warmup", "0"});
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::FILE* out = std::tmpfile();
  std::FILE* err = std::tmpfile();
  REQUIRE((out != nullptr && err != nullptr));
  const auto start = std::chrono::steady_clock::now();
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(fileno(out), STDOUT_FILENO);
    dup2(fileno(err), STDERR_FILENO);
    for (const std::string& variable : environment)
      putenv(const_cast<char*>(variable.c_str()));
    std::vector<char*> argv;
    for (std::string& argument : all)
      argv.push_back(argument.data());
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(127);
  }
  BenchRun run;
  int status = 0;
  waitpid(pid, &status, 0);
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  run.out = read_all(out);
  run.err = read_all(err);
  return run;
}
