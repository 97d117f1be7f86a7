// An application behind the gateway: WebSocket echo, bodies both ways, trailers, early ends.
// Usage: node echo_server.mjs PORT
import { createServer } from "node:http";
import { createHash } from "node:crypto";

const port = Number(process.argv[2]);

function head(request, response) {
  const text = JSON.stringify({ method: request.method, url: request.url, fields: request.headers });
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) });
  response.end(request.method === "HEAD" ? undefined : text);
}

// The number of bytes received, and their hash.
function swallow(request, response) {
  let size = 0;
  const hash = createHash("sha256");
  request.on("data", (data) => { size += data.length; hash.update(data); });
  request.on("end", () => {
    const text = JSON.stringify({ size, sha256: hash.digest("hex"), trailers: request.trailers });
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end(text);
  });
}

// This many bytes, in chunks.
function pour(request, response) {
  let left = Number(request.url.split("/").at(-1));
  const part = Buffer.alloc(65536, "x");
  response.writeHead(200, { Trailer: "Checksum" });
  const more = () => {
    while (left > 0) {
      const size = Math.min(left, part.length);
      left -= size;
      if (!response.write(part.subarray(0, size))) return response.once("drain", more);
    }
    response.addTrailers({ Checksum: "done" });
    response.end();
  };
  more();
}

function cut(request, response) {
  response.writeHead(200, { "Content-Length": 1000000 });
  response.write("x".repeat(1000));
  setTimeout(() => response.destroy(), 50);
}

const calls = { swallow, pour, cut };
const server = createServer((request, response) =>
  (calls[request.url.split("/")[1]] ?? head)(request, response));
server.keepAliveTimeout = 60000;
server.on("checkContinue", (request, response) => {
  if (request.url === "/reject") {
    response.writeHead(417, { "Content-Length": 0, Connection: "close" });
    return response.end();
  }
  response.writeContinue();
  server.emit("request", request, response);
});

try {
  const { WebSocketServer } = await import("ws");
  const sockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", (request, socket, first) =>
    sockets.handleUpgrade(request, socket, first, (web) =>
      web.on("message", (data, binary) => web.send(data, { binary }))));
} catch {
  console.log("no ws");  // the package is not installed: no WebSockets
}
server.listen(port, "127.0.0.1");
