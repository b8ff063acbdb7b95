// slow-end.mjs HOW TIME FILE: a server that needs TIME ms to save FILE: after the end of its input (HOW:
// end), or, as many servers of SDKs do not heed that, after SIGTERM (term).
import { writeFileSync } from 'node:fs';
import process from 'node:process';
import { createInterface } from 'node:readline';

const [how, time, file] = process.argv.slice(2);

function save() {
  setTimeout(() => {
    writeFileSync(file, 'saved');
    process.exit(0);
  }, Number(time));
}

process.on('SIGTERM', how === 'term' ? save : () => {});
setInterval(() => {}, 1000);
createInterface({ input: process.stdin })
  .on('line', line => {
    const { id, method, params } = JSON.parse(line);
    const result = {
      protocolVersion: params?.protocolVersion,
      capabilities: {},
      serverInfo: { name: 'saver', version: '1' }
    };
    const answer =
      method === 'initialize' ? { result } : { error: { code: -32601, message: 'unknown' } };

    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  })
  .on('close', () => how === 'end' && save());
