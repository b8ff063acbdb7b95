// Calls that end otherwise than by an answer or a deadline: the client gives up or goes.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import * as v2 from '@modelcontextprotocol/client';
import * as v2stdio from '@modelcontextprotocol/client/stdio';
import * as v1 from '@modelcontextprotocol/sdk/client/index.js';
import * as v1stdio from '@modelcontextprotocol/sdk/client/stdio.js';
import { abort } from './conversations.mjs';
import { forEachKind, limit, open, until } from './lib.mjs';
import { here } from './wire.mjs';

forEachKind('an aborted call is cancelled once and never answered', async (t, pair) => {
  const session = await open(t, pair);

  await abort(session);
  const { cancels, cancelledIds } = session.clientEnd;
  const [id] = cancelledIds;

  assert.deepEqual(session.serverEnd.cancels, cancels);
  assert.deepEqual(session.clientEnd.answersTo(id), []);
  assert.deepEqual(session.abortedIds, [id]);
  await session.close();
  assert.deepEqual(session.abortedIds, [id]);
});

async function closeInTheMiddle(t, options, args) {
  const session = await open(t, options);
  const { answer, id } = await session.begin(() => session.failingCall('hold', args));
  const start = Date.now();

  await session.client.close();
  await answer;
  return { session, id, elapsed: Date.now() - start };
}

// The clients give the process 2 s from the end of its input until they use force.
function assertNoForce({ clientEnd }, elapsed) {
  assert.ok(elapsed < 2_000, `closing took ${elapsed} ms`);
  assert.equal(clientEnd.notes.at(-1), 'exit 0');
  assert.ok(!clientEnd.notes.includes('got SIGTERM'), 'the client had to use force');
}

forEachKind('a close in the middle of a call: a cancel, then the end', async (t, pair) => {
  const [{ session, id, elapsed }, direct] = await Promise.all([
    closeInTheMiddle(t, pair),
    closeInTheMiddle(t, { ...pair, canceld: null })
  ]);

  await session.gone();
  assertNoForce(session, elapsed);
  const { clientEnd, serverEnd } = session;

  assert.deepEqual(clientEnd.sent, direct.session.clientEnd.sent);
  assert.deepEqual(clientEnd.received, direct.session.clientEnd.received);
  assert.deepEqual(serverEnd.sent.slice(0, -1), clientEnd.sent);
  assert.deepEqual(serverEnd.received, clientEnd.received);
  assert.deepEqual(serverEnd.cancelledIds, [id]);
  assert.deepEqual(session.abortedIds, [id]);
});

// They send SIGTERM then, and SIGKILL 2 s later.
function assertNotKilled({ clientEnd }, elapsed) {
  assert.ok(elapsed < 4_000, `closing took ${elapsed} ms`);
  assert.match(clientEnd.notes.at(-1), /^exit (0|143|SIGTERM)$/);
}

test('a server that is deaf to a cancel and to the end is gone all the same', limit, async t => {
  const { session, id, elapsed } = await closeInTheMiddle(t, {}, { deaf: true });

  await session.gone();
  assertNotKilled(session, elapsed);
  assert.deepEqual(session.abortedIds, [id]);
});

// The 2.x client asks another process for its era first, and ends that one within a second.
for (const server of ['v1', 'v2'])
  test(`mode auto with a server of SDK ${server}: nothing is left`, limit, async t => {
    const pair = { client: 'v2', server, mode: 'auto', modern: server === 'v2' };
    const { session, id, elapsed } = await closeInTheMiddle(t, pair, { deaf: true });

    await session.gone();
    assertNotKilled(session, elapsed);
    assert.deepEqual(session.abortedIds, [id]);
  });

// What follows needs time to save at its end, and has it without canceld.
const sdk = ({ Client, StdioClientTransport }) =>
  async function connectAndClose([command, ...args], env) {
    const client = new Client({ name: 'interop', version: '1' }, { capabilities: {} });

    await client.connect(new StdioClientTransport({ command, args, env, stderr: 'ignore' }));
    await client.close();
  };

// As the SDK of Python does: the process has a group of its own, which gets the signals.
async function python([command, ...args], env) {
  const child = spawn(command, args, {
    detached: true,
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'ignore']
  });
  const ended = new Promise(resolve => child.on('exit', resolve));
  const endedWithin = time => Promise.race([ended.then(() => true), wait(time, false)]);

  const params = { protocolVersion: '2025-11-25' };

  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params })}\n`);
  await new Promise(resolve => child.stdout.once('data', resolve));
  child.stdin.end();
  for (const signal of ['SIGTERM', 'SIGKILL']) {
    if (await endedWithin(2_000)) return;
    process.kill(-child.pid, signal);
  }
  await ended;
}

const closes = {
  'SDK 1.x': sdk({ ...v1, ...v1stdio }),
  'SDK 2.x': sdk({ ...v2, ...v2stdio }),
  "Python's way": python
};
const launchers = {
  alone: command => command,
  'behind sh -c': command => ['sh', '-c', `${command.join(' ')}; true`],
  'behind npx': command => ['npx', '-c', command.join(' ')]
};
const savers = { '1.8 s after end of file': ['end', 1800], '700 ms after SIGTERM': ['term', 700] };

for (const [client, close] of Object.entries(closes))
  describe(`${client}: a server that saves`, { concurrency: 2 }, () => {
    for (const [launcher, behind] of Object.entries(launchers))
      for (const [words, [how, time]] of Object.entries(savers))
        test(`${words}, ${launcher}`, limit, async t => {
          const directory = mkdtempSync(join(tmpdir(), 'interop-'));
          const file = join(directory, 'saved');
          const server = [process.execPath, join(here, 'slow-end.mjs'), how, String(time), file];

          t.after(() => rmSync(directory, { recursive: true }));
          await close([process.env.CANCELD, '--', ...behind(server)], {
            NODE_OPTIONS: process.env.NODE_OPTIONS ?? ''
          });
          await until('it has saved', () => existsSync(file), 5_000);
        });
  });
