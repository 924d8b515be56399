// SPDX-License-Identifier: Apache-2.0
#include "server/host/model_catalog.h"

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/file.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/zip_file.h"

namespace traza {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ModelCatalogTest : public testing::Test {
 protected:
  ModelCatalogTest() {
    built_in_.versions["torch"] = "2.11.0";
    built_in_.devices = {{.id = "cpu"}};
    built_in_.workloads.push_back(
        {.name = "linear", .variants = {{.name = "eager"}}});
    catalog_.emplace(folder(), built_in_, host_);
    catalog_->Refresh();
  }

  std::filesystem::path folder() const { return dir_ / "models"; }
  void Write(const std::string& name, const std::string& bytes) {
    std::filesystem::create_directories(folder());
    ASSERT_THAT(WriteFileAtomically(folder() / name, bytes), IsOk());
  }
  void WriteModel(const std::string& name) {
    Write(name + ".pt", ZipFile().Add("m/constants.pkl", "").Bytes());
    Write(name + ".json",
          absl::StrCat(R"({"name": ")", name, R"(", "file": ")", name,
                       R"(.pt", "format": "torchscript", "inputs": )",
                       R"([{"name": "x", "shape": [4], "dtype": "fp32"}]})"));
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const WorkloadSchema& workload : host_.description()->workloads) {
      names.push_back(workload.name);
    }
    return names;
  }

  TempDir dir_;
  HostRegistry host_;
  WorkerDescription built_in_;
  std::optional<ModelCatalog> catalog_;
};

TEST_F(ModelCatalogTest, WithoutAFolderThereIsWhatIsBuiltIn) {
  EXPECT_THAT(Names(), ElementsAre("linear"));
}

TEST_F(ModelCatalogTest, AModelComesAndGoesWithItsFiles) {
  WriteModel("mine");
  catalog_->Refresh();
  EXPECT_THAT(Names(), ElementsAre("linear", "mine"));

  ASSERT_THAT(RemoveFile(folder() / "mine.json"), IsOk());
  catalog_->Refresh();
  EXPECT_THAT(Names(), ElementsAre("linear"));
}

TEST_F(ModelCatalogTest, ABrokenOneIsListedUntilItIsMended) {
  Write("mine.json", "{");
  catalog_->Refresh();
  ASSERT_THAT(Names(), ElementsAre("linear", "mine.json"));
  EXPECT_THAT(
      host_.description()->workloads.back().variants.front().unavailable.at(
          "cpu"),
      HasSubstr("not JSON"));

  WriteModel("mine");
  catalog_->Refresh();
  EXPECT_THAT(Names(), ElementsAre("linear", "mine"));
}

TEST_F(ModelCatalogTest, AFolderThatIsAsItWasIsNotReadAgain) {
  WriteModel("mine");
  catalog_->Refresh();
  const auto before = host_.description();

  catalog_->Refresh();

  EXPECT_EQ(host_.description(), before);
}

TEST_F(ModelCatalogTest, ManyMayRefreshAtOnce) {
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([this] {
        for (int round = 0; round < 20; ++round) catalog_->Refresh();
      });
    }
    WriteModel("mine");
  }

  catalog_->Refresh();

  EXPECT_THAT(Names(), ElementsAre("linear", "mine"));
}

}  // namespace
}  // namespace traza
