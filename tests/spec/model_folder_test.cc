// SPDX-License-Identifier: Apache-2.0
#include "spec/model_folder.h"

#include <filesystem>
#include <fstream>
#include <string>
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

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ModelFolderTest : public testing::Test {
 protected:
  ModelFolderTest() {
    std::filesystem::create_directories(folder());
    Write("m.pt",
          ZipFile().Add("m/data.pkl", "").Add("m/constants.pkl", "").Bytes());
    DeviceDescription gpu;
    gpu.id = "gpu0";
    gpu.kind = DeviceKind::kGpu;
    gpu.compute_capability = "9.0";
    devices_.push_back(gpu);
  }

  std::filesystem::path folder() const { return dir_ / "models"; }
  void Write(const std::string& name, const std::string& bytes) {
    // Without fsync: some tests write hundreds.
    std::ofstream(folder() / name, std::ios::binary) << bytes;
  }
  static std::string Manifest(const std::string& name, const std::string& file,
                              const std::string& format = "torchscript") {
    return absl::StrCat(
        R"({"name": ")", name, R"(", "file": ")", file, R"(", "format": ")",
        format,
        R"(", "inputs": [{"name": "x", "shape": [4], "dtype": "fp32"}]})");
  }
  std::vector<RegisteredModel> Read() {
    return ReadModels(folder(), {"linear"});
  }
  // Why the model of `manifest` cannot run.
  std::string FaultOf(const std::string& manifest) {
    Write("x.json", manifest);
    const std::vector<RegisteredModel> models = Read();
    EXPECT_THAT(models, SizeIs(1));
    return models.front().fault;
  }
  std::string WhyNot(const std::string& device) {
    const WorkloadSchema schema = SchemaOf(Read().front(), devices_, "2.11.0");
    const auto& unavailable = schema.variants.front().unavailable;
    return unavailable.contains(device) ? unavailable.at(device) : "";
  }

  TempDir dir_;
  std::vector<DeviceDescription> devices_ = {{.id = "cpu"}};
};

TEST_F(ModelFolderTest, AManifestWithItsFileIsAModel) {
  Write("a.json", Manifest("mine", "m.pt"));

  const std::vector<RegisteredModel> models = Read();

  ASSERT_THAT(models, SizeIs(1));
  EXPECT_THAT(models[0].fault, IsEmpty());
  EXPECT_EQ(models[0].name(), "mine");
  EXPECT_EQ(models[0].file.filename(), "m.pt");
  EXPECT_THAT(WhyNot("cpu"), IsEmpty());
  EXPECT_THAT(WhyNot("gpu0"), IsEmpty());
}

TEST_F(ModelFolderTest, AFolderThatIsNotThereHasNone) {
  EXPECT_THAT(ReadModels("/nonexistent", {}), IsEmpty());
  EXPECT_THAT(ReadModels("", {}), IsEmpty());
}

TEST_F(ModelFolderTest, OtherFilesAreNoManifests) {
  Write("notes.txt", "x");
  Write(".hidden.json", "x");
  std::filesystem::create_directories(folder() / kPackageFolder);
  Write("compiled/linear-0123.json", "{}");

  EXPECT_THAT(Read(), IsEmpty());
}

TEST_F(ModelFolderTest, ABrokenOneIsListedWithItsReason) {
  Write("Bad One.json", "{ no json");

  const std::vector<RegisteredModel> models = Read();
  const WorkloadSchema schema = SchemaOf(models.at(0), devices_, "2.11.0");

  EXPECT_EQ(schema.name, "bad_one.json");
  for (const char* device : {"cpu", "gpu0"}) {
    EXPECT_THAT(schema.variants.front().unavailable.at(device),
                HasSubstr("not JSON"));
  }
}

TEST_F(ModelFolderTest, AWorkloadsNameIsTaken) {
  EXPECT_THAT(FaultOf(Manifest("linear", "m.pt")),
              HasSubstr("there is a workload \"linear\" already"));
}

// Else the order of their files would decide what a name measures.
TEST_F(ModelFolderTest, OfTwoManifestsWithOneNameNeitherCanBeUsed) {
  Write("a.json", Manifest("mine", "m.pt"));
  Write("b.json", Manifest("mine", "m.pt"));

  const std::vector<RegisteredModel> models = Read();

  ASSERT_THAT(models, SizeIs(2));
  EXPECT_EQ(models[0].name(), "a.json");
  EXPECT_EQ(models[1].name(), "b.json");
  EXPECT_THAT(models[0].fault, HasSubstr("\"b.json\" has the name \"mine\""));
  EXPECT_THAT(models[1].fault, HasSubstr("\"a.json\" has the name \"mine\""));
}

TEST_F(ModelFolderTest, TwoBrokenOnesOfOneNameAreListedWithBothReasons) {
  Write("A.json", "{ no json");
  Write("a.json", Manifest("linear", "m.pt"));

  const std::vector<RegisteredModel> models = Read();

  ASSERT_THAT(models, SizeIs(1));
  EXPECT_THAT(models[0].fault, HasSubstr("not JSON"));
  EXPECT_THAT(models[0].fault, HasSubstr("\"a.json\": there is a workload"));
}

