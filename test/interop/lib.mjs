// Sessions between a real SDK client and a real server, with canceld between them or without, and
// what was recorded.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import * as v2 from '@modelcontextprotocol/client';
import * as v2stdio from '@modelcontextprotocol/client/stdio';
import * as v1 from '@modelcontextprotocol/sdk/client/index.js';
import * as v1stdio from '@modelcontextprotocol/sdk/client/stdio.js';
import * as types from '@modelcontextprotocol/sdk/types.js';

const here = dirname(fileURLToPath(import.meta.url));
const records = join(here, 'records');
const tap = join(here, 'tap.mjs');
const everything = fileURLToPath(
  import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js')
);
const servers = {
  v1: [join(here, 'server-v1.mjs')],
  v2: [join(here, 'server-v2.mjs')],
  everything: [everything, 'stdio']
};
const schemas = {
  'sampling/createMessage': types.CreateMessageRequestSchema,
  'elicitation/create': types.ElicitRequestSchema,
  'roots/list': types.ListRootsRequestSchema,
  'notifications/message': types.LoggingMessageNotificationSchema,
  'notifications/tools/list_changed': types.ToolListChangedNotificationSchema
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
export const limit = { timeout: 20_000 };
const kinds = {
  'SDK 1.x': { client: 'v1', server: 'v1' },
  'SDK 2.x, legacy': { client: 'v2', server: 'v2', mode: 'legacy' },
  'SDK 2.x, modern': modern
};

export const forEachKind = (name, body) =>
  describe(name, { concurrency: true }, () => {
    for (const [kind, pair] of Object.entries(kinds)) test(kind, limit, t => body(t, pair));
  });

export const answer = words => ({
  model: 'a person',
  role: 'assistant',
  content: { type: 'text', text: words }
});

// Nothing in the tests sleeps to be in step with another process: it waits until something is so.
export async function until(what, condition, limit = 10_000) {
  for (const end = Date.now() + limit; Date.now() < end; await wait(10)) {
    const value = condition();

    if (value) return value;
  }
  assert.fail(`waited ${limit} ms in vain until ${what}`);
}

// A process that nobody has reaped yet is gone too.
export function alive(pid) {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch (error) {
    return error.code === 'EPERM' || (error.code === 'ENOENT' && process.platform !== 'linux');
  }
}

// One run of tap.mjs: what the client sent, what it received, and what became of the processes.
class Record {
  constructor(path) {
    this.events = readFileSync(path, 'latin1')
      .split('\n')
      .slice(0, -1)
      .map(line => {
        const [, mark, time, bytes] = line.match(/^(.) (\d+) (.*)$/s);
        return { mark, time: Number(time), bytes };
      });
  }

  lines(marks) {
    return this.events
      .filter(({ mark }) => marks.includes(mark))
      .map(({ mark, bytes }) => ('[]'.includes(mark) ? `${bytes} (without a newline)` : bytes));
  }

  get sent() {
    return this.lines('>]');
  }

  get received() {
    return this.lines('<[');
  }

  get notes() {
    return this.lines('#');
  }

  get pids() {
    const [, ...pids] = this.notes.find(note => note.startsWith('pids'))?.split(' ') ?? [];
    return pids.map(Number);
  }

  // The parsed messages that went one way.
  messages(direction) {
    return this[direction].map(line => JSON.parse(Buffer.from(line, 'latin1').toString()));
  }

  get cancels() {
    return this.messages('sent').filter(({ method }) => method === 'notifications/cancelled');
  }

  get cancelledIds() {
    return this.cancels.map(({ params }) => params.requestId);
  }

  answersTo(id) {
    return this.messages('received').filter(message => message.id === id && !message.method);
  }
}

let sessions = 0;

// A client (v1 or v2), a server (v1, v2 or everything), and between them canceld with these
// options, or nothing if `canceld` is null.
//   mode     of the 2.x client's versionNegotiation; `modern` is what that leads to
//   inPlace  it asks server/discover of the process that it goes on with, not of one more
//   env      for the server
//   person   { sample, elicit, roots }, which answer the server's questions
export class Session {
  constructor(test, options) {
    const { client = 'v1', server = 'v1', canceld = [], env = {}, person = {} } = options;

    this.modern = options.modern ?? false;
    this.directory = join(records, `${process.pid}-${++sessions}`);
    mkdirSync(this.directory, { recursive: true });
    this.sdk = clients[client];
    this.stderr = '';
    this.errors = [];
    this.heard = [];
    this.client = this.makeClient(options.mode, person);
    this.transport = this.makeTransport(servers[server], canceld, env, options.inPlace);
    test.after(() => this.clean());
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

  makeTransport(server, canceld, env, inPlace) {
    const tapped = (end, command) => [process.execPath, tap, join(this.directory, end), ...command];
    const command = tapped(
      'client',
      canceld
        ? [
            process.env.CANCELD,
            ...canceld,
            '--',
            ...tapped('server', [process.execPath, ...server])
          ]
        : [process.execPath, ...server]
    );
    const { StdioClientTransport } = this.sdk;
    const Transport = inPlace ? class extends StdioClientTransport {} : StdioClientTransport;
    const transport = new Transport({
      command: command[0],
      args: command.slice(1),
      env: { ...env, INTEROP_MARKS: join(this.directory, 'marks') },
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

  // The records of one end: 'client' or 'server'. A client that probes starts the command twice.
  records(end) {
    return readdirSync(this.directory)
      .filter(name => name.startsWith(`${end}.`))
      .sort()
      .map(name => new Record(join(this.directory, name)));
  }

  get clientEnd() {
    return this.records('client').at(-1);
  }

  get serverEnd() {
    return this.records('server').at(-1);
  }

  // What the handlers of the test servers wrote down: { event, id }.
  marks(event) {
    try {
      return readFileSync(join(this.directory, 'marks'), 'utf8')
        .split('\n')
        .slice(0, -1)
        .map(line => JSON.parse(line))
        .filter(mark => mark.event === event);
    } catch {
      return [];
    }
  }

  get abortedIds() {
    return this.marks('aborted').map(({ id }) => id);
  }

  marked(event, count = 1) {
    return until(`${event} was marked ${count} times`, () => this.marks(event).length >= count);
  }

  get pids() {
    return [...this.records('client'), ...this.records('server')].flatMap(record => record.pids);
  }

  gone(limit = 2_000) {
    return until(`${this.pids.filter(alive)} are gone`, () => !this.pids.some(alive), limit);
  }

  // Closes as an ordinary client does and expects that nothing is left.
  async close() {
    await this.client.close();
    await this.gone();
  }

  async clean() {
    await this.client.close().catch(() => {});
    for (const pid of this.pids.filter(alive)) process.kill(pid, 'SIGKILL');
  }
}

export const open = (test, options) => new Session(test, options).connect();

export const textOf = result => result.content.map(({ text }) => text).join('');
