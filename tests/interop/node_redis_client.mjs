// node node_redis_client.mjs PORT: calls the RESP listener through node-redis, and prints as JSON
// the reply, or the error of the handshake.
import { createClient } from "redis";

const port = Number(process.argv[2]);

async function ask(options, use) {
  // By default node-redis retries a failed handshake forever, and connect() never settles.
  const client = createClient({ ...options, socket: { port, reconnectStrategy: false } });
  client.on("error", () => {}); // the promise fails too
  try {
    await client.connect();
    return await use(client);
  } catch (failed) {
    return failed.message;
  } finally {
    if (client.isOpen) client.destroy();
  }
}

const said = {};
for (const RESP of [2, 3]) {
  said[`multi${RESP}`] = await ask({ RESP }, (client) => client.multi().incr(`m${RESP}`).incrBy(`m${RESP}`, 2).exec());
}
said.database = await ask({ database: 1 }, (client) => client.ping());
said.readonly = await ask({ readonly: true }, (client) => client.ping());
said.caching = await ask({ RESP: 3, clientSideCache: { ttl: 0, maxEntries: 0 } }, (client) => client.get("a"));
console.log(JSON.stringify(said));
