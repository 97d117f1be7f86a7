// node resp_client.mjs PORT: calls the RESP listener through ioredis, and prints the replies as
// JSON.
import Redis from "ioredis";

const client = new Redis({ port: Number(process.argv[2]), maxRetriesPerRequest: 0, connectionName: "interop" });
const said = {};
said.throttle = await client.call("CL.THROTTLE", "user", 15, 30, 60, 1);
const crowd = Array.from({ length: 50 }, () => client.call("CL.THROTTLE", "crowd", 9, 1, 86400));
said.crowd = (await Promise.all(crowd)).filter(([limited]) => limited === 0).length;
said.check = (await client.call("PENSTOCK.CHECK", "api", "path", "/search", "user", "a")).slice(0, 3);
said.counter = [await client.incr("n"), await client.incrby("n", 10), await client.get("n"), await client.expire("n", 60)];
const multi = await client.multi().incr("m").call("CL.THROTTLE", "m", 2, 1, 3600).incrby("m", 2).exec();
said.multi = multi.map(([failed, value]) => [failed, Array.isArray(value) ? value.slice(0, 3) : value]);
console.log(JSON.stringify(said));
await client.quit();
