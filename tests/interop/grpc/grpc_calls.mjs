// Calls a gRPC listener with grpc-js: node grpc_calls.mjs DESCRIPTORS PORT SCENARIO. DESCRIPTORS is
// a serialised FileDescriptorSet of proto/. Prints one line of JSON with the observed outcomes.
import { readFileSync } from "node:fs";
import * as grpc from "@grpc/grpc-js";
import * as loader from "@grpc/proto-loader";

const [descriptors, port, scenario] = process.argv.slice(2);
const options = { keepCase: true, longs: Number, enums: String, defaults: true };
const api = grpc.loadPackageDefinition(
  loader.loadFileDescriptorSetFromBuffer(readFileSync(descriptors), options),
);
const connect = (Service) =>
  new Service(`127.0.0.1:${port}`, grpc.credentials.createInsecure(), {
    "grpc.use_local_subchannel_pool": 1,
    "grpc.enable_http_proxy": 0,
  });
const limits = connect(api.envoy.service.ratelimit.v3.RateLimitService);
const health = connect(api.grpc.health.v1.Health);
const reflection = connect(api.grpc.reflection.v1.ServerReflection);

const entries = (facts) => Object.entries(facts).map(([key, value]) => ({ key, value }));
const question = (...descriptors) => ({
  domain: "edge",
  descriptors: descriptors.map((facts) => ({ entries: entries(facts) })),
});
const soon = (milliseconds = 10_000) => ({ deadline: Date.now() + milliseconds });
// Settles with the answer, or with {failed: code}.
const ask = (asked, settings = soon(), started = () => {}) =>
  new Promise((resolve) => {
    started(
      limits.ShouldRateLimit(asked, settings, (error, answer) =>
        resolve(error ? { failed: grpc.status[error.code] } : answer),
      ),
    );
  });
const outcome = (answer) => answer.failed ?? answer.overall_code;
const login = (address) => question({ route: "login", remote_address: address });
const count = (all) => all.reduce((sums, each) => ({ ...sums, [each]: (sums[each] ?? 0) + 1 }), {});

const scenarios = {
  async decisions() {
    const answers = [];
    for (let i = 0; i < 4; ++i) answers.push(await ask(login("node")));
    return { codes: answers.map(outcome), first: answers[0], last: answers[3] };
  },
  async descriptors() {
    return ask(question({ unknown: "x" }, { route: "login", remote_address: "two" }));
  },
  async mistakes() {
    const large = question({ a: "x".repeat(2 << 20) });
    return [outcome(await ask({ domain: "", descriptors: [] })), outcome(await ask(large)),
      outcome(await ask(login("after")))];
  },
  async crowd() {
    const calls = Array.from({ length: 1000 }, () => ask(question({ route: "crowd" })));
    return count((await Promise.all(calls)).map(outcome));
  },
  async health() {
    const check = (service) =>
      new Promise((resolve) =>
        health.Check({ service }, soon(), (error, answer) =>
          resolve(error ? grpc.status[error.code] : answer.status),
        ),
      );
    const watched = await new Promise((resolve, reject) => {
      const watch = health.Watch({ service: "" }, soon());
      watch.on("data", (answer) => {
        resolve(answer.status);
        watch.cancel();
      });
      watch.on("error", reject); // has no effect after the answer
    });
    return { all: await check(""), unknown: await check("nothing"), watched };
  },
  async reflection() {
    const listed = await new Promise((resolve, reject) => {
      const stream = reflection.ServerReflectionInfo(soon());
      stream.on("data", resolve);
      stream.on("error", reject);
      stream.write({ list_services: "*" });
      stream.end();
    });
    return listed.list_services_response.service.map((each) => each.name);
  },
  // The store does not respond.
  async deadline() {
    const start = Date.now();
    const answer = await ask(login("late"), soon(100));
    return { outcome: outcome(answer), took: Date.now() - start };
  },
  async cancel() {
    const calls = [];
    const answers = Array.from({ length: 200 }, (_, i) =>
      ask(login(`gone${i}`), soon(), (call) => calls.push(call)),
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    calls.forEach((call) => call.cancel());
    return count((await Promise.all(answers)).map(outcome));
  },
  // Calls until the daemon shuts down, this many at a time, with the outcome of each.
  async shutdown() {
    const seen = [];
    const go_on = async () => {
      for (;;) {
        const answer = await ask(question({ route: "total" }));
        seen.push(outcome(answer));
        if (seen.length === 200) console.error("in flight");
        if (answer.failed) return;
      }
    };
    await Promise.all(Array.from({ length: 16 }, go_on));
    return count(seen);
  },
};

console.log(JSON.stringify(await scenarios[scenario]()));
[limits, health, reflection].forEach((client) => client.close());
