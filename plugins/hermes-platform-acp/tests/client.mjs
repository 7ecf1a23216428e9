// A client made with the official TypeScript library: says what it is told, one JSON value a line.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, version, cwd, ...command] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const name = version === "2" ? "@agentclientprotocol/sdk/experimental/v2" : "@agentclientprotocol/sdk";
const acp = await import(pathToFileURL(require.resolve(name)));
const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "inherit"], cwd });
const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
const say = (told) => console.log(JSON.stringify(told));
let idle;
const ended = new Promise((done) => (idle = done));

const app = acp.client({ name: "tests" })
  .onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
    say({ asked: params.options.map((one) => one.optionId) });
    return { outcome: { outcome: "selected", optionId: "once" } };
  })
  .onNotification(acp.methods.client.session.update, ({ params }) => {
    say(params.update);
    if (params.update.sessionUpdate === "state_update" && params.update.state === "idle") idle(params.update.stopReason);
  });
await app.connectWith(stream, async (ctx) => {
  const info = { name: "tests", version: "1" };
  const named = version === "2" ? { info, capabilities: {} } : { clientInfo: info, clientCapabilities: {} };
  say(await ctx.request(acp.methods.agent.initialize, { protocolVersion: Number(version), ...named }));
  const { sessionId } = await ctx.request(acp.methods.agent.session.new, { cwd, mcpServers: [] });
  const prompt = [{ type: "text", text: "do it" }];
  const found = await ctx.request(acp.methods.agent.session.prompt, { sessionId, prompt });
  say({ ended: version === "2" ? await ended : found.stopReason });
});
child.stdin.end();
