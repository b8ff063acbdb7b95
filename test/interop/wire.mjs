// Two ends of a wire, with canceld between them or without, and what was recorded at each.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const here = dirname(fileURLToPath(import.meta.url));
// A file of a package of npm.
export const packaged = path => fileURLToPath(import.meta.resolve(path));
export const everything = packaged('@modelcontextprotocol/server-everything/dist/index.js');
const records = join(here, 'records');
const tap = join(here, 'tap.mjs');

// Nothing in the tests sleeps to be in step with another process: it waits until something is so.
export async function until(what, condition, limit = 60_000) {
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

const cancels = [
  'notifications/cancelled',
  '$/cancel_request',
  '$/cancelRequest',
  'session/cancel'
];

// One run of tap.mjs: what the client sent, what it received, and what became of the processes.
export class Record {
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
    return this.lines('>)]');
  }

  get received() {
    return this.lines('<([');
  }

  get notes() {
    return this.lines('#');
  }

  get pids() {
    const [, ...pids] = this.notes.find(note => note.startsWith('pids'))?.split(' ') ?? [];
    return pids.map(Number);
  }

  // The parsed messages that went one way: the bodies behind headers if there are any, else lines.
  messages(direction) {
    const [line, body] = direction === 'sent' ? '>)' : '<(';
    const bodies = this.lines(body);

    return (bodies.length > 0 ? bodies : this.lines(line)).map(bytes =>
      JSON.parse(Buffer.from(bytes, 'latin1').toString())
    );
  }

  heard(direction, method) {
    return this.messages(direction).filter(message => message.method === method);
  }

  // What the client told the server to cancel.
  get cancels() {
    return this.messages('sent').filter(({ method }) => cancels.includes(method));
  }

  get cancelledIds() {
    return this.cancels.map(({ params }) => params.requestId);
  }

  answersTo(id) {
    return this.messages('received').filter(message => message.id === id && !message.method);
  }
}

let wires = 0;

// The records of one session, and the processes that they tell of.
export class Wire {
  constructor(test) {
    this.directory = join(records, `${process.pid}-${++wires}`);
    this.stderr = '';
    mkdirSync(this.directory, { recursive: true });
    test.after(() => this.clean());
  }

  tapped(end, command) {
    return [process.execPath, tap, join(this.directory, end), ...command];
  }

  // The command for a client: the server, behind canceld with these options unless they are null.
  command(server, canceld = []) {
    return this.tapped(
      'client',
      canceld ? [process.env.CANCELD, ...canceld, '--', ...this.tapped('server', server)] : server
    );
  }

  get marksFile() {
    return join(this.directory, 'marks');
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
      return readFileSync(this.marksFile, 'utf8')
        .split('\n')
        .slice(0, -1)
        .map(line => JSON.parse(line))
        .filter(mark => mark.event === event);
    } catch {
      return [];
    }
  }

  marked(event, count = 1) {
    return until(`${event} was marked ${count} times`, () => this.marks(event).length >= count);
  }

  get abortedIds() {
    return this.marks('aborted').map(({ id }) => id);
  }

  // Begins what never ends by itself and waits until the server is at it.
  async begin(request) {
    const started = this.marks('started').length;
    const answer = request();

    answer.catch(() => {});
    await this.marked('started', started + 1);
    return { answer, id: this.clientEnd.messages('sent').at(-1).id };
  }

  // Exactly one answer reached the client, the server wrote that many, and nobody said more.
  assertAnswered(id, { byServer }) {
    assert.equal(this.clientEnd.answersTo(id).length, 1, 'answers to the client');
    assert.equal(this.serverEnd.answersTo(id).length, byServer, 'answers of the server');
  }

  // What canceld logged under that word; it needs -v.
  logged(word) {
    return this.stderr
      .split('\n')
      .filter(line => RegExp(`^canceld\\[\\d+\\] [^:]*: ${word}\\b`).test(line));
  }

  get pids() {
    return [...this.records('client'), ...this.records('server')].flatMap(record => record.pids);
  }

  gone(limit = 20_000) {
    return until(`${this.pids.filter(alive)} are gone`, () => !this.pids.some(alive), limit);
  }

  clean() {
    for (const pid of this.pids.filter(alive)) process.kill(pid, 'SIGKILL');
  }
}

// A wire whose client end is in this process.
export class Child extends Wire {
  constructor(test, server, { canceld, env = {} }) {
    super(test);
    const [command, ...args] = this.command(server, canceld);

    this.child = spawn(command, args, {
      env: { ...process.env, ...env, INTEROP_MARKS: this.marksFile }
    });
    this.status = new Promise(resolve =>
      this.child.on('close', (status, signal) => resolve(signal ?? status))
    );
    this.child.stdin.on('error', () => {});
    this.child.stderr.on('data', chunk => (this.stderr += chunk));
  }

  // Closes the server's input; the status that it ends with.
  async end() {
    this.child.stdin.end();

    const status = await this.status;

    await this.gone();
    return status;
  }
}

const ends = ({ notes }) => notes.filter(note => /^(got|exit)/.test(note));

// Holds the conversation twice, with canceld and without: both ends hear the same bytes. `view` is what of them is the
// same in two runs, `starts` how often the client starts the command, `least` how many lines there are each way.
export async function assertTransparent(talk, { view = lines => lines, starts = 1, least = 6 } = {}) {
  const [direct, through] = await Promise.all([talk({ canceld: null }), talk({})]);
  const without = direct.records('client');
  const client = through.records('client');
  const server = through.records('server');

  assert.deepEqual([without.length, client.length, server.length], [starts, starts, starts]);
  for (const start of without.keys()) {
    for (const way of ['sent', 'received']) {
      const lines = client[start][way];

      assert.deepEqual(lines, server[start][way], `${way}: client's end and server's end`);
      assert.deepEqual(view(lines), view(without[start][way]), `${way}: with canceld and without`);
    }
  }
  assert.ok(without.at(-1).sent.length >= least && without.at(-1).received.length >= least);
  assert.deepEqual(ends(client.at(-1)), ends(without.at(-1)));
}

export const limit = { timeout: 60_000 };

// More at once would wait for each other's processor, and pass their deadlines.
export const together = { concurrency: 3 };
