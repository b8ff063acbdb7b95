// The server crashes or is stuck, and another one comes: the client's session goes on.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { forEachKind, limit, open, textOf } from './lib.mjs';
import { together, until } from './wire.mjs';

const methods = record => record.messages('sent').map(({ method }) => method);
const restarted = (session, count = 1) =>
  until('the server was started again', () => session.logged('RESTARTED').length >= count);

// What the last server was told before anything else.
function assertReplayed(session, expected) {
  assert.deepEqual(methods(session.serverEnd).slice(0, expected.length), expected);
}

// The error is of the moment at which canceld gave the call up, and the server was found to be stuck only later.
function assertEndedByDeadline(session, { data: { elapsedMs, timeoutMs } }) {
  const [given, ...more] = session.logged('TIMED_OUT');
  const places = ['TIMED_OUT', 'STUCK', 'RESTARTED'].map(word => session.stderr.indexOf(session.logged(word)[0]));

  assert.deepEqual(more, []);
  assert.match(given, RegExp(` elapsed=${elapsedMs}ms timeout=${timeoutMs}ms `));
  assert.ok(elapsedMs >= timeoutMs, `given up after ${elapsedMs} ms`);
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
    'first the deadline'
  );
}

// A busy machine takes its time to start another server: only the call that blocks has so little.
const spinning = (deadline, ...more) => ['-v', '-t', `tools/call:spin=${deadline}`, ...more];
const handshake = ({ modern }) => (modern ? [] : ['initialize', 'notifications/initialized']);

forEachKind('a handler that blocks its server: the next call succeeds', async (t, pair) => {
  const session = await open(t, { ...pair, canceld: spinning('2s', '-k1s') });
  // Without a handshake the deadline begins with the server's first message.
  if (pair.modern) {
    await session.client.listTools();
  }
  const { error } = await session.failingCall('spin');
  const start = Date.now();

  assert.equal(error.code, -32800, error.message);
  assert.equal(error.data.cause, 'timeout');
  assert.equal(error.data.timeoutMs, 2_000);
  assert.equal(textOf(await session.call('echo', { words: 'and on' })), 'and on');
  t.diagnostic(`recovered ${Date.now() - start} ms after the cancel`);
  assert.equal(session.logged('STUCK').length, 1);
  assert.equal(session.logged('RESTARTED').length, 1);
  assertEndedByDeadline(session, error);

  // A modern client may have looked at another one before.
  const [stuck, next] = session.records('server').slice(-2);
  const ids = record =>
    record
      .heard('sent', 'tools/call')
      .filter(({ params }) => params.name === 'echo')
      .map(({ id }) => id);

  assert.deepEqual(ids(stuck), [], 'what the stuck server was asked');
  assert.equal(ids(next).length, 1);
  assertReplayed(session, handshake(pair));
  await session.close();
  assert.deepEqual(session.errors, []);
});

test('a request that waits for the next server keeps its absolute deadline, and may be cancelled', limit, async t => {
  const canceld = spinning('500ms', '-T', 'tools/call:steps=200ms', '-k2s');
  const session = await open(t, { canceld });
  const controller = new AbortController();

  await session.failingCall('spin');
  const aborted = session.failingCall('hold', {}, { signal: controller.signal });
  const [{ error, elapsed }] = await Promise.all([
    session.failingCall('steps', { count: 1, every: 1 }),
    controller.abort()
  ]);

  await aborted;
  assert.equal(error.data.cause, 'timeout');
  assert.ok(elapsed < 1_000, `after ${elapsed} ms`);
  assert.equal(session.logged('STUCK').length, 0);
  await restarted(session);
  assert.equal(textOf(await session.call('echo', { words: 'and on' })), 'and on');
  assert.deepEqual(session.abortedIds, []);
  assert.deepEqual(
    session.records('server').map(record => record.cancels.length),
    [1, 0],
    'no server hears of what none was asked'
  );
  await session.close();
});

forEachKind('a crash costs the calls in flight and no other', async (t, pair) => {
  const session = await open(t, { ...pair, canceld: ['-v', '-r'] });
  const held = session.failingCall('hold');

  await session.marked('started');
  const failures = [await session.failingCall('crash', { status: 3 }), await held];

  for (const { error } of failures) {
    assert.equal(error.code, -32603, error.message);
    assert.equal(error.data.cause, 'server-restarted');
    assert.equal(error.data.status, 3);
  }
  assert.equal(textOf(await session.call('echo', { words: 'and on' })), 'and on');
  assertReplayed(session, handshake(pair));
  assert.equal(session.marks('started').length, 1, 'nothing is run again');
  await session.close();
  assert.deepEqual(session.errors, []);
});
