// saver.mjs WHEN MS: server-v1, which needs MS milliseconds to save before it exits. WHEN is `any`, at the end of its
// input or a signal, or `signal`, at a signal only. It marks its pid at the start, when it is asked for its tools, and when
// it has saved.
import { appendFileSync } from 'node:fs';
import process from 'node:process';

const [when, ms] = process.argv.slice(2);
const mark = event =>
  appendFileSync(process.env.INTEROP_MARKS, `${JSON.stringify({ event, id: process.pid })}\n`);
let saving = false;

function save() {
  if (saving) return;
  saving = true;
  setTimeout(() => {
    mark('saved');
    process.exit(0);
  }, Number(ms));
}

for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.on(signal, save);
if (when === 'any') process.stdin.on('end', save);
setTimeout(() => process.exit(1), 50_000);
mark('serving');
await import('./server-v1.mjs');
process.stdin.on('data', bytes => bytes.includes('"tools/list"') && mark('listed'));
