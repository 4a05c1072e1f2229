// SPDX-License-Identifier: Apache-2.0
// Calls of our own choice: those of the library's tests (trials.h), then shapes that suit many operators. Each is tried in
// a process, as code of a library may end its process.
#include <fcntl.h>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

#include "vinci/library/main.h"
#include "vinci/library/trials.h"

namespace vinci_library {

static std::vector<void (*)()> &Tests() {
  static std::vector<void (*)()> tests;
  return tests;
}
void AddTest(void (*test)()) { Tests().push_back(test); }

static std::ofstream trial_file; // of the process that runs a test
void AddTrial(const Trial &trial) {
  trial_file << trial.op << '\n';
  for (const std::string &word : trial.words)
    trial_file << word << '\n';
  trial_file << std::endl;
}

static constexpr int64_t values_max = 64; // of a tensor whose values a test gives

std::string TrialTensor(const gert::StorageShape *shape, ge::DataType type, ge::Format format, const void *values) {
  const char *word = TypeWord(type);
  if (!shape || !word)
    return "";
  const gert::Shape &extents = shape->GetStorageShape();
  std::string text = word, of = FormatName(format);
  for (size_t i = 0; i < extents.GetDimNum(); i++)
    text += (i == 0 ? ":" : "x") + std::to_string(extents.GetDim(i));
  text += extents.GetDimNum() == 0 ? ":" : isdigit((unsigned char)of[0]) || of == "ND" ? "" : ":" + of;
  int64_t count = extents.GetShapeSize();
  for (int64_t i = 0; values && i < count && count <= values_max; i++) {
    text += i == 0 ? "=" : ",";
    if (type == ge::DT_INT64)
      text += std::to_string(static_cast<const int64_t *>(values)[i]);
    else if (type == ge::DT_INT32)
      text += std::to_string(static_cast<const int32_t *>(values)[i]);
    else if (type == ge::DT_FLOAT)
      text += std::to_string(static_cast<const float *>(values)[i]);
    else
      text += "0";
  }
  return text;
}

// Runs a function in a process of its own, which writes to a file; whether it ended well.
template <typename F> static bool Apart(const F &function) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    alarm(10);
    int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    exit(function());
  }
  int ended = 1;
  return child > 0 && waitpid(child, &ended, 0) == child && ended == 0;
}

// What the tests have told: a name and words, up to an empty line.
static std::vector<std::vector<std::string>> CallsOfTests(const std::string &op, const std::string &data) {
  std::vector<std::vector<std::string>> calls;
  std::string file = data + ".trials";
  for (auto test : Tests())
    (void)Apart([&] {
      trial_file.open(file, std::ios::app);
      test();
      return 0;
    });
  std::ifstream in(file);
  for (std::string name, word; std::getline(in, name);) {
    std::vector<std::string> words;
    while (std::getline(in, word) && !word.empty())
      words.push_back(word);
    if ((name.empty() || name == op) && std::find(calls.begin(), calls.end(), words) == calls.end())
      calls.push_back(words);
  }
  return calls;
}

// Shapes for inputs by their number, the last for all others, and that of the last input if it differs: equal ones, rows
// with a vector, more dimensions, a number, a number for each of two tensors of a list.
struct Shapes {
  std::vector<const char *> by_number;
  const char *last = nullptr;
};
static const std::vector<Shapes> shape_trials = {
    {{"128x128"}}, {{"64x128", "128"}}, {{"64x128", "64x128", "64x1", "128"}}, {{"8192"}}, {{"2x16x32x32"}},
    {{"2x4x64x128"}}, {{"4x64x128"}}, {{"64x128"}, "1"}, {{"64x128"}, "2"}, {{"64x128"}, "64"},
};

// The words of column `column` with the shapes of `trial`; floats are tried with the same column as other types.
static std::vector<std::string> TrialWords(ops::OpDef &definition, const std::string &chip, size_t column,
                                           const Shapes &shapes) {
  std::vector<std::string> words;
  auto config = definition.core.configs.find(chip);
  const ops::OpParams &params =
      config == definition.core.configs.end() || config->second.inputs.empty()
          ? (ops::OpParams &)definition
          : config->second;
  for (const auto &input : params.inputs) {
    if (input->option == ops::OPTIONAL)
      continue;
    const char *type = input->types.empty() ? nullptr : TypeWord(input->types[std::min(column, input->types.size() - 1)]);
    const char *shape = shapes.by_number[std::min(words.size(), shapes.by_number.size() - 1)];
    if (shapes.last && input == params.inputs.back() && !words.empty())
      shape = shapes.last;
    std::string tensor = std::string(type ? type : "fp32") + ":" + shape;
    words.push_back(input->name + "=" + tensor + (input->option == ops::DYNAMIC ? "," + tensor : ""));
  }
  return words;
}

