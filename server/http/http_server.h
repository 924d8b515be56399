// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_HTTP_HTTP_SERVER_H_
#define SERVER_HTTP_HTTP_SERVER_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace traza {

// A unary RPC that came over HTTP: POST /traza.v1.JobService/CreateJob.
struct HttpCall {
  std::string service;       // "traza.v1.JobService"
  std::string method;        // "CreateJob"
  std::string content_type;  // "application/json" or "application/proto"
  std::string body;
  std::optional<absl::Duration> timeout;  // Connect-Timeout-Ms
};

struct HttpReply {
  int status = 200;
  std::string content_type;
  std::string body;
};

struct HttpServerOptions {
  std::string host = "127.0.0.1";
  int port = 0;  // 0: any free one
  // Take requests whatever host name they were sent to. Without it only
  // loopback names are served, so that a web page cannot reach the daemon of
  // its visitor under a name of its own (DNS rebinding).
  bool any_host_name = false;
};

// What the server answers with. Called on its threads; must be thread-safe and
// outlive the server.
struct HttpHandlers {
  std::function<std::string()> metrics;
  // Component -> why it is not ready; empty when the daemon can run jobs.
  std::function<std::map<std::string, std::string>()> unhealthy;
  std::function<HttpReply(const HttpCall&)> call;
  // After each request, with the pattern of its route, not its path.
  std::function<void(const std::string& route, int status)> count;
};

// The routes that HttpHandlers::count is told of.
inline constexpr const char* kHttpRoutes[] = {"/metrics", "/healthz", "/readyz",
                                              "/{service}/{method}", "other"};

// The HTTP side of the daemon: metrics, health, and every unary RPC as
// Connect-unary JSON.
//
// Serves from Create() until destroyed. Thread-safe.
class HttpServer {
 public:
  // Fails with ADDRESS_IN_USE when the port is taken.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Create(
      const HttpServerOptions& options, HttpHandlers handlers);
  virtual ~HttpServer() = default;

  virtual int port() const = 0;
};

}  // namespace traza

#endif  // SERVER_HTTP_HTTP_SERVER_H_
