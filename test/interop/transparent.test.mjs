// With canceld between them or without, client and server hear the same bytes.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { everything, own, person } from './conversations.mjs';
import { modern, open } from './lib.mjs';
import { assertTransparent, together } from './wire.mjs';

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

describe('nothing but the time is changed between', together, () => {
  for (const [name, { starts, ...pair }] of Object.entries(pairs)) {
    test(name, { timeout: 30_000 }, t =>
      assertTransparent(options => run(t, { ...pair, ...options }), {
        view: lines => lines.map(timeless),
        starts,
        least: 21
      })
    );
  }
});
