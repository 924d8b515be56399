// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/diff_parts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "absl/container/flat_hash_map.h"

#include "trace/analysis/diff_align.h"
#include "trace/analysis/diff_fused.h"
#include "trace/analysis/row_names.h"
#include "trace/analysis/stable_hash.h"
#include "trace/record.h"

namespace traza {
namespace {

using Nodes = std::vector<int32_t>;

// Children of a pair, still to be aligned.
struct Task {
  int32_t around[2];
  Nodes children[2];
};

class TreeAligner {
 public:
  TreeAligner(const DiffSide& before, const DiffSide& after)
      : sides_({&before, &after}) {}

  std::vector<DiffPart> Run();

 private:
  const DiffSide& side(int i) const { return *sides_[i]; }
  const DiffNode& node(int i, int32_t id) const {
    return sides_[i]->nodes()[id];
  }
  Nodes ChildrenOf(int i, int32_t id) const;
  std::vector<uint64_t> KeysOf(int i, const Nodes& nodes) const;
  // Below a node: children with work in them.
  int64_t PlacesOf(int i, int32_t id) const;
  // Of these nodes and all below them: work, and the rest.
  void Gather(int i, const Nodes& tops, Nodes* work, Nodes* rest) const;

  void AddPair(int32_t a, int32_t b);
  void AlignChildren(const Task& task);
  // Aligns what is in both in another order, and returns what is in order, with
  // the ends of both after it.
  Matches AlignInOrder(const int32_t (&around)[2], const Nodes (&nodes)[2],
                       bool is_work, std::vector<uint8_t> (&moved)[2]);
  // A piece of work of a block that is in both.
  void MatchWork(int32_t a, int32_t b, const int32_t (&around)[2]);
  void AlignMatch(int32_t a, int32_t b, int32_t around_a, int32_t around_b);
  // `next` is what follows the block and is in both.
  void AlignBlock(const int32_t (&around)[2], const Nodes (&block)[2],
                  const int32_t (&next)[2]);
  void AddOneSided(int i, const int32_t (&around)[2], const Nodes& block,
                   const int32_t (&next)[2]);
  void AlignWork(const int32_t (&around)[2], const Nodes (&work)[2]);
  void AddSegment(const int32_t (&around)[2], Nodes (&work)[2],
                  const int32_t (&next)[2]);
  // Pairs the matrix kernels of a segment where both sides have as many.
  Matches PairMatrixKernels(const Nodes (&work)[2]) const;
  bool IsMatrix(int i, int32_t id) const;
  bool Unwrap(const int32_t (&around)[2], const Nodes (&block)[2]);
  void Add(DiffPart part) { pending_.push_back(std::move(part)); }
  void Flush();
  uint64_t GroupOf(const DiffPart& part);
  uint64_t PathHash(int i, int32_t id);

