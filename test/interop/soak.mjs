// soak.mjs [RESTARTS [CALLS]]: a server that crashes at random behind canceld, and a client of the MCP SDK 1.x that
// calls it all the while. Each call has one outcome; one that was not in flight at a crash is answered; and canceld
// holds no more descriptors and no more memory in the end than after the first tenth of the crashes.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { until } from './wire.mjs';

const restarts = Number(process.argv[2] ?? 1000);
const calls = Number(process.argv[3] ?? 100_000);
const seed = Number(process.env.SOAK_SEED ?? Date.now() % 1_000_000);
const together = 16;
const growthMax = 256; // KB

let state = seed;

// Numerical Recipes' generator: the same crashes for the same seed.
function random(below) {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}

// What canceld logs, as it comes: the server's pid, and how often it was lost and replaced.
const seen = { server: 0, lost: 0, restarted: 0, tail: '' };

function hear(chunk) {
  const lines = (seen.tail + chunk).split('\n');

  seen.tail = lines.pop();
  for (const line of lines) {
    const [, word, fields] = line.match(/^canceld\[\d+\][^:]*: (\w+)(.*)$/) ?? [];

    if (word === 'STARTED') seen.server = Number(fields.match(/ process=(\d+)/)[1]);
    else if (word === 'RESTARTING') seen.lost++;
    else if (word === 'RESTARTED') seen.restarted++;
    else if (word === 'RESTART_REFUSED') assert.fail(line);
  }
}

const transport = new StdioClientTransport({
  command: process.env.CANCELD,
  args: ['-v', `-r${restarts + 1}/24h`, '--', process.env.DEMO_SERVER],
  stderr: 'pipe'
});
const client = new Client({ name: 'soak', version: '1' });
const faults = [];
const outcomes = { answered: 0, lost: 0 };
let crashes = 0;

// In flight at a crash is what was asked before canceld knew of it, and not answered before it.
async function call(name, args) {
  const before = { crashes, lost: seen.lost };
  const inTheWindow = before.crashes > before.lost;

  try {
    const { content } = await client.callTool({ name, arguments: args });

    assert.deepEqual(JSON.parse(content[0].text), args);
    outcomes.answered++;
  } catch (error) {
    if (error.data?.cause !== 'server-restarted') faults.push(error.message);
    else if (!inTheWindow && crashes === before.crashes) faults.push('lost without a crash');
    outcomes.lost++;
  }
}

const ways = [
  () => process.kill(seen.server, 'SIGKILL'),
  () => process.kill(seen.server, 'SIGSEGV'),
  () => call('crash', { status: 3 }),
  () => call('crash', { half: true, signal: 6 })
];

async function work(queue) {
  while (queue.left-- > 0) {
    if (queue.left === queue.crashAt) {
      crashes++;
      await ways[random(ways.length)]();
    } else {
      await call('echo', { words: 'x'.repeat(random(100)), at: queue.left });
    }
  }
}

// So many calls, and a crash in the midst of them.
async function round(number) {
  const left = Math.ceil(calls / restarts) + 1;
  const queue = { left, crashAt: random(left) };

  await Promise.all(Array.from({ length: together }, () => work(queue)));
  await until(`the server was started ${number} times again`, () => seen.restarted === number);
  assert.equal(seen.lost, number);
}

// A guardian that has ended stays until the next one has started.
function lives(pid) {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z ');
  } catch {
    return false;
  }
}

function measure() {
  const proc = `/proc/${transport.pid}`;
  const [, rss] = readFileSync(`${proc}/status`, 'latin1').match(/^VmRSS:\s+(\d+) kB$/m);
  const children = readFileSync(`${proc}/task/${transport.pid}/children`, 'latin1')
    .trim()
    .split(' ')
    .filter(lives);

  return {
    descriptors: readdirSync(`${proc}/fd`).length,
    children: children.length,
    rss: Number(rss)
  };
}

const print = (number, { descriptors, children, rss }) =>
  console.log(
    `${String(number).padStart(6)} restarts ${outcomes.answered} answered ${outcomes.lost} lost ` +
      `${descriptors} descriptors ${children} children ${rss} KB`
  );

const start = Date.now();
const tenth = Math.ceil(restarts / 10);
let first, last;

console.log(`seed ${seed}`);
client.onerror = error => faults.push(`the client: ${error.message}`);
transport.stderr.on('data', hear);
await client.connect(transport);
// Process 0 would be this one and all around it.
await until('canceld said which server it started', () => seen.server > 0);
for (let number = 1; number <= restarts; number++) {
  await round(number);
  assert.deepEqual(faults, []);
  if (number % tenth > 0) continue;
  last = measure();
  first ??= last;
  print(number, last);
}
await client.close();
assert.deepEqual(faults, []);
assert.ok(outcomes.answered + outcomes.lost >= calls);
assert.ok(outcomes.lost <= restarts * together, `${outcomes.lost} calls were lost`);
assert.equal(last.descriptors, first.descriptors, 'descriptors');
assert.equal(last.children, first.children, 'children');
assert.ok(last.rss <= first.rss + growthMax, `${last.rss - first.rss} KB more`);
console.log(`${Math.round((Date.now() - start) / 1000)} s`);
