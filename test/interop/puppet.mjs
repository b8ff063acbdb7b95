// Plays a transcript with canceld in the middle and this process at both its ends:
//   C> MESSAGE   the client says it            >S MESSAGE   the server hears it, and nothing before
//   S> MESSAGE   the server says it            >C MESSAGE   the client hears it, and nothing before
// The figures of the clock stand as N, and the words of canceld's errors as "canceld: ...". A line
// that ends in FILL stands for a message with more bytes in it than pipes hold; a line C+ is
// written together with the next.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import process from 'node:process';
import { Cutter } from './cutter.mjs';
import { alive, until } from './wire.mjs';

const fill = 'x'.repeat(2_000_000);
const unclocked = text =>
  text
    .replace(/"(elapsedMs)":\d+/g, '"$1":N')
    .replace(/"message":"canceld: [^"]*"/g, '"message":"canceld: ..."')
    .replace(fill, 'FILL');

// The messages of a stream, read from the first time that one is wanted.
class Ear {
  constructor(stream, hasHeaders) {
    this.stream = stream;
    this.hasHeaders = hasHeaders;
    this.messages = [];
    this.ended = false;
  }

  listen() {
    const cutter = new Cutter();

    this.stream.on('data', chunk => {
      cutter.add(chunk);
      for (let piece; (piece = cutter.next());)
        if (piece.isBody === this.hasHeaders) this.messages.push(piece.bytes.toString());
    });
    this.stream.on('end', () => (this.ended = true));
    this.listen = () => {};
  }

  async hears(who, expected) {
    this.listen();
    await until(`${who} hears ${expected}`, () => this.messages.length > 0 || this.ended);
    assert.equal(unclocked(this.messages.shift() ?? 'the end'), expected, `what ${who} hears`);
  }

  async hearsNoMore(who) {
    this.listen();
    await until(`${who} hears the end`, () => this.ended);
    assert.deepEqual(this.messages, [], `what ${who} hears besides`);
  }
}

class Puppets {
  constructor(options, hasHeaders) {
    this.hasHeaders = hasHeaders;
    this.held = '';
    this.child = spawn(
      process.env.CANCELD,
      ['-v', ...options, '--', 'sh', '-c', 'cat <&4 & exec cat >&3'],
      { stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'] }
    );

    const [clientOut, clientIn, log, serverIn, serverOut] = this.child.stdio;

    this.mouths = { C: clientOut, S: serverOut };
    this.ears = { C: new Ear(clientIn, hasHeaders), S: new Ear(serverIn, hasHeaders) };
    this.log = '';
    log.on('data', chunk => (this.log += chunk));
    this.status = new Promise(resolve =>
      this.child.on('close', (status, signal) => resolve(signal ?? status))
    );
  }

  framed(message) {
    return this.hasHeaders
      ? `Content-Length: ${Buffer.byteLength(message)}\r\n\r\n${message}`
      : `${message}\n`;
  }

  async step(line) {
    const [mark, message] = [line.slice(0, 2), line.slice(3)];

    if (mark[0] === '>') return this.ears[mark[1]].hears(mark, message);
    this.held += this.framed(message.replace('FILL', fill));
    if (mark[1] === '+') return undefined;
    this.mouths[mark[0]].write(this.held);
    this.held = '';
    return undefined;
  }

  async end() {
    this.mouths.C.end();
    await this.ears.S.hearsNoMore('the server');
    this.mouths.S.end();
    await this.ears.C.hearsNoMore('the client');
    assert.equal(await this.status, 0);
  }

  clean() {
    for (const stream of this.child.stdio) stream.destroy();
    if (alive(this.child.pid)) this.child.kill('SIGKILL');
  }
}

// Plays the lines to the end of the session; the words that canceld logged.
export async function play(test, transcript, { options = [], hasHeaders = false } = {}) {
  const puppets = new Puppets(options, hasHeaders);

  test.after(() => puppets.clean());
  for (const line of transcript.split('\n').map(each => each.trim()))
    if (line) await puppets.step(line);
  await puppets.end();
  return [...puppets.log.matchAll(/^canceld\[\d+\][^:]*: ([A-Z_]+)/gm)].map(([, word]) => word);
}
