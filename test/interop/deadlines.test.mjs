// Deadlines of canceld, as the real SDKs feel them on both sides.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { CancellationTokenSource } from 'vscode-jsonrpc/node';
import { answer, forEachKind, limit, modern, open, textOf, until } from './lib.mjs';
import { LineSession } from './ndjson.mjs';
import { here, Wire } from './wire.mjs';

// What the client gets at a deadline.
function assertTimedOut({ error, elapsed }, deadline) {
  assert.equal(error.code, -32800);
  assert.match(error.message, /canceld/);
  assert.equal(error.data.cause, 'timeout');
  assert.equal(error.data.cancelled, true);
  assert.equal(error.data.method, 'tools/call');
  assert.equal(error.data.timeoutMs, deadline);
  assert.ok(
    error.data.elapsedMs >= deadline && error.data.elapsedMs < deadline + 1_000,
    `${error.data.elapsedMs}`
  );
  assert.ok(elapsed >= deadline - 50 && elapsed < deadline + 1_500, `rejected after ${elapsed} ms`);
}

function assertCancelledOnce({ serverEnd }, name) {
  const call = serverEnd.messages('sent').find(({ params }) => params?.name === name);
  const [cancel] = serverEnd.cancels;

  assert.deepEqual(serverEnd.cancelledIds, [call.id]);
  assert.equal(typeof cancel.params.reason, 'string');
  return { call, cancel };
}

// A modern connection begins with its first call, which waits until the server has started.
async function openWarm(t, pair, ...canceld) {
  const session = await open(t, { ...pair, canceld });

  await assertNextCallWorks(session);
  return session;
}

function listener() {
  const heard = [];
  return { heard, onprogress: ({ progress }) => heard.push(progress) };
}

async function assertNextCallWorks(session, args = { words: 'and on' }, expected = 'and on') {
  assert.equal(textOf(await session.call('echo', args)), expected);
}

test('a long operation of server-everything is cut off after 2 s', limit, async t => {
  const session = await open(t, { server: 'everything', canceld: ['-t', '2s'] });
  const progress = listener();
  const name = 'trigger-long-running-operation';
  const failure = await session.failingCall(name, { duration: 6, steps: 2 }, progress);

  assertTimedOut(failure, 2_000);
  await assertNextCallWorks(session, { message: 'and on' }, 'Echo: and on');
  const { call } = assertCancelledOnce(session, name);

  const late = ({ method, params }) =>
    method === 'notifications/progress' && params.progressToken === call.id;
  await until('late progress', () => session.serverEnd.messages('received').some(late));
  await assertNextCallWorks(session, { message: 'and on' }, 'Echo: and on');
  assert.ok(!session.clientEnd.messages('received').some(late), 'the client heard of it');
  assert.deepEqual([progress.heard, session.errors], [[], []]);
  assert.deepEqual(session.serverEnd.answersTo(call.id), [], 'the server answered all the same');
  await session.close();
});

forEachKind('the handler of a call that times out is stopped', async (t, pair) => {
  const session = await openWarm(t, pair, '-t', 'tools/call:hold=1s');

  assertTimedOut(await session.failingCall('hold'), 1_000);
  await session.marked('stopped');
  assert.equal(session.marks('aborted').length, 1);
  assertCancelledOnce(session, 'hold');
  await assertNextCallWorks(session);
  assert.deepEqual(session.errors, []);
  await session.close();
  assert.equal(session.marks('aborted').length, 1);
});

forEachKind('progress puts an idle deadline off', async (t, pair) => {
  const session = await openWarm(t, pair, '-t', 'tools/call:steps=1s');
  const progress = listener();
  const result = await session.call('steps', { count: 7, every: 400 }, progress);

  assert.equal(textOf(result), '7 steps');
  assert.deepEqual(progress.heard, [1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(session.serverEnd.cancels, []);
  await session.close();
});

// The client's own timeout is shorter than the call, and starts again at progress. TRUE_TIMES=1: as users meet it.
const times =
  process.env.TRUE_TIMES === '1'
    ? { timeout: 60_000, call: 90_000, heartbeat: '15s', limit: { timeout: 250_000 } }
    : { timeout: 1_500, call: 3_500, heartbeat: '500ms', limit };
const impatient = { timeout: times.timeout, resetTimeoutOnProgress: true };
const silently = { count: 1, every: times.call };

forEachKind('with --heartbeat a client waits for a silent tool', async (t, pair) => {
  const session = await openWarm(t, pair, `--heartbeat=${times.heartbeat}`);
  const progress = listener();
  const options = { ...impatient, ...progress };
  const result = await session.call('steps', silently, options);
  const heard = progress.heard;

  assert.equal(textOf(result), '1 steps');
  assert.ok(heard.includes(1), 'progress of the server itself');
  assert.ok(heard.length > 3 && heard.every((value, i) => i === 0 || value > heard[i - 1]), `${heard}`);
  assert.deepEqual(session.serverEnd.cancels, []);
  await session.close();
}, times.limit);

forEachKind('without it the client gives a silent tool up', async (t, pair) => {
  const session = await openWarm(t, pair);
  const options = { ...impatient, ...listener() };
  const { error } = await session.failingCall('steps', silently, options);

  assert.match(error.message, /timed out/i);
  await session.close();
}, times.limit);

// A client of no SDK, written by the clause of the specification (Lifecycle, "Timeouts"): "Implementations MAY choose to
// reset the timeout clock when receiving a progress notification". It cancels what it gives up.
async function callByTheClause(t, canceld) {
  const session = new LineSession(t, [process.execPath, join(here, 'server-v1.mjs')], canceld);
  const source = new CancellationTokenSource();
  const heard = [];
  const restart = timer => (clearTimeout(timer), setTimeout(() => source.cancel(), times.timeout));

  await session.request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'interop', version: '1' }
  });
  await session.notify('notifications/initialized', {});
  let timer = restart();
  session.connection.onNotification('notifications/progress', ({ progressToken, progress }) => {
    if (progressToken !== 'mine') return;
    heard.push(progress);
    timer = restart(timer);
  });
  const params = { name: 'steps', arguments: silently, _meta: { progressToken: 'mine' } };
  const start = Date.now();
  const answer = await session.request('tools/call', params, source.token).catch(error => error);

  clearTimeout(timer);
  const elapsed = Date.now() - start;

  t.diagnostic(`${elapsed} ms, progress ${heard}`);
  assert.equal(await session.end(), 0);
  return { answer, elapsed, heard };
}