  const std::array<const DiffSide*, 2> sides_;
  SequenceAligner aligner_;
  std::vector<Task> tasks_;        // a stack of our own: trees may be deep
  std::vector<DiffPart> pending_;  // of the block at hand
  std::vector<DiffPart> parts_;
  absl::flat_hash_map<uint64_t, size_t> groups_;
  std::vector<uint64_t> paths_[2];  // by node
};

Nodes TreeAligner::ChildrenOf(int i, int32_t id) const {
  Nodes children;
  for (int32_t child = node(i, id).first_child; child != kNoNode;
       child = node(i, child).next_sibling) {
    children.push_back(child);
  }
  return children;
}

std::vector<uint64_t> TreeAligner::KeysOf(int i, const Nodes& nodes) const {
  std::vector<uint64_t> keys;
  keys.reserve(nodes.size());
  for (const int32_t id : nodes) keys.push_back(node(i, id).key);
  return keys;
}

int64_t TreeAligner::PlacesOf(int i, int32_t id) const {
  int64_t places = 0;
  for (int32_t child = node(i, id).first_child; child != kNoNode;
       child = node(i, child).next_sibling) {
    places += node(i, child).works > 0;
  }
  return places;
}

void TreeAligner::Gather(int i, const Nodes& tops, Nodes* work,
                         Nodes* rest) const {
  Nodes all;
  for (const int32_t top : tops) {
    const Nodes below = side(i).Below(top);
    all.insert(all.end(), below.begin(), below.end());
  }
  std::ranges::sort(all);
  for (const int32_t id : all) {
    (side(i).IsWork(id) ? work : rest)->push_back(id);
  }
}

std::vector<DiffPart> TreeAligner::Run() {
  for (int i = 0; i < 2; ++i) {
    paths_[i].reserve(side(i).nodes().size());
    for (int32_t id = 0; id < static_cast<int32_t>(side(i).nodes().size());
         ++id) {
      const int32_t parent = node(i, id).parent;
      paths_[i].push_back(parent == kNoNode
                              ? 0
                              : AppendHash(paths_[i][parent], node(i, id).key));
    }
  }
  AddPair(0, 0);
  while (!tasks_.empty()) {
    const Task task = std::move(tasks_.back());
    tasks_.pop_back();
    AlignChildren(task);
  }
  Flush();
  return std::move(parts_);
}

void TreeAligner::AddPair(int32_t a, int32_t b) {
  DiffPart own;
  own.at[0] = a, own.at[1] = b;
  own.nodes[0] = own.tops[0] = {a};
  own.nodes[1] = own.tops[1] = {b};
  own.has_work = false;
  Add(std::move(own));
  tasks_.push_back({{a, b}, {ChildrenOf(0, a), ChildrenOf(1, b)}});
}

// The elements of a range that did not move.
Nodes Slice(const Nodes& nodes, size_t begin, size_t end,
            const std::vector<uint8_t>& moved) {
  Nodes slice;
  for (size_t i = begin; i < end; ++i) {
    if (moved[i] == 0) slice.push_back(nodes[i]);
  }
  return slice;
}

Matches TreeAligner::AlignInOrder(const int32_t (&around)[2],
                                  const Nodes (&nodes)[2], bool is_work,
                                  std::vector<uint8_t> (&moved)[2]) {
  const std::vector<uint64_t> keys[2] = {KeysOf(0, nodes[0]),
                                         KeysOf(1, nodes[1])};
  Matches matches = aligner_.Align(keys[0], keys[1]);
  for (int s = 0; s < 2; ++s) moved[s].assign(nodes[s].size(), 0);
  for (const auto& [i, j] : MovedElements(keys[0], keys[1], matches)) {
    moved[0][i] = moved[1][j] = 1;
    if (is_work) {
      MatchWork(nodes[0][i], nodes[1][j], around);
    } else {
      AlignMatch(nodes[0][i], nodes[1][j], around[0], around[1]);
    }
  }
  matches.emplace_back(nodes[0].size(), nodes[1].size());
  return matches;
}

void TreeAligner::AlignChildren(const Task& task) {
  std::vector<uint8_t> moved[2];
  const Matches matches =
      AlignInOrder(task.around, task.children, false, moved);
  Flush();
  size_t begin[2] = {0, 0};
  for (const auto& [i, j] : matches) {
    const Nodes block[2] = {Slice(task.children[0], begin[0], i, moved[0]),
                            Slice(task.children[1], begin[1], j, moved[1])};
    begin[0] = i + 1, begin[1] = j + 1;
    const bool last = i == task.children[0].size();
    AlignBlock(task.around, block,
               {last ? kNoNode : task.children[0][i],
                last ? kNoNode : task.children[1][j]});
    if (!last) {
      AlignMatch(task.children[0][i], task.children[1][j], task.around[0],
                 task.around[1]);
    }
    Flush();
  }
}

void TreeAligner::AlignMatch(int32_t a, int32_t b, int32_t around_a,
                             int32_t around_b) {
  const DiffNode& x = node(0, a);
  const DiffNode& y = node(1, b);
  const bool alike = x.works == y.works && x.work_hash == y.work_hash;
  const bool range = x.kind == EventKind::kRange;
  if (range || (!alike && std::max(PlacesOf(0, a), PlacesOf(1, b)) > 1)) {
    AddPair(a, b);
    return;
  }
  DiffPart part;
  if (IsDeviceWork(x.kind)) {
    part.kind = DiffPart::Kind::kWork;
    part.at[0] = around_a, part.at[1] = around_b;
    part.nodes[0] = {a}, part.nodes[1] = {b};
    part.has_cpu = false;
    if (!alike) part.only[0] = {a}, part.only[1] = {b};
    Add(std::move(part));
    return;
  }
  part.kind = DiffPart::Kind::kSubtree;
  part.at[0] = a, part.at[1] = b;
  part.nodes[0] = side(0).Below(a), part.nodes[1] = side(1).Below(b);
  part.tops[0] = {a}, part.tops[1] = {b};
  if (!alike) {
    Nodes work[2];
    std::vector<uint64_t> names[2];
    for (int i = 0; i < 2; ++i) {
      for (const int32_t id : part.nodes[i]) {
        if (!side(i).IsWork(id)) continue;
        work[i].push_back(id);
        names[i].push_back(HashText(side(i).NameOf(id)));
      }
    }
    std::vector<uint8_t> matched[2] = {std::vector<uint8_t>(work[0].size()),
                                       std::vector<uint8_t>(work[1].size())};
    for (const auto& [i, j] : aligner_.Align(names[0], names[1])) {
      matched[0][i] = matched[1][j] = 1;
    }
    for (int i = 0; i < 2; ++i) {
      for (size_t k = 0; k < work[i].size(); ++k) {
        if (matched[i][k] == 0) part.only[i].push_back(work[i][k]);
      }
    }
  }
  Add(std::move(part));
}

void TreeAligner::AddOneSided(int i, const int32_t (&around)[2],
                              const Nodes& block, const int32_t (&next)[2]) {
  Nodes direct;
  for (const int32_t id : block) {
    if (IsDeviceWork(node(i, id).kind)) {
      direct.push_back(id);
      continue;
    }
    DiffPart part;
    part.kind = DiffPart::Kind::kSubtree;
    part.at[i] = id;
    part.nodes[i] = side(i).Below(id);
    part.tops[i] = {id};
    std::ranges::copy_if(part.nodes[i], std::back_inserter(part.only[i]),
                         [&](int32_t below) { return side(i).IsWork(below); });
    Add(std::move(part));
  }
  if (direct.empty()) return;
  Nodes work[2];
  work[i] = std::move(direct);
  AddSegment(around, work, next);
}

// A range has another name on the other side, or is there on one side only:
// what is in it can be aligned all the same.
bool TreeAligner::Unwrap(const int32_t (&around)[2], const Nodes (&block)[2]) {
  bool range[2];
  for (int i = 0; i < 2; ++i) {
    range[i] =
        block[i].size() == 1 && node(i, block[i][0]).kind == EventKind::kRange;
  }
  if (range[0] && range[1]) {
    AddPair(block[0][0], block[1][0]);
    return true;
  }
  if (!range[0] && !range[1]) return false;
  const int i = range[0] ? 0 : 1;
  const int32_t only = block[i][0];
  DiffPart own;
  own.at[i] = only;
  own.nodes[i] = own.tops[i] = {only};
  own.has_work = false;
  Add(std::move(own));
  Task task{{around[0], around[1]}, {block[0], block[1]}};
  task.around[i] = only;
  task.children[i] = ChildrenOf(i, only);
  tasks_.push_back(std::move(task));
  return true;
}

void TreeAligner::AlignBlock(const int32_t (&around)[2],
                             const Nodes (&block)[2],
                             const int32_t (&next)[2]) {
  if (block[1].empty()) return AddOneSided(0, around, block[0], next);
  if (block[0].empty()) return AddOneSided(1, around, block[1], next);
  if (Unwrap(around, block)) return;
  Nodes work[2];
  Nodes rest[2];
  for (int i = 0; i < 2; ++i) Gather(i, block[i], &work[i], &rest[i]);
  Flush();
  if (!work[0].empty() || !work[1].empty()) AlignWork(around, work);
  JoinFused(sides_, &pending_);
  if (rest[0].empty() && rest[1].empty()) return;
  // All of the block is one segment: its operators are those around it.
  if (pending_.size() == 1 && pending_[0].kind == DiffPart::Kind::kSegment &&
      !pending_[0].has_cpu) {
    for (int i = 0; i < 2; ++i) {
      Nodes& nodes = pending_[0].nodes[i];
      nodes.insert(nodes.end(), rest[i].begin(), rest[i].end());
    }
    pending_[0].has_cpu = true;
    return;
  }
  DiffPart host;
  host.kind = DiffPart::Kind::kHost;
  for (int i = 0; i < 2; ++i) {
    host.at[i] = around[i];
    host.nodes[i] = std::move(rest[i]);
    host.tops[i] = host.nodes[i];
  }
  host.has_work = false;
  Add(std::move(host));
}

void TreeAligner::AlignWork(const int32_t (&around)[2],
                            const Nodes (&work)[2]) {
  std::vector<uint8_t> moved[2];
  const Matches matches = AlignInOrder(around, work, true, moved);
  size_t begin[2] = {0, 0};
  for (const auto& [i, j] : matches) {
    const bool last = i == work[0].size();
    Nodes segment[2] = {Slice(work[0], begin[0], i, moved[0]),
                        Slice(work[1], begin[1], j, moved[1])};
    begin[0] = i + 1, begin[1] = j + 1;
    AddSegment(around, segment,
               {last ? kNoNode : work[0][i], last ? kNoNode : work[1][j]});
    if (!last) MatchWork(work[0][i], work[1][j], around);
  }
}

void TreeAligner::MatchWork(int32_t a, int32_t b, const int32_t (&around)[2]) {
  if (IsDeviceWork(node(0, a).kind)) {
    AlignMatch(a, b, around[0], around[1]);
    return;
  }
  // Operators of a trace without device work: each by itself.
  DiffPart part;
  part.kind = DiffPart::Kind::kOwn;
  part.at[0] = a, part.at[1] = b;
  part.nodes[0] = part.tops[0] = {a};
  part.nodes[1] = part.tops[1] = {b};
  Add(std::move(part));
}

bool TreeAligner::IsMatrix(int i, int32_t id) const {
  return node(i, id).kind == EventKind::kKernel &&
         ClassifyKernel(side(i).NameOf(id)) == KernelClass::kMatrix;
}

Matches TreeAligner::PairMatrixKernels(const Nodes (&work)[2]) const {
  if (work[0].empty() || work[1].empty()) return {};
  std::vector<size_t> places[2];
  for (int i = 0; i < 2; ++i) {
    for (size_t k = 0; k < work[i].size(); ++k) {
      if (IsMatrix(i, work[i][k])) places[i].push_back(k);
    }
  }
  Matches pairs;
  if (places[0].size() != places[1].size()) return pairs;
  for (size_t k = 0; k < places[0].size(); ++k) {
    pairs.emplace_back(places[0][k], places[1][k]);
  }
  return pairs;
}

void TreeAligner::AddSegment(const int32_t (&around)[2], Nodes (&work)[2],
                             const int32_t (&next)[2]) {
  Matches pairs = PairMatrixKernels(work);
  pairs.emplace_back(work[0].size(), work[1].size());
  size_t begin[2] = {0, 0};
  for (const auto& [i, j] : pairs) {
    const size_t end[2] = {i, j};
    const bool last = i == work[0].size();
    DiffPart part;
    part.kind = DiffPart::Kind::kSegment;
    for (int s = 0; s < 2; ++s) {
      part.at[s] = around[s];
      part.nodes[s].assign(work[s].begin() + static_cast<ptrdiff_t>(begin[s]),
                           work[s].begin() + static_cast<ptrdiff_t>(end[s]));
      part.only[s] = part.nodes[s];
      part.next[s] = last ? next[s] : work[s][end[s]];
      begin[s] = end[s] + 1;
    }
    // Where operators are the work, their time is theirs alone.
    const bool any = !part.nodes[0].empty() || !part.nodes[1].empty();
    const int of = part.nodes[0].empty() ? 1 : 0;
    if (any) {
      part.has_cpu = !IsDeviceWork(node(of, part.nodes[of][0]).kind);
      Add(std::move(part));
    }
    if (!last) AlignMatch(work[0][i], work[1][j], around[0], around[1]);
  }
}

uint64_t TreeAligner::PathHash(int i, int32_t id) {
  return id == kNoNode ? 1 : paths_[i][id];
}

uint64_t TreeAligner::GroupOf(const DiffPart& part) {
  uint64_t group = static_cast<uint64_t>(part.kind) * 2 + part.has_cpu;
  for (int i = 0; i < 2; ++i) {
    group = AppendHash(group, PathHash(i, part.at[i]));
    uint64_t only = 0;
    for (const int32_t id : part.only[i]) {
      only += MixBits(HashText(side(i).NameOf(id)));
    }
    group = AppendHash(group, only);
  }
  // Work that is in both has no other name than its own.
  return part.kind == DiffPart::Kind::kWork
             ? AppendHash(group, HashText(side(0).NameOf(part.nodes[0][0])))
             : group;
}

void TreeAligner::Flush() {
  for (DiffPart& part : pending_) {
    const auto [group, added] =
        groups_.try_emplace(GroupOf(part), parts_.size());
    if (added) {
      parts_.push_back(std::move(part));
      continue;
    }
    DiffPart& same = parts_[group->second];
    ++same.times;
    for (int i = 0; i < 2; ++i) {
      same.nodes[i].insert(same.nodes[i].end(), part.nodes[i].begin(),
                           part.nodes[i].end());
      same.tops[i].insert(same.tops[i].end(), part.tops[i].begin(),
                          part.tops[i].end());
    }
  }
  pending_.clear();
}

}  // namespace

std::vector<DiffPart> AlignSides(const DiffSide& before,
                                 const DiffSide& after) {
  return TreeAligner(before, after).Run();
}

}  // namespace traza
