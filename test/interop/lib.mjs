// Sessions between a client of an MCP SDK and a real server, with canceld between them or without, and
// what was recorded.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import process from 'node:process';
import { describe, test } from 'node:test';
import * as v2 from '@modelcontextprotocol/client';
import * as v2stdio from '@modelcontextprotocol/client/stdio';
import * as v1 from '@modelcontextprotocol/sdk/client/index.js';
import * as v1stdio from '@modelcontextprotocol/sdk/client/stdio.js';
import * as types from '@modelcontextprotocol/sdk/types.js';
import { everything, here, limit, Wire } from './wire.mjs';

export { limit, until } from './wire.mjs';

const servers = {
  v1: [join(here, 'server-v1.mjs')],
  v2: [join(here, 'server-v2.mjs')],
  everything: [everything, 'stdio']
};
const schemas = {
  'sampling/createMessage': types.CreateMessageRequestSchema,
  'elicitation/create': types.ElicitRequestSchema,
  'roots/list': types.ListRootsRequestSchema,
  'notifications/message': types.LoggingMessageNotificationSchema
};
const clients = {
  v1: {
    ...v1,
    ...v1stdio,
    key: method => schemas[method],
    call: (client, params, options) => client.callTool(params, undefined, options)
  },
  v2: {
    ...v2,
    ...v2stdio,
    key: method => method,
    call: (client, params, options) => client.callTool(params, options)
  }
};

export const modern = { client: 'v2', server: 'v2', mode: { pin: '2026-07-28' }, modern: true };
const kinds = {
  'SDK 1.x': { client: 'v1', server: 'v1' },
  'SDK 2.x, legacy': { client: 'v2', server: 'v2', mode: 'legacy' },
  'SDK 2.x, modern': modern
};

export const forEachKind = (name, body, within = limit) =>
  describe(name, { concurrency: true }, () => {
    for (const [kind, pair] of Object.entries(kinds)) test(kind, within, t => body(t, pair));
  });

export const answer = words => ({
  model: 'a person',
  role: 'assistant',
  content: { type: 'text', text: words }
});

// A client (v1 or v2), a server (v1, v2 or everything), and between them canceld with these
// options, or nothing if `canceld` is null.
//   mode     of the 2.x client's versionNegotiation; `modern` is what that leads to
//   inPlace  it asks server/discover of the process that it goes on with, not of one more
//   person   { sample, elicit, roots }, which answer the server's questions
export class Session extends Wire {
  constructor(test, options) {
    const { client = 'v1', server = 'v1', canceld = [], person = {} } = options;

    super(test);
    this.modern = options.modern ?? false;
    this.sdk = clients[client];
    this.errors = [];
    this.heard = [];
    this.client = this.makeClient(options.mode, person);
    this.transport = this.makeTransport(servers[server], canceld, options.inPlace);
  }

  makeClient(mode, { sample, elicit, roots }) {
    const capabilities = {
      ...(sample && { sampling: {} }),
      ...(elicit && { elicitation: {} }),
      ...(roots && { roots: {} })
    };
    const client = new this.sdk.Client(
      { name: 'interop', version: '1' },
      { capabilities, ...(mode && { versionNegotiation: { mode } }) }
    );
    const answers = {
      'sampling/createMessage': sample,
      'elicitation/create': elicit,
      'roots/list': roots
    };

    for (const [method, handler] of Object.entries(answers)) {
      if (handler) client.setRequestHandler(this.sdk.key(method), handler);
    }
    client.setNotificationHandler(this.sdk.key('notifications/message'), message =>
      this.heard.push(message)
    );
    client.onerror = error => this.errors.push(error);
    return client;
  }

  makeTransport(server, canceld, inPlace) {
    const [command, ...args] = this.command([process.execPath, ...server], canceld);
    const { StdioClientTransport } = this.sdk;
    const Transport = inPlace ? class extends StdioClientTransport {} : StdioClientTransport;
    const transport = new Transport({
      command,
      args,
      env: { INTEROP_MARKS: this.marksFile, NODE_OPTIONS: process.env.NODE_OPTIONS ?? '' },
      stderr: 'pipe'
    });

    transport.stderr.on('data', chunk => (this.stderr += chunk));
    return transport;
  }

  async connect() {
    await this.client.connect(this.transport);
    return this;
  }

  call(name, args = {}, options, meta) {
    return this.sdk.call(
      this.client,
      { name, arguments: args, ...(meta && { _meta: meta }) },
      options
    );
  }

  // Calls what must fail; the error, and how long that took.
  async failingCall(name, args, options) {
    const start = Date.now();
    const error = await this.call(name, args, options).then(
      result => assert.fail(`${name} was answered: ${JSON.stringify(result)}`),
      failure => failure
    );

    return { error, elapsed: Date.now() - start };
  }

  // Closes as an ordinary client does and expects that nothing is left.
  async close() {
    await this.client.close();
    await this.gone();
  }

  async clean() {
    await this.client.close().catch(() => {});
    super.clean();
  }
}

export const open = (test, options) => new Session(test, options).connect();

export const textOf = result => result.content.map(({ text }) => text).join('');
