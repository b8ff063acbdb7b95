// A client of the ACP SDK and an agent of it, with canceld between them or without.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import process from 'node:process';
import { Readable, Writable } from 'node:stream';
import * as acp from '@agentclientprotocol/sdk';
import * as draft from '@agentclientprotocol/sdk/experimental/v2';
import { Child, here, until } from './wire.mjs';

const agent = [process.execPath, join(here, 'acp-agent.mjs')];
const draftAgent = [process.execPath, join(here, 'acp-agent-draft.mjs')];

const stream = (sdk, { stdin, stdout }) =>
  sdk.ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout));

// What the client's person does: permit(signal, params), read(path, signal).
export class AcpSession extends Child {
  constructor(test, { canceld, sdk = '2', command = agent, env, ...person }) {
    super(test, command, { canceld, env: { INTEROP_SDK: sdk, ...env } });
    this.heard = [];
    this.connection = this.connect(person);
    this.agent = this.connection.agent;
  }

  connect({ permit, read }) {
    return acp
      .client({ name: 'interop' })
      .onRequest('session/request_permission', ({ signal, params }) => permit(signal, params))
      .onRequest('fs/read_text_file', ({ params, signal }) => read(params.path, signal))
      .onNotification('session/update', ({ params }) => this.heard.push(params))
      .connect(stream(acp, this.child));
  }

  async start() {
    await this.agent.request('initialize', {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientCapabilities: { fs: { readTextFile: true, writeTextFile: false } }
    });
    this.sessionId = await this.newSession();
    return this;
  }

  async newSession() {
    const { sessionId } = await this.agent.request('session/new', { cwd: '/', mcpServers: [] });

    return sessionId;
  }

  prompt(what, { sessionId = this.sessionId, ...options } = {}) {
    const prompt = [{ type: 'text', text: JSON.stringify(what) }];

    return this.agent.request('session/prompt', { sessionId, prompt }, options);
  }

  // What the agent answers; undefined if that is no result.
  async stopReason(what, options) {
    const { stopReason } = await this.prompt(what, options);

    return stopReason;
  }

  beginTurn(how, options) {
    return this.begin(() => this.prompt({ do: 'hold', ...how }, options));
  }

  beginRequest(how, options) {
    return this.begin(() => this.agent.request('_hold', how, options));
  }

  cancelTurn(sessionId = this.sessionId) {
    return this.agent.notify('session/cancel', { sessionId });
  }

  // Lets what is deaf to cancels answer at last, and shows that the session goes on.
  async release() {
    await this.agent.request('_release', {});
    await this.assertGoesOn();
  }

  async assertGoesOn() {
    assert.equal(await this.stopReason({ do: 'say', words: ['and on'] }), 'end_turn');
    await until('the words came', () => this.texts.at(-1) === 'and on');
  }

  get texts() {
    return this.heard.map(({ update }) => update.content.text);
  }

  cancelled() {
    return this.serverEnd.cancels.map(({ method, params }) => [method, Object.values(params)]);
  }

  async close() {
    assert.equal(await this.end(), 0);
  }
}

// The same by the draft of v2.
export class DraftSession extends AcpSession {
  connect({ permit }) {
    return draft
      .client({ name: 'interop' })
      .onRequest('session/request_permission', ({ signal }) => permit(signal))
      .onNotification('session/update', ({ params }) => this.heard.push(params))
      .connect(stream(draft, this.child));
  }

  async start() {
    await this.agent.request('initialize', {
      protocolVersion: draft.PROTOCOL_VERSION,
      info: { name: 'interop', version: '1' },
      capabilities: {}
    });
    this.sessionId = await this.newSession();
    return this;
  }

  // Waits until the turn has ended so.
  ended(stopReason) {
    return until(`the turn is over: ${stopReason}`, () =>
      this.heard.some(({ update }) => update.state === 'idle' && update.stopReason === stopReason)
    );
  }
}

export const openAcp = (test, options) => new AcpSession(test, options).start();
export const openDraft = (test, options) =>
  new DraftSession(test, { command: draftAgent, ...options }).start();

export async function failure(promise) {
  return promise.then(
    result => assert.fail(`it was answered: ${JSON.stringify(result)}`),
    error => error
  );
}
