// Sends messages of growing length to a WebSocket echo, all at once, and checks the replies.
// Usage: node websocket_client.mjs URL COUNT
import WebSocket from "ws";

const [url, count] = [process.argv[2], Number(process.argv[3])];
const socket = new WebSocket(url);
const message = (i) => String(i).repeat(1 + (i * 37) % 5000);
let heard = 0;
socket.on("open", () => { for (let i = 0; i < count; ++i) socket.send(message(i)); });
socket.on("message", (data) => {
  if (data.toString() !== message(heard)) { console.log(`message ${heard} differs`); process.exit(1); }
  if (++heard === count) socket.close(1000);
});
socket.on("close", (code) => { console.log(`heard ${heard} closed ${code}`); process.exit(heard === count ? 0 : 1); });
socket.on("error", (error) => { console.log(String(error)); process.exit(1); });