TEST_F(ModelFolderTest, AMissingFileIsTheReason) {
  EXPECT_THAT(FaultOf(Manifest("mine", "none.pt")),
              HasSubstr("there is no file \"none.pt\""));
}

TEST_F(ModelFolderTest, NothingOutsideTheFolderIsReached) {
  ASSERT_THAT(WriteFileAtomically(dir_ / "out.pt", "x"), IsOk());
  std::filesystem::create_symlink(dir_ / "out.pt", folder() / "link.pt");
  std::filesystem::create_directory_symlink(dir_.path(), folder() / "up");

  EXPECT_THAT(FaultOf(Manifest("mine", "../out.pt")), HasSubstr("outside"));
  EXPECT_THAT(FaultOf(Manifest("mine", "link.pt")), HasSubstr("outside"));
  EXPECT_THAT(FaultOf(Manifest("mine", "up/out.pt")), HasSubstr("outside"));
  EXPECT_THAT(FaultOf(Manifest("mine", (folder() / "m.pt").native())),
              HasSubstr("absolute"));
  EXPECT_THAT(FaultOf(Manifest("mine", ".")), HasSubstr("outside"));
}

TEST_F(ModelFolderTest, AManifestThatIsALinkToTheOutsideIsNotRead) {
  ASSERT_THAT(WriteFileAtomically(dir_ / "out.json", Manifest("m", "m.pt")),
              IsOk());
  std::filesystem::create_symlink(dir_ / "out.json", folder() / "a.json");

  EXPECT_THAT(Read().at(0).fault, HasSubstr("outside"));
}

TEST_F(ModelFolderTest, FoldersAndLinksWithinAreFine) {
  std::filesystem::create_directories(folder() / "v2");
  std::filesystem::rename(folder() / "m.pt", folder() / "v2/m.pt");
  std::filesystem::create_symlink("v2", folder() / "current");

  EXPECT_THAT(FaultOf(Manifest("mine", "current/m.pt")), IsEmpty());
}

TEST_F(ModelFolderTest, AFolderIsNoModel) {
  std::filesystem::create_directories(folder() / "d.pt");

  EXPECT_THAT(FaultOf(Manifest("mine", "d.pt")), HasSubstr("no regular file"));
}

TEST_F(ModelFolderTest, AFileOfTheWrongFormatIsTheReason) {
  Write("weights.pt", ZipFile().Add("w/data.pkl", "").Bytes());
  Write("text.pt", "hello");

  EXPECT_THAT(FaultOf(Manifest("mine", "weights.pt")),
              HasSubstr("no TorchScript file"));
  EXPECT_THAT(FaultOf(Manifest("mine", "text.pt")),
              HasSubstr("no ZIP archive"));
  EXPECT_THAT(FaultOf(Manifest("mine", "m.pt", "aoti")),
              HasSubstr("metadata is missing"));
}

TEST_F(ModelFolderTest, APackageRunsOnTheGpuItWasCompiledFor) {
  Write("p.json", Manifest("mine", "p.pt2", "aoti"));
  Write("p.pt2", PackageOf(R"({"AOTI_DEVICE_KEY": "cuda",
                               "AOTI_COMPUTE_CAPABILITY": "90"})"));

  EXPECT_THAT(WhyNot("gpu0"), IsEmpty());
  EXPECT_THAT(WhyNot("cpu"), HasSubstr("libtorch_cuda"));
  EXPECT_EQ(LargestUnpackedBytes(folder()), 5000);

  devices_[1].compute_capability = "8.0";
  EXPECT_THAT(WhyNot("gpu0"), HasSubstr("the GPU has 8.0"));
}

TEST_F(ModelFolderTest, ItsStateChangesWithWhatIsInIt) {
  Write("a.json", Manifest("mine", "m.pt"));
  const std::string before = FolderState(folder());
  EXPECT_EQ(FolderState(folder()), before);

  Write("a.json", Manifest("another", "m.pt"));
  const std::string changed = FolderState(folder());
  EXPECT_NE(changed, before);

  Write("m.pt", "other");
  EXPECT_NE(FolderState(folder()), changed);
}

TEST_F(ModelFolderTest, PackagesOfWorkloadsDoNotChangeItsState) {
  const std::string before = FolderState(folder());
  std::filesystem::create_directories(folder() / kPackageFolder);
  Write("compiled/x.pt2", "x");

  EXPECT_EQ(FolderState(folder()), before);
}

TEST_F(ModelFolderTest, TooManyManifestsAreNotRead) {
  for (size_t i = 0; i < kMaxModels + 10; ++i) {
    Write(absl::StrCat("m", i, ".json"), "");
  }

  const std::vector<RegisteredModel> models = Read();

  ASSERT_THAT(models, SizeIs(kMaxModels + 1));
  EXPECT_THAT(models.back().fault, HasSubstr("more than 256"));
}

}  // namespace
}  // namespace traza
