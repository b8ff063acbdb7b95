// Calls that end otherwise than by an answer or a deadline: the client gives up or goes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { abort } from './conversations.mjs';
import { forEachKind, limit, open } from './lib.mjs';

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

test('a server that is deaf to a cancel and to the end is gone all the same', limit, async t => {
  const { session, id, elapsed } = await closeInTheMiddle(t, {}, { deaf: true });

  await session.gone();
  assertNoForce(session, elapsed);
  assert.deepEqual(session.abortedIds, [id]);
});

// The 2.x client asks another process for its era first, and ends that one within a second.
for (const server of ['v1', 'v2'])
  test(`mode auto with a server of SDK ${server}: nothing is left`, limit, async t => {
    const pair = { client: 'v2', server, mode: 'auto', modern: server === 'v2' };
    const { session, id, elapsed } = await closeInTheMiddle(t, pair, { deaf: true });

    await session.gone();
    assertNoForce(session, elapsed);
    assert.deepEqual(session.abortedIds, [id]);
  });
