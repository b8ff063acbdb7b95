// The Agent Client Protocol: a real client and real agents, and each way that a cancel may go.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { failure, openAcp, openDraft } from './acp.mjs';
import { assertTransparent, limit, together, until } from './wire.mjs';

const allow = async () => ({ outcome: { outcome: 'selected', optionId: 'yes' } });
const contents = async path => ({ content: `what is in ${path}: h\u00e9 \u{1f680} "id":1\n` });
const words = ['"method":"session/cancel"', '\\u00e9 \u{1f680}\n', 'x'.repeat(300_000)];

async function converse(session) {
  await session.agent.request('authenticate', { methodId: 'key' });
  assert.equal(await session.stopReason({ do: 'say', words }), 'end_turn');
  assert.equal(await session.stopReason({ do: 'steps', count: 3, every: 10 }), 'end_turn');
  assert.equal(await session.stopReason({ do: 'permission' }), 'end_turn');
  assert.equal(await session.stopReason({ do: 'read', path: '/a' }), 'end_turn');
  await until('all was said', () => session.texts.length === 8);
  assert.deepEqual(session.texts.slice(0, 3), words);
  assert.match(session.texts[6], /selected/);
  await failure(session.agent.request('session/set_mode', {}));
  await failure(session.prompt({ do: 'nothing' }));

  const other = await session.newSession();
  const { answer } = await session.beginTurn({}, { sessionId: other });

  await session.cancelTurn(other);
  assert.equal((await answer).stopReason, 'cancelled');
  await session.assertGoesOn();
}

async function abort(session) {
  const { cancel, options } = cancellation();
  const { answer } = await session.beginRequest({}, options);

  cancel();
  assert.equal((await failure(answer)).code, -32800);
}

describe('nothing is changed between an ACP client and', together, () => {
  const talk = (t, sdk, more) => async options => {
    const session = await openAcp(t, { ...options, sdk, permit: allow, read: contents });

    await converse(session);
    await more?.(session);
    await session.end();
    return session;
  };

  test('an agent of SDK 2.x', limit, t => assertTransparent(talk(t, '2', abort)));
  test('an agent of SDK 0.x', limit, t => assertTransparent(talk(t, '0')));

  test('an agent of the draft of v2', limit, t =>
    assertTransparent(async options => {
      const session = await openDraft(t, { ...options, permit: allow });

      assert.deepEqual(await session.prompt({ do: 'ask' }), { messageId: 'm1' });
      await session.ended('end_turn');
      await session.begin(() => session.prompt({ do: 'hold' }));
      await session.cancelTurn();
      await session.ended('cancelled');
      await session.end();
      return session;
    })
  );
});

// Runs with each SDK of the agent: the old one knows session/cancel, and no $/cancel_request.
const forEachAgent = (name, body) =>
  describe(name, together, () => {
    for (const [kind, sdk] of Object.entries({ 'SDK 2.x': '2', 'SDK 0.x': '0' }))
      test(kind, limit, t => body(t, sdk));
  });

const open = (t, canceld, more) => openAcp(t, { canceld: ['-v', ...canceld], ...more });
const cancellation = () => {
  const controller = new AbortController();
  return { cancel: () => controller.abort(), options: { cancellationSignal: controller.signal } };
};

