// Whatever a client calls cancel, its server hears of it in its own words; and the other way round.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import process from 'node:process';
import { describe, test } from 'node:test';
import { CancellationTokenSource } from 'vscode-jsonrpc/node';
import { AcpSession, failure } from './acp.mjs';
import { LineSession } from './ndjson.mjs';
import { everything, here, limit, together, until } from './wire.mjs';

const servers = {
  everything: [process.execPath, everything, 'stdio'],
  own: [process.execPath, join(here, 'server-v1.mjs')],
  agent: [process.execPath, join(here, 'acp-agent.mjs')]
};
const hello = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'interop', version: '1' }
};
const options = ['-v', '-g', '300ms'];

const keys = { '$/cancel_request': 'requestId', '$/cancelRequest': 'id' };

function assertTranslated({ clientEnd, serverEnd, stderr }, id, spelling) {
  assert.deepEqual(clientEnd.cancels, [
    { jsonrpc: '2.0', method: spelling, params: { [keys[spelling]]: id } }
  ]);
  assert.equal(serverEnd.cancels.length, 1);
  assert.match(stderr, /CANCEL_TRANSLATED/);
}

async function openLines(t, server) {
  const session = new LineSession(t, server, options);

  await session.request('initialize', hello);
  await session.notify('notifications/initialized', {});
  return session;
}

describe('a client that speaks $/cancelRequest cancels', together, () => {
  test('a long call on server-everything', limit, async t => {
    const session = await openLines(t, servers.everything);
    const source = new CancellationTokenSource();
    const call = session.request(
      'tools/call',
      {
        name: 'trigger-long-running-operation',
        arguments: { duration: 2, steps: 2 },
        _meta: { progressToken: 'steps' }
      },
      source.token
    );
    const steps = end => session[end].heard('received', 'notifications/progress').length;

    await until('it is at work', () => steps('clientEnd') === 1);
    source.cancel();
    assert.equal((await failure(call)).code, -32800);
    await until('its handler, which is deaf, has ended', () => steps('serverEnd') === 2);
    assert.deepEqual(await session.request('ping', {}), {});
    assert.equal(await session.end(), 0);

    const [{ id }] = session.serverEnd.heard('sent', 'tools/call');

    assertTranslated(session, id, '$/cancelRequest');
    assert.deepEqual(
      session.serverEnd.cancels.map(({ method, params }) => [method, params.requestId]),
      [['notifications/cancelled', id]]
    );
    assert.deepEqual(session.serverEnd.answersTo(id), [], 'the SDK dropped the answer');
    assert.equal(session.clientEnd.answersTo(id).length, 1);
    assert.equal(steps('clientEnd'), 1, 'late progress came through');
  });

  test('a call, whose handler stops', limit, async t => {
    const session = await openLines(t, servers.own);
    const source = new CancellationTokenSource();
    const call = session.request('tools/call', { name: 'hold', arguments: {} }, source.token);

    await session.marked('started');
    source.cancel();
    assert.equal((await failure(call)).code, -32800);
    await session.marked('stopped');
    assert.equal(await session.end(), 0);
    assertTranslated(session, session.marks('stopped')[0].id, '$/cancelRequest');
  });

  test('a request to an agent, which answers', limit, async t => {
    const session = new LineSession(t, servers.agent, options);
    const source = new CancellationTokenSource();

    await session.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
    const held = session.request('_hold', {}, source.token);

    await session.marked('started');
    source.cancel();
    const { code, data } = await failure(held);

    assert.deepEqual([code, data], [-32800, { requestId: 1 }], "the agent's own words");
    assert.equal(await session.end(), 0);
    assertTranslated(session, 1, '$/cancelRequest');
    assert.equal(session.serverEnd.cancels[0].method, '$/cancel_request');
  });
});

test('a client of the ACP SDK cancels a call on an MCP server', limit, async t => {
  const session = new AcpSession(t, { canceld: options, command: servers.own });
  const controller = new AbortController();

  await session.agent.request('initialize', hello);
  await session.agent.notify('notifications/initialized', {});
  const { answer, id } = await session.begin(() =>
    session.agent.request(
      'tools/call',
      { name: 'hold', arguments: {} },
      { cancellationSignal: controller.signal }
    )
  );

  controller.abort();
  assert.equal((await failure(answer)).code, -32800);
  await session.marked('stopped');
  await session.close();
  assertTranslated(session, id, '$/cancel_request');
});
