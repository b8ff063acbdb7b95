// An agent of the draft of ACP v2, where a prompt is answered when it is taken up, and the end of
// the turn is an update of the session's state.
import { appendFileSync } from 'node:fs';
import process from 'node:process';
import { Readable, Writable } from 'node:stream';
import * as acp from '@agentclientprotocol/sdk/experimental/v2';

const mark = event => appendFileSync(process.env.INTEROP_MARKS, `${JSON.stringify({ event })}\n`);
let turn = new AbortController();

const work = {
  async ask(say, client, sessionId) {
    const { outcome } = await client.request('session/request_permission', {
      sessionId,
      title: 'May I?',
      subject: { type: 'tool_call', toolCall: { toolCallId: 'call-1', title: 'rm -rf "build"' } },
      options: [{ optionId: 'yes', name: 'Allow', kind: 'allow_once' }]
    });

    await say({
      sessionUpdate: 'agent_message_chunk',
      messageId: 'm2',
      content: { type: 'text', text: JSON.stringify(outcome) }
    });
  },

  async hold() {
    await new Promise(resolve => {
      turn.signal.addEventListener('abort', resolve);
      mark('started');
    });
  }
};

async function run(what, client, sessionId) {
  const say = update => client.notify('session/update', { sessionId, update });

  turn = new AbortController();
  await say({ sessionUpdate: 'state_update', state: 'running' });
  await work[what](say, client, sessionId);
  await say({
    sessionUpdate: 'state_update',
    state: 'idle',
    stopReason: turn.signal.aborted ? 'cancelled' : 'end_turn'
  });
}

acp
  .agent({ name: 'interop' })
  .onRequest('initialize', () => ({
    protocolVersion: 2,
    info: { name: 'interop', version: '1' },
    capabilities: { session: {} }
  }))
  .onRequest('session/new', () => ({ sessionId: 'session-1' }))
  .onRequest('session/prompt', ({ params, client }) => {
    setImmediate(run, JSON.parse(params.prompt[0].text).do, client, params.sessionId);
    return { messageId: 'm1' };
  })
  .onNotification('session/cancel', () => turn.abort())
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