describe('a client cancels', together, () => {
  test('a request, and the agent obeys', limit, async t => {
    const session = await open(t, []);
    const { cancel, options } = cancellation();
    const { answer, id } = await session.beginRequest({}, options);

    cancel();
    const error = await failure(answer);

    assert.deepEqual([error.code, error.data], [-32800, { requestId: id }], 'the own words');
    await session.assertGoesOn();
    await session.close();
    assert.deepEqual(session.cancelled(), [['$/cancel_request', [id]]]);
    session.assertAnswered(id, { byServer: 1 });
    assert.equal(session.logged('CANCEL_FORWARDED').length, 1);
  });

  forEachAgent('a turn, and the agent obeys', async (t, sdk) => {
    const session = await open(t, [], { sdk });
    const { answer, id } = await session.beginTurn();

    await session.cancelTurn();
    assert.deepEqual(await answer, { stopReason: 'cancelled' });
    await session.assertGoesOn();
    await session.close();
    assert.deepEqual(session.cancelled(), [['session/cancel', [session.sessionId]]]);
    session.assertAnswered(id, { byServer: 1 });
    assert.equal(session.logged('CANCEL_FORWARDED').length, 1);
    assert.equal(session.logged('CANCEL_ANSWERED').length, 0);
  });

  forEachAgent('a turn, and the agent is deaf', async (t, sdk) => {
    const session = await open(t, ['-g', '500ms'], { sdk });
    const { answer, id } = await session.beginTurn({ deaf: true });

    await session.cancelTurn();
    assert.deepEqual(await answer, { stopReason: 'cancelled' });
    await session.cancelTurn();
    await session.release();
    await session.marked('released');
    await session.close();
    session.assertAnswered(id, { byServer: 1 });
    assert.equal(session.logged('CANCEL_ANSWERED').length, 1);
    assert.equal(session.logged('LATE').length, 1);
  });

  test('a turn, and with --kill-ignoring the agent that goes on is ended', limit, async t => {
    const session = await open(t, ['-g', '300ms', '-K', '1s']);
    const { answer } = await session.beginTurn({ deaf: true });

    await session.cancelTurn();
    assert.deepEqual(await answer, { stopReason: 'cancelled' });
    assert.equal(await session.status, 128 + 15);
    await session.gone();
    assert.deepEqual(session.cancelled(), [['session/cancel', [session.sessionId]]]);
    assert.equal(session.logged('CANCEL_IGNORED').length, 1);
    assert.deepEqual(session.marks('released'), []);
  });

  forEachAgent('a turn as if it were any request', async (t, sdk) => {
    const session = await open(t, [], { sdk });
    const { cancel, options } = cancellation();
    const { answer, id } = await session.beginTurn({}, options);

    cancel();
    assert.deepEqual(await answer, { stopReason: 'cancelled' });
    await session.assertGoesOn();
    await session.close();
    assert.deepEqual(session.cancelled(), [
      ['$/cancel_request', [id]],
      ['session/cancel', [session.sessionId]]
    ]);
    session.assertAnswered(id, { byServer: 1 });
  });

  forEachAgent('a turn with a request, which agents do not know', async (t, sdk) => {
    const session = await open(t, [], { sdk });
    const { answer } = await session.beginTurn();
    const { sessionId } = session;

    assert.equal(await session.agent.request('session/cancel', { sessionId }), null);
    assert.deepEqual(await answer, { stopReason: 'cancelled' });
    await session.close();

    const [cancel] = session.serverEnd.cancels;

    assert.deepEqual(cancel, { jsonrpc: '2.0', method: 'session/cancel', params: { sessionId } });
    assert.equal(session.serverEnd.cancels.length, 1);
    assert.equal(session.logged('REPAIRED').length, 1);
  });

  forEachAgent('the newer of two turns of a session, and the older one goes on', async (t, sdk) => {
    const session = await open(t, ['-g', '300ms'], { sdk });
    const { cancel, options } = cancellation();
    const older = session.stopReason({ do: 'steps', count: 60, every: 25 });
    const newer = await session.beginTurn({}, options);

    cancel();
    assert.deepEqual(await newer.answer, { stopReason: 'cancelled' });
    assert.deepEqual(session.marks('session/cancel'), []);
    assert.equal(await older, 'end_turn');
    await session.assertGoesOn();
    await session.close();
    if (sdk !== '0') session.assertAnswered(newer.id, { byServer: 1 });
    // It knows no other cancel, which canceld sends only when no other turn runs: here when the client leaves.
    assert.equal(session.serverEnd.cancels.filter((c) => c.method === 'session/cancel').length, sdk === '0' ? 1 : 0);
  });
});

describe('the deadline of a turn', together, () => {
  forEachAgent('is put off by what the agent says', async (t, sdk) => {
    const session = await open(t, ['-t', 'session/prompt=1s'], { sdk });

    assert.equal(await session.stopReason({ do: 'steps', count: 6, every: 400 }), 'end_turn');
    await session.close();
    assert.deepEqual(session.serverEnd.cancels, []);
    assert.equal(session.logged('TIMED_OUT').length, 0);
  });

  forEachAgent('passes, and the agent obeys', async (t, sdk) => {
    const session = await open(t, ['-t', 'session/prompt=500ms'], { sdk });
    const { answer, id } = await session.beginTurn();

    assert.deepEqual(await answer, { stopReason: 'cancelled' });
    await session.assertGoesOn();
    await session.close();
    assert.deepEqual(session.cancelled(), [['session/cancel', [session.sessionId]]]);
    session.assertAnswered(id, { byServer: 1 });
    assert.equal(session.logged('TIMED_OUT').length, 1);
    assert.equal(session.logged('CANCEL_ANSWERED').length, 0);
  });

  forEachAgent('passes, and the agent is deaf', async (t, sdk) => {
    const session = await open(t, ['-t', 'session/prompt=500ms', '-g', '300ms'], { sdk });
    const { answer, id } = await session.beginTurn({ deaf: true });

    assert.deepEqual(await answer, { stopReason: 'cancelled' });
    await session.release();
    await session.close();
    session.assertAnswered(id, { byServer: 1 });
    assert.equal(session.logged('LATE').length, 1);
  });

  test('a client that leaves in the middle of a turn cancels it', limit, async t => {
    const session = await open(t, []);
    const { id } = await session.beginTurn();

    await session.close();
    assert.deepEqual(session.cancelled(), [['session/cancel', [session.sessionId]]]);
    assert.deepEqual(session.abortedIds, ['turn']);
    assert.deepEqual(session.clientEnd.answersTo(id), []);
  });
});
