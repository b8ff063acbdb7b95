// With canceld between them or without, client and server hear the same bytes.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { everything, own, person } from './conversations.mjs';
import { modern, open } from './lib.mjs';
import { together } from './wire.mjs';

const pairs = {
  'SDK 1.x and SDK 1.x': { client: 'v1', server: 'v1' },
  'SDK 1.x and server-everything': { client: 'v1', server: 'everything', talk: everything },
  'SDK 1.x and SDK 2.x': { client: 'v1', server: 'v2' },
  'SDK 2.x and server-everything': { client: 'v2', server: 'everything', talk: everything },
  'SDK 2.x and SDK 2.x, legacy': { client: 'v2', server: 'v2', mode: 'legacy' },
  'SDK 2.x and SDK 2.x, modern': { ...modern, starts: 2 },
  'SDK 2.x and SDK 2.x, found out': { ...modern, mode: 'auto', starts: 2 },
  'SDK 2.x and SDK 2.x, in place': { ...modern, mode: 'auto', inPlace: true },
  'SDK 2.x and SDK 1.x, found out': { client: 'v2', server: 'v1', mode: 'auto', starts: 2 },
  'SDK 2.x and SDK 1.x, in place': { client: 'v2', server: 'v1', mode: 'auto', inPlace: true }
};

// The only thing that is not the same in two runs: server-everything writes the time of day into a
// resource.
const timeless = line => line.replace(/(created at )[0-9:]+ [AP]M/, '$1TIME');

// See progress() in conversations.mjs.
const isSerious = ({ message }) => !message.includes('unknown token');

async function run(t, { talk = own, ...pair }) {
  const session = await open(t, { person, ...pair });

  await talk(session);
  assert.deepEqual(session.errors.filter(isSerious), []);
  await session.close();
  return session;
}

function assertSame(direct, through, starts) {
  const without = direct.records('client');
  const client = through.records('client');
  const server = through.records('server');

  assert.deepEqual([without.length, client.length, server.length], [starts, starts, starts]);
  for (const start of without.keys()) {
    for (const way of ['sent', 'received']) {
      const lines = client[start][way];

      assert.deepEqual(lines, server[start][way], `${way}: client's end and server's end`);
      assert.deepEqual(lines.map(timeless), without[start][way].map(timeless), `${way}: without`);
    }
  }
  assert.ok(without.at(-1).sent.length > 20 && without.at(-1).received.length > 20);
  assert.deepEqual(ends(client.at(-1)), ends(without.at(-1)));
}

const ends = ({ notes }) => notes.filter(note => /^(got|exit)/.test(note));

describe('nothing but the time is changed between', together, () => {
  for (const [name, { starts = 1, ...pair }] of Object.entries(pairs)) {
    test(name, { timeout: 30_000 }, async t => {
      const [direct, through] = await Promise.all([
        run(t, { ...pair, canceld: null }),
        run(t, pair)
      ]);

      assertSame(direct, through, starts);
    });
  }
});
