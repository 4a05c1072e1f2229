// SPDX-License-Identifier: Apache-2.0
// Tests as libraries write them, with the names of the framework that they use. A test runs, and compares nothing: it is
// there for the calls that it tells (trials.h).
#ifndef VINCI_LIBRARY_TESTING_H
#define VINCI_LIBRARY_TESTING_H

#include <vector>

namespace vinci_library {

void AddTest(void (*test)());
// What is compared, and what is said then, is left out.
struct Sink {
  template <typename T> Sink &operator<<(const T &) { return *this; }
};

} // namespace vinci_library

namespace testing {

class Test {
public:
  virtual ~Test() = default;
  static void SetUpTestCase() {}
  static void TearDownTestCase() {}
  virtual void SetUp() {}
  virtual void TearDown() {}
};
template <typename T> struct TestParamInfo {
  T param;
  size_t index;
};
template <typename T> class WithParamInterface {
public:
  using ParamType = T;
  static const T &GetParam() { return *Now(); }
  static const T *&Now() {
    static const T *now;
    return now;
  }
};
template <typename T> class TestWithParam : public Test, public WithParamInterface<T> {};
template <typename... T> auto Values(const T &...values) {
  return std::vector<std::common_type_t<T...>>{values...};
}
template <typename T> const std::vector<T> &ValuesIn(const std::vector<T> &values) { return values; }
template <typename T, size_t n> std::vector<T> ValuesIn(const T (&values)[n]) { return {values, values + n}; }
inline void InitGoogleTest(...) {}

} // namespace testing

namespace vinci_library {

// The tests of a class with parameters.
template <typename T> std::vector<void (*)()> &TestsOf() {
  static std::vector<void (*)()> tests;
  return tests;
}
template <typename T> void RunTest() {
  T test;
  test.SetUp();
  test.TestBody();
}
template <typename T, typename L> bool AddParams(const L &list) {
  static const std::vector<typename T::ParamType> values(list.begin(), list.end());
  AddTest([] {
    for (const auto &value : values) {
      T::Now() = &value;
      for (auto test : TestsOf<T>())
        test();
    }
  });
  return true;
}

} // namespace vinci_library

#define VINCI_TRIAL_TEST(suite, name, base, add)                                                                   \
  struct suite##_##name##_test : public base {                                                                     \
    void SetUp() override { base::SetUp(); }                                                                       \
    void TestBody();                                                                                               \
  };                                                                                                               \
  static bool vinci_trial_##suite##_##name = (add(vinci_library::RunTest<suite##_##name##_test>), true);           \
  void suite##_##name##_test::TestBody()
#define TEST(suite, name) VINCI_TRIAL_TEST(suite, name, testing::Test, vinci_library::AddTest)
#define TEST_F(suite, name) VINCI_TRIAL_TEST(suite, name, suite, vinci_library::AddTest)
#define TEST_P(suite, name) VINCI_TRIAL_TEST(suite, name, suite, vinci_library::TestsOf<suite>().push_back)
#define INSTANTIATE_TEST_CASE_P(name, suite, ...)                                                                  \
  static bool vinci_trial_params_##name##suite = vinci_library::AddParams<suite>(VINCI_TRIAL_FIRST(__VA_ARGS__))
#define INSTANTIATE_TEST_SUITE_P(name, suite, ...) INSTANTIATE_TEST_CASE_P(name, suite, __VA_ARGS__)
#define VINCI_TRIAL_FIRST(...) VINCI_TRIAL_FIRST2(__VA_ARGS__, 0)
#define VINCI_TRIAL_FIRST2(first, ...) first
#define VINCI_TRIAL_SINK(...) vinci_library::Sink()
#define ASSERT_EQ(...) VINCI_TRIAL_SINK()
#define ASSERT_NE(...) VINCI_TRIAL_SINK()
#define ASSERT_TRUE(...) VINCI_TRIAL_SINK()
#define ASSERT_FALSE(...) VINCI_TRIAL_SINK()
#define ASSERT_GE(...) VINCI_TRIAL_SINK()
#define ASSERT_GT(...) VINCI_TRIAL_SINK()
#define ASSERT_LE(...) VINCI_TRIAL_SINK()
#define ASSERT_LT(...) VINCI_TRIAL_SINK()
#define ASSERT_STREQ(...) VINCI_TRIAL_SINK()
#define EXPECT_EQ(...) VINCI_TRIAL_SINK()
#define EXPECT_NE(...) VINCI_TRIAL_SINK()
#define EXPECT_TRUE(...) VINCI_TRIAL_SINK()
#define EXPECT_FALSE(...) VINCI_TRIAL_SINK()
#define EXPECT_GE(...) VINCI_TRIAL_SINK()
#define EXPECT_GT(...) VINCI_TRIAL_SINK()
#define EXPECT_LE(...) VINCI_TRIAL_SINK()
#define EXPECT_LT(...) VINCI_TRIAL_SINK()
#define EXPECT_NEAR(...) VINCI_TRIAL_SINK()
#define EXPECT_FLOAT_EQ(...) VINCI_TRIAL_SINK()
#define EXPECT_STREQ(...) VINCI_TRIAL_SINK()
#define FAIL() VINCI_TRIAL_SINK()

#endif