// A call that takes long to simulate is none to try.
static constexpr int64_t elements_max = 1 << 22;
static bool IsSmall(const std::vector<std::string> &words) {
  int64_t sum = 0;
  for (const std::string &word : words)
    for (const std::string &tensor : Split(word.substr(0, word.find('=', word.find('=') + 1)), ',')) {
      std::vector<std::string> parts = Split(tensor, ':');
      int64_t size = parts.size() > 1;
      if (parts.size() > 1 && !parts[1].empty())
        for (const std::string &extent : Split(parts[1], 'x'))
          if (__builtin_mul_overflow(size, (int64_t)strtoll(extent.c_str(), nullptr, 10), &size))
            return false;
      sum += size;
    }
  return sum <= elements_max;
}

// Attributes of tests count by their place: "%1=4" is the second of the definition.
static void NameAttrs(const ops::OpDef &definition, std::vector<std::string> &words) {
  for (std::string &word : words)
    if (word[0] == '%') {
      size_t at = strtoul(word.c_str() + 1, nullptr, 10);
      if (at < definition.attrs.size())
        word = definition.attrs[at]->name + word.substr(word.find('='));
    }
}

static std::vector<std::vector<std::string>> Calls(ops::OpDef &definition, const std::string &chip, const std::string &data) {
  std::vector<std::vector<std::string>> calls;
  for (auto &words : CallsOfTests(definition.type, data)) {
    NameAttrs(definition, words);
    if (IsSmall(words))
      calls.push_back(words);
  }
  size_t columns = 1;
  for (const auto &input : definition.inputs)
    columns = std::max(columns, input->types.size());
  columns = std::min<size_t>(columns, 4);
  for (const auto &shapes : shape_trials)
    for (size_t column = 0; column < columns; column++)
      calls.push_back(TrialWords(definition, chip, column, shapes));
  return calls;
}

// Whether all tensors of an answer have elements.
static bool HasElements(const std::string &data) {
  std::ifstream in(data + ".answer");
  for (std::string line; std::getline(in, line);) {
    size_t at = line.compare(0, 9, "arg name=") == 0 ? line.find("shape=") : std::string::npos;
    if (at == std::string::npos)
      continue;
    for (const std::string &extent : Split(line.substr(at + 6, line.find(',', at) - at - 6), 'x'))
      if (strtoll(extent.c_str(), nullptr, 10) <= 0)
        return false;
  }
  return true;
}

static int Answer(const std::vector<std::string> &words, const std::string &data) {
  printf("words");
  for (const std::string &word : words)
    printf(" %s", word.c_str());
  printf("\n");
  std::ifstream in(data + ".answer");
  for (std::string line; std::getline(in, line);)
    printf("%s\n", line.c_str());
  return 0;
}

int Try(const std::string &op, const std::string &chip, const std::string &data, size_t which) {
  auto found = Definitions().find(op);
  if (found == Definitions().end())
    Fail("the host code does not define " + op);
  std::vector<std::vector<std::string>> calls = Calls(*found->second, chip, data);
  size_t taken = 0;
  for (const auto &words : calls) {
    bool takes = Apart([&] {
      if (!freopen((data + ".answer").c_str(), "w", stdout))
        _exit(1);
      return Tile(op, chip, data, words);
    });
    if (takes && HasElements(data) && taken++ == which)
      return Answer(words, data);
  }
  if (taken > 0)
    Fail("only " + std::to_string(taken) + " calls are taken");
  std::string line, why = "none of " + std::to_string(calls.size()) + " calls is taken";
  std::ifstream in(data + ".answer");
  while (std::getline(in, line))
    if (line.compare(0, 6, "error ") == 0)
      why = line.substr(6);
  Fail(why);
}

} // namespace vinci_library
