// A server of the real SDKs that fails when it has two calls at once, and --parallel.
import assert from 'node:assert/strict';
import { forEachKind, open, textOf, until } from './lib.mjs';

// A modern connection begins with its first call.
async function openWarm(t, pair, ...canceld) {
  const session = await open(t, { ...pair, canceld: ['-v', ...canceld] });

  assert.equal(textOf(await session.call('echo', { words: 'first' })), 'first');
  return session;
}

const callAtOnce = (session, count, args) =>
  Promise.all(Array.from({ length: count }, () => session.call('alone', args)));

const toolsCalled = session =>
  session.serverEnd.heard('sent', 'tools/call').map(({ params }) => params.name);

forEachKind('two calls at once, and the server fails', async (t, pair) => {
  const session = await openWarm(t, pair);
  // The first one goes on until the second comes.
  const results = await callAtOnce(session, 2, { ms: 50_000 });

  assert.ok(results.every(({ isError }) => isError), JSON.stringify(results));
  await session.close();
});

forEachKind('with --parallel 1 it has one after the other', async (t, pair) => {
  const session = await openWarm(t, pair, '--parallel=1');
  const results = await callAtOnce(session, 4, { ms: 200 });

  assert.deepEqual(results.map(textOf), Array(4).fill('alone'));
  assert.ok(!results.some(({ isError }) => isError));
  assert.equal(session.logged('HELD').length, 3);
  assert.equal(session.logged('RELEASED').length, 3);
  await session.close();
});

forEachKind('what the client aborts while it is held never reaches the server', async (t, pair) => {
  const session = await openWarm(t, pair, '--parallel=1', '-g', '500ms');
  const [first, second] = [new AbortController(), new AbortController()];
  const { answer } = await session.begin(() =>
    session.call('hold', {}, { signal: first.signal })
  );
  const held = session.call('echo', { words: 'never' }, { signal: second.signal });

  held.catch(() => {});
  await until('it is held', () => session.logged('HELD').length === 1);
  second.abort('enough');
  await assert.rejects(held);
  await until('it is withdrawn', () => session.logged('CANCEL_UNSENT').length === 1);
  first.abort('enough');
  await assert.rejects(answer);
  await session.marked('aborted');
  assert.equal(textOf(await session.call('echo', { words: 'and on' })), 'and on');
  await session.close();
  assert.deepEqual(toolsCalled(session), ['echo', 'hold', 'echo']);
  assert.equal(session.serverEnd.cancels.length, 1);
});
