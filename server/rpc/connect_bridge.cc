// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/connect_bridge.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "google/protobuf/util/json_util.h"

#include "api/convert_job.h"
#include "api/convert_status.h"
#include "base/error.h"
#include "base/status_macros.h"
#include "base/utf8.h"
#include "server/rpc/call_record.h"
#include "server/rpc/connect_error.h"
#include "server/rpc/limits.h"
#include "traza/v1/host_service.pb.h"
#include "traza/v1/job_service.pb.h"
#include "traza/v1/trace_service.pb.h"

namespace traza {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::Message;
using google::protobuf::MessageFactory;
using google::protobuf::MethodDescriptor;

constexpr char kJson[] = "application/json";
constexpr char kProto[] = "application/proto";

// The descriptors that calls are resolved with; naming the messages also makes
// the linker keep them.
const DescriptorPool& Pool() {
  v1::CreateJobRequest::descriptor();
  v1::GetTraceRequest::descriptor();
  v1::GetHostRequest::descriptor();
  return *DescriptorPool::generated_pool();
}

std::unique_ptr<Message> NewMessage(const Descriptor* type) {
  return std::unique_ptr<Message>(
      MessageFactory::generated_factory()->GetPrototype(type)->New());
}

absl::StatusOr<const MethodDescriptor*> FindMethod(const ConnectCall& call) {
  const std::string name = absl::StrCat(call.service, ".", call.method);
  const MethodDescriptor* method = absl::StartsWith(name, "traza.v1.")
                                       ? Pool().FindMethodByName(name)
                                       : nullptr;
  if (method == nullptr) {
    return ErrorBuilder(absl::StatusCode::kUnimplemented,
                        Reason::kNotImplemented)
        .Build(absl::StrCat("There is no method ", Quoted(name, kMaxEchoBytes),
                            "."));
  }
  if (!method->client_streaming() && !method->server_streaming()) return method;
  std::string instead = "use gRPC";
  if (method->name() == "WatchJob") {
    instead = "use WaitJob, or gRPC";
  } else if (method->name() == "ReadTrace") {
    instead =
        "download the file from /v1/traces/TRACE where the server has it,"
        " or use gRPC";
  }
  return ErrorBuilder(absl::StatusCode::kUnimplemented, Reason::kNotImplemented)
      .Build(absl::StrCat(method->name(), " is a stream; ", instead, "."));
}

absl::Status ParseBody(const ConnectCall& call, Message* to) {
  std::string why;
  if (call.content_type == kProto) {
    if (to->ParseFromString(call.body)) return absl::OkStatus();
    why = "the bytes are no such message";
  } else if (call.content_type == kJson) {
    // An empty body is the empty message for protobuf, but no JSON.
    const auto status = google::protobuf::util::JsonStringToMessage(
        call.body.empty() ? "{}" : call.body, to);
    if (status.ok()) return absl::OkStatus();
    why = EscapeControlCharacters(CutUtf8(status.message().as_string(), 300));
  } else {
    why = absl::StrCat("the content type is ",
                       Quoted(call.content_type, kMaxEchoBytes), "; must be ",
                       kJson, " or ", kProto);
  }
  return ErrorBuilder(absl::StatusCode::kInvalidArgument,
                      Reason::kInvalidArgument)
      .Build(absl::StrCat("The body cannot be read as ",
                          to->GetDescriptor()->full_name(), ": ", why, "."));
}

// A long wait would hold a thread of the HTTP server.
void ClampWait(Message* request) {
  if (request->GetDescriptor() != v1::WaitJobRequest::descriptor()) return;
  auto& wait = static_cast<v1::WaitJobRequest&>(*request);
  const absl::StatusOr<absl::Duration> asked = FromProto(wait.timeout());
  // What is no duration is left for the handler to refuse.
  if (!wait.has_timeout() || (asked.ok() && *asked > kMaxHttpWait)) {
    *wait.mutable_timeout() = ToProto(kMaxHttpWait);
  }
}

absl::StatusOr<ConnectReply> FormatReply(const ConnectCall& call,
                                         const Message& message) {
  ConnectReply reply;
  reply.content_type = call.content_type;
  if (call.content_type == kProto) {
    reply.body = message.SerializeAsString();
    return reply;
  }
  const auto status =
      google::protobuf::util::MessageToJsonString(message, &reply.body);
  if (status.ok()) return reply;
  return absl::InternalError("a reply cannot be printed as JSON");
}

absl::Status Draining() {
  return ErrorBuilder(absl::StatusCode::kUnavailable, Reason::kDraining)
      .RetryAfter(kTooManyRequestsRetry)
      .Build("The daemon is shutting down.");
}

grpc::ByteBuffer ToBuffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

std::string FromBuffer(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (!buffer.Dump(&slices).ok()) return bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

}  // namespace

ConnectBridge::ConnectBridge(std::shared_ptr<grpc::Channel> channel)
    : stub_(std::move(channel)) {}

void ConnectBridge::Close() {
  MutexLock lock(mu_);
  closed_ = true;
}

bool ConnectBridge::Start(const ConnectCall& call, grpc::ClientContext* context,
                          const grpc::ByteBuffer* request,
                          grpc::ByteBuffer* response,
                          std::function<void(grpc::Status)> done) {
  // Held while gRPC starts the call, and no longer: Close() has to wait for
  // that. Nothing of ours that runs inside takes this mutex.
  MutexLock lock(mu_);
  if (closed_) return false;
  stub_.UnaryCall(context, absl::StrCat("/", call.service, "/", call.method),
                  {}, request, response, std::move(done));
  return true;
}

ConnectReply ConnectBridge::Call(const ConnectCall& call) {
  const absl::StatusOr<const MethodDescriptor*> method = FindMethod(call);
  if (!method.ok()) return ToConnectReply(ToWireError(method.status()));
  const std::unique_ptr<Message> request = NewMessage((*method)->input_type());
  const absl::Status parsed = ParseBody(call, request.get());
  if (!parsed.ok()) return ToConnectReply(ToWireError(parsed));
  ClampWait(request.get());

  grpc::ClientContext context;
  const absl::Duration timeout =
      std::min(call.timeout.value_or(kDefaultHttpTimeout), kMaxHttpTimeout);
  context.set_deadline(std::chrono::system_clock::now() +
                       absl::ToChronoNanoseconds(timeout));
  const grpc::ByteBuffer sent = ToBuffer(request->SerializeAsString());
  grpc::ByteBuffer received;
  std::promise<grpc::Status> done;
  if (!Start(call, &context, &sent, &received,
             [&done](const grpc::Status& status) { done.set_value(status); })) {
    return ToConnectReply(ToWireError(Draining()));
  }
  // The deadline of the context ends the wait.
  const grpc::Status status = done.get_future().get();
  if (!status.ok()) {
    return ToConnectReply({static_cast<int>(status.error_code()),
                           status.error_message(), status.error_details()});
  }
  const std::unique_ptr<Message> response =
      NewMessage((*method)->output_type());
  absl::StatusOr<ConnectReply> reply =
      response->ParseFromString(FromBuffer(received))
          ? FormatReply(call, *response)
          : absl::InternalError("a reply of our own cannot be parsed");
  if (!reply.ok()) return ToConnectReply(ToWireError(reply.status()));
  return *std::move(reply);
}

}  // namespace traza
