// SPDX-License-Identifier: Apache-2.0
#include "server/http/http_server.h"

#include <sys/socket.h>

#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "httplib.h"
#include "nlohmann/json.hpp"

#include "base/error.h"

namespace traza {
namespace {

constexpr size_t kMaxBodyBytes = 4 << 20;
constexpr int kThreads = 16;
constexpr int kReadTimeoutSeconds = 10;
constexpr int kWriteTimeoutSeconds = 30;
constexpr char kJson[] = "application/json";
constexpr char kProto[] = "application/proto";

// The name of "host:port" or "[host]:port".
absl::string_view NameOf(absl::string_view host) {
  if (absl::StartsWith(host, "[")) return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

bool IsLoopbackName(absl::string_view host) {
  const absl::string_view name = NameOf(host);
  return name == "localhost" || name == "127.0.0.1" || name == "[::1]";
}

absl::string_view RouteOf(const httplib::Request& request) {
  for (const char* route : {"/metrics", "/healthz", "/readyz"}) {
    if (request.path == route) return route;
  }
  return absl::StartsWith(request.path, "/traza.v1.") ? "/{service}/{method}"
                                                      : "other";
}

// An error in the shape of the Connect protocol.
void SetError(int status, absl::string_view code, absl::string_view message,
              httplib::Response* response) {
  response->status = status;
  response->set_content(nlohmann::json{{"code", std::string(code)},
                                       {"message", std::string(message)}}
                            .dump(),
                        kJson);
}

// "application/json; charset=utf-8" -> "application/json".
std::string MediaType(const httplib::Request& request) {
  const std::string header = request.get_header_value("Content-Type");
  const std::vector<std::string> parts = absl::StrSplit(header, ';');
  return std::string(absl::StripAsciiWhitespace(parts.front()));
}

class HttpServerOnHttplib final : public HttpServer {
 public:
  HttpServerOnHttplib(HttpServerOptions options, HttpHandlers handlers)
      : options_(std::move(options)), handlers_(std::move(handlers)) {
    server_.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    server_.set_payload_max_length(kMaxBodyBytes);
    server_.set_read_timeout(kReadTimeoutSeconds);
    server_.set_write_timeout(kWriteTimeoutSeconds);
    // The library's default is SO_REUSEPORT, with which a second daemon would
    // silently share the port.
    server_.set_socket_options([](int socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    });
    AddRoutes();
  }

  ~HttpServerOnHttplib() override {
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }

  absl::Status Start() {
    if (options_.port == 0) {
      port_ = server_.bind_to_any_port(options_.host);
    } else if (server_.bind_to_port(options_.host, options_.port)) {
      port_ = options_.port;
    }
    if (port_ <= 0) {
      const std::string address =
          absl::StrCat(options_.host, ":", options_.port);
      return ErrorBuilder(absl::StatusCode::kFailedPrecondition,
                          Reason::kAddressInUse)
          .With("address", address)
          .Build(absl::StrCat("Cannot listen for HTTP on ", address, "."));
    }
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    // stop() before listen_after_bind() has begun would be lost.
    while (!server_.is_running()) std::this_thread::yield();
    return absl::OkStatus();
  }

  int port() const override { return port_; }

 private:
  void AddRoutes() {
    server_.set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          if (options_.any_host_name ||
              IsLoopbackName(request.get_header_value("Host"))) {
            return httplib::Server::HandlerResponse::Unhandled;
          }
          SetError(403, "permission_denied",
                   "This daemon serves requests to 127.0.0.1 or localhost "
                   "only; the Host header names another.",
                   &response);
          return httplib::Server::HandlerResponse::Handled;
        });
    server_.set_post_routing_handler(
        [](const httplib::Request&, httplib::Response& response) {
          response.set_header("X-Content-Type-Options", "nosniff");
          response.set_header("Content-Security-Policy", "default-src 'self'");
        });
    server_.set_logger([this](const httplib::Request& request,
                              const httplib::Response& response) {
      handlers_.count(std::string(RouteOf(request)), response.status);
    });
    server_.set_error_handler(
        [](const httplib::Request&, httplib::Response& response) {
          if (!response.body.empty()) return;
          SetError(response.status,
                   response.status == 404   ? "not_found"
                   : response.status == 413 ? "resource_exhausted"
                                            : "invalid_argument",
                   response.status == 404
                       ? "There is nothing here. Known: /metrics, /healthz, "
                         "/readyz, POST /traza.v1.JobService/CreateJob and "
                         "every other unary RPC."
                       : "The request cannot be read.",
                   &response);
        });
    server_.Get("/metrics", [this](const httplib::Request&,
                                   httplib::Response& response) {
      response.set_content(handlers_.metrics(), "text/plain; version=0.0.4");
    });
    server_.Get("/healthz",
                [](const httplib::Request&, httplib::Response& response) {
                  response.set_content("ok\n", "text/plain");
                });
    server_.Get("/readyz", [this](const httplib::Request&,
                                  httplib::Response& response) {
      const std::map<std::string, std::string> reasons = handlers_.unhealthy();
      response.status = reasons.empty() ? 200 : 503;
      response.set_content(
          nlohmann::json{{"ready", reasons.empty()}, {"reasons", reasons}}
              .dump(),
          kJson);
    });
    server_.Post(
        R"(/(traza\.v1\.[A-Za-z]+)/([A-Za-z]+))",
        [this](const httplib::Request& request, httplib::Response& response) {
          Call(request, &response);
        });
  }

  void Call(const httplib::Request& request, httplib::Response* response) {
    HttpCall call{.service = request.matches[1],
                  .method = request.matches[2],
                  .content_type = MediaType(request),
                  .body = request.body,
                  .timeout = std::nullopt};
    if (call.content_type != kJson && call.content_type != kProto) {
      return SetError(415, "invalid_argument",
                      "The content type must be application/json or "
                      "application/proto.",
                      response);
    }
    const std::string timeout = request.get_header_value("Connect-Timeout-Ms");
    int64_t milliseconds = 0;
    if (!timeout.empty()) {
      if (timeout.size() > 10 || !absl::SimpleAtoi(timeout, &milliseconds) ||
          milliseconds < 0) {
        return SetError(400, "invalid_argument",
                        "Connect-Timeout-Ms must be a whole number of at most "
                        "10 digits.",
                        response);
      }
      call.timeout = absl::Milliseconds(milliseconds);
    }
    const HttpReply reply = handlers_.call(call);
    response->status = reply.status;
    response->set_content(reply.body, reply.content_type);
  }

  const HttpServerOptions options_;
  const HttpHandlers handlers_;
  httplib::Server server_;
  int port_ = -1;
  std::thread thread_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Create(
    const HttpServerOptions& options, HttpHandlers handlers) {
  auto server =
      std::make_unique<HttpServerOnHttplib>(options, std::move(handlers));
  if (absl::Status status = server->Start(); !status.ok()) return status;
  return server;
}

}  // namespace traza