test('with --heartbeat a client by the clause waits, too', times.limit, async t => {
  const { answer, heard } = await callByTheClause(t, [`--heartbeat=${times.heartbeat}`]);

  assert.equal(textOf(answer), '1 steps');
  assert.ok(heard.length > 3 && heard.every((value, i) => i === 0 || value > heard[i - 1]), `${heard}`);
});

test('... and without it gives up', times.limit, async t => {
  const { answer, elapsed, heard } = await callByTheClause(t, []);

  assert.equal(answer.code, -32800);
  assert.ok(elapsed >= times.timeout - 50, `${elapsed} ms`);
  assert.deepEqual(heard, []);
});

// The same clause, kept by a client in Python, which ends the server as Python's SDK does.
async function callFromPython(t, canceld) {
  const wire = new Wire(t);
  const server = wire.command([process.execPath, join(here, 'server-v1.mjs')], canceld);
  const words = [join(here, 'clause.py'), times.timeout, times.call, ...server];
  const env = { ...process.env, INTEROP_MARKS: wire.marksFile };
  const { stdout } = await promisify(execFile)('python3', words.map(String), { env });
  const seen = JSON.parse(stdout);

  t.diagnostic(`${seen.elapsed} ms, progress ${seen.heard}`);
  await wire.gone();
  return { ...seen, wire };
}

describe('a client in Python', { concurrency: true }, () => {
  const missing = spawnSync('python3', ['--version']).status !== 0;
  const within = { ...times.limit, skip: missing && 'python3 is not there' };

  test('with --heartbeat it waits', within, async t => {
    const { answer, heard, status, wire } = await callFromPython(t, [`--heartbeat=${times.heartbeat}`]);

    assert.equal(status, 0);
    assert.equal(textOf(answer.result), '1 steps');
    assert.ok(heard.includes(1), 'progress of the server itself');
    assert.ok(heard.length > 3 && heard.every((value, i) => i === 0 || value > heard[i - 1]), `${heard}`);
    assert.deepEqual(wire.serverEnd.cancels, []);
  });

  test('without it, it gives up and says so', within, async t => {
    const { answer, elapsed, heard, wire } = await callFromPython(t, []);

    assert.equal(answer, null);
    assert.ok(elapsed >= times.timeout - 50, `${elapsed} ms`);
    assert.deepEqual(heard, []);
    assert.deepEqual(wire.serverEnd.cancelledIds, [1]);
  });
});

const slowly = result => async () => {
  await wait(2_500);
  return result;
};
const slowPerson = {
  sample: slowly(answer('at last')),
  elicit: slowly({ action: 'accept', content: { name: 'Ada' } })
};

forEachKind('a call that waits for a person does not idle', async (t, pair) => {
  const deadlines = ['-t', 'tools/call:ask=1s', '-t', 'tools/call:confirm=1s'];
  const session = await openWarm(t, { ...pair, person: slowPerson }, ...deadlines);

  assert.equal(textOf(await session.call('ask', { question: 'when?' })), 'answer: at last');
  assert.equal(
    textOf(await session.call('confirm', { message: 'who?' })),
    'accept: {"name":"Ada"}'
  );
  assert.deepEqual(session.serverEnd.cancels, []);
  await session.close();
});

forEachKind('with --tool-errors the model can read of a deadline', async (t, pair) => {
  const session = await openWarm(t, pair, '-t', 'tools/call:hold=500ms', '--tool-errors');
  const result = await session.call('hold');

  assert.equal(result.isError, true);
  assert.match(textOf(result), /canceld/);
  await session.marked('stopped');
  await assertNextCallWorks(session);
  await session.close();
});
