// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_COLUMNS_H_
#define TRACE_COLUMNS_H_

namespace traza {

// Calls `visit(name, column)` for each column of `trace` (a Trace, const or
// not) that can be null, in the order of the file format. What holds for all
// of them is written once, over this list.
template <typename TraceT, typename Visitor>
void ForEachColumn(TraceT& trace, Visitor&& visit) {
  visit("phase", trace.phase);
  visit("step", trace.step);
  visit("process", trace.process);
  visit("thread", trace.thread);
  visit("device", trace.device);
  visit("context", trace.context);
  visit("stream", trace.stream);
  visit("parent", trace.parent);
  visit("op", trace.op);
  visit("call", trace.call);
  visit("correlation", trace.correlation);
  visit("graph", trace.graph);
  visit("graph_node", trace.graph_node);
  visit("grid_x", trace.grid_x);
  visit("grid_y", trace.grid_y);
  visit("grid_z", trace.grid_z);
  visit("block_x", trace.block_x);
  visit("block_y", trace.block_y);
  visit("block_z", trace.block_z);
  visit("registers", trace.registers);
  visit("shared_static", trace.shared_static);
  visit("shared_dynamic", trace.shared_dynamic);
  visit("local_bytes", trace.local_bytes);
  visit("occupancy", trace.occupancy);
  visit("bytes", trace.bytes);
  visit("copy_kind", trace.copy_kind);
  visit("shapes", trace.shapes);
  visit("dtypes", trace.dtypes);
  visit("flops", trace.flops);
  visit("value", trace.value);
}

}  // namespace traza

#endif  // TRACE_COLUMNS_H_
