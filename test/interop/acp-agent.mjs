// An ACP agent. The first block of a prompt says in JSON what the turn does; the name of an
// extension request says what that does. INTEROP_SDK names the SDK that serves it: 2 or 0.
import { appendFileSync } from 'node:fs';
import process from 'node:process';
import { Readable, Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import * as sdk2 from '@agentclientprotocol/sdk';
import * as sdk0 from 'acp-sdk-0';

const mark = (event, id) =>
  appendFileSync(process.env.INTEROP_MARKS, `${JSON.stringify({ event, id })}\n`);

const sessions = new Map();
let release = () => {};

// Until the client cancels, or, for one who is deaf to that, until it asks for _release.
function held(id, deaf, ...signals) {
  return new Promise(resolve => {
    for (const signal of signals) {
      signal.addEventListener('abort', () => {
        mark('aborted', id);
        if (!deaf) resolve();
      });
    }
    if (deaf) release = resolve;
    mark('started', id);
  });
}

const say = ({ client, sessionId }, text) =>
  client.update({
    sessionId,
    update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } }
  });

const turns = {
  async say(turn, { words }) {
    for (const each of words) await say(turn, each);
  },

  async steps(turn, { count, every }) {
    for (let step = 1; step <= count; step++) {
      await wait(every);
      await say(turn, `step ${step}`);
    }
  },

  async hold(turn, { deaf }) {
    await say(turn, 'holding');
    await held('turn', deaf, turn.turn, turn.request);
    if (deaf) mark('released');
  },

  async permission(turn) {
    const { outcome } = await turn.client.permission({
      sessionId: turn.sessionId,
      toolCall: { toolCallId: 'call-1', title: 'rm -rf "build"', kind: 'delete' },
      options: [{ optionId: 'yes', name: 'Allow', kind: 'allow_once' }]
    });

    mark('permission', outcome);
    await say(turn, `permission: ${JSON.stringify(outcome)}`);
  },

  async read(turn, { path }) {
    const told = await turn.client.read({ sessionId: turn.sessionId, path }).then(
      ({ content }) => content,
      ({ code }) => `error ${code}`
    );

    await say(turn, told);
  }
};

const handlers = {
  initialize: () => ({
    protocolVersion: 1,
    agentCapabilities: { loadSession: false },
    authMethods: [{ id: 'key', name: 'A key' }]
  }),

  authenticate: () => ({}),

  newSession() {
    const sessionId = `session-${sessions.size + 1}`;

    sessions.set(sessionId, new AbortController());
    return { sessionId };
  },

  async prompt({ sessionId, prompt }, client, request) {
    const { do: what, ...how } = JSON.parse(prompt[0].text);
    const controller = new AbortController();

    sessions.set(sessionId, controller);
    await turns[what]({ client, sessionId, turn: controller.signal, request }, how);
    return { stopReason: controller.signal.aborted || request.aborted ? 'cancelled' : 'end_turn' };
  },

  cancel({ sessionId }) {
    mark('session/cancel', sessionId);
    sessions.get(sessionId).abort();
  },

  async hold({ deaf }, signal) {
    await held('request', deaf, signal);
    signal.throwIfAborted();
    return { held: true };
  },

  release() {
    release();
    return {};
  }
};

const stream = sdk =>
  sdk.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin));

function serve2() {
  const peer = ({ client }) => ({
    update: params => client.notify('session/update', params),
    permission: params => client.request('session/request_permission', params),
    read: params => client.request('fs/read_text_file', params)
  });
  const any = params => params;

  sdk2
    .agent({ name: 'interop' })
    .onRequest('initialize', handlers.initialize)
    .onRequest('authenticate', handlers.authenticate)
    .onRequest('session/new', handlers.newSession)
    .onRequest('session/prompt', context =>
      handlers.prompt(context.params, peer(context), context.signal)
    )
    .onNotification('session/cancel', ({ params }) => handlers.cancel(params))
    .onRequest('_hold', any, ({ params, signal }) => handlers.hold(params, signal))
    .onRequest('_release', any, handlers.release)
    .connect(stream(sdk2));
}

function serve0() {
  const never = new AbortController().signal;

  new sdk0.AgentSideConnection(
    connection => ({
      ...handlers,
      prompt: params =>
        handlers.prompt(
          params,
          {
            update: each => connection.sessionUpdate(each),
            permission: each => connection.requestPermission(each),
            read: each => connection.readTextFile(each)
          },
          never
        ),
      extMethod: (method, params) => handlers[method.slice(1)](params, never)
    }),
    stream(sdk0)
  );
}

if (process.env.INTEROP_SDK === '0') serve0();
else serve2();
