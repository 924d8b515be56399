// SPDX-License-Identifier: Apache-2.0
#include "client/term/interrupt.h"

#include <string>

#include "gtest/gtest.h"

namespace traza {
namespace {

class InterruptPolicyTest : public testing::Test {
 protected:
  InterruptHooks Hooks() {
    return {.ask = [this] { calls_ += "ask "; },
            .resume = [this] { calls_ += "resume "; },
            .cancel = [this] { calls_ += "cancel "; },
            .leave = [this] { calls_ += "leave "; }};
  }

  std::string calls_;
};

TEST_F(InterruptPolicyTest, FirstAsksSecondCancelsThirdLeaves) {
  InterruptPolicy policy(/*may_ask=*/true, Hooks());

  policy.OnInterrupt();
  policy.OnInterrupt();
  policy.OnInterrupt();

  EXPECT_EQ(calls_, "ask cancel leave ");
}

TEST_F(InterruptPolicyTest, FirstCancelsWithoutATerminal) {
  InterruptPolicy policy(/*may_ask=*/false, Hooks());

  policy.OnInterrupt();
  policy.OnInterrupt();

  EXPECT_EQ(calls_, "cancel leave ");
}

TEST_F(InterruptPolicyTest, YesCancels) {
  InterruptPolicy policy(/*may_ask=*/true, Hooks());

  policy.OnInterrupt();
  policy.OnAnswer("y\n");

  EXPECT_EQ(calls_, "ask cancel ");
  EXPECT_FALSE(policy.asking());
}

TEST_F(InterruptPolicyTest, DetachLeaves) {
  InterruptPolicy policy(/*may_ask=*/true, Hooks());

  policy.OnInterrupt();
  policy.OnAnswer("d\n");

  EXPECT_EQ(calls_, "ask leave ");
}

TEST_F(InterruptPolicyTest, AnotherAnswerGoesOnAndTheNextInterruptAsksAgain) {
  InterruptPolicy policy(/*may_ask=*/true, Hooks());

  policy.OnInterrupt();
  policy.OnAnswer("\n");
  policy.OnInterrupt();

  EXPECT_EQ(calls_, "ask resume ask ");
}

TEST_F(InterruptPolicyTest, IgnoresLinesThatAnswerNothing) {
  InterruptPolicy policy(/*may_ask=*/true, Hooks());

  policy.OnAnswer("y\n");

  EXPECT_EQ(calls_, "");
}

}  // namespace
}  // namespace traza
