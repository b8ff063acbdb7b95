// seven.mjs [SECONDS]: seven servers of npm behind canceld for so long, each in sessions one after the other, used by
// clients that keep account of what they asked and heard: calls that hang until their deadline or are cancelled,
// progress, servers that crash and are replaced, and a kill -9 of canceld. Then the history must be complete, and
// statistics, metrics and the three formats of a trace must have the same sums.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { Cutter } from './cutter.mjs';
import { alive, packaged, until } from './wire.mjs';

const seconds = Number(process.argv[2] ?? 60);
const end = Date.now() + seconds * 1000;
const generations = Math.max(3, Math.min(12, Math.round(seconds / 300)));
const workers = 3;
// The two files of a history hold some 25,000 lines.
const pause = Math.max(200, (seconds * 1000 * 7 * workers) / 15_000);

const scratch = mkdtempSync(join(tmpdir(), 'seven-'));
const env = { ...process.env, HOME: scratch, XDG_STATE_HOME: join(scratch, 'state') };
const files = join(scratch, 'files');
const script = join(files, 'a.ts');
const module = join(files, 'a.py');

mkdirSync(join(scratch, 'run'), { mode: 0o700 });
env.XDG_RUNTIME_DIR = join(scratch, 'run');
env.MEMORY_FILE_PATH = join(scratch, 'memory.jsonl');
mkdirSync(files);
writeFileSync(script, 'const words = ["a"];\nwords.concat(words);\nwords.\n');
writeFileSync(module, 'words = ["a"]\nwords.append("b")\nwords.\n');

const random = below => Math.floor(Math.random() * below);
const any = list => list[random(list.length)];
const sum = numbers => numbers.reduce((a, b) => a + b, 0);
const countBy = (list, key) => {
  const counts = {};

  for (const each of list) counts[key(each)] = (counts[key(each)] ?? 0) + 1;
  return counts;
};

const cancelctl = async (...args) => {
  const { stdout } = await promisify(execFile)(process.env.CANCELCTL, args, {
    env,
    maxBuffer: 1 << 28
  });

  return stdout;
};

const tool = (name, args = {}) => ['tools/call', { name, arguments: args }];
const ofPackage = (name, path) =>
  join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), path);
const mcp = name => [packaged(`@modelcontextprotocol/server-${name}/dist/index.js`)];
const long = (duration, steps) => tool('trigger-long-running-operation', { duration, steps });
const everything = {
  server: [...mcp('everything'), 'stdio'],
  calls: [
    () => tool('echo', { message: 'x'.repeat(random(100)) }),
    () => tool('get-sum', { a: random(9), b: 1 }),
    () => tool('no-such-tool'),
    () => [...long(0.1 * (1 + random(5)), 1), { atLeast: 90 }],
    () => [...long(5, 5), { progress: true, atLeast: 4900 }],
    () => ['resources/list', {}]
  ]
};
const document = path => ({ textDocument: { uri: String(pathToFileURL(path)) } });
const at = (line, character) => ({ position: { line, character } });
const language = (server, path, languageId) => ({
  server,
  lsp: { path, languageId },
  options: ['-D', 'lsp'],
  calls: [
    () => ['textDocument/hover', { ...document(path), ...at(0, 1) }],
    () => ['textDocument/documentSymbol', document(path)],
    () => ['textDocument/completion', { ...document(path), ...at(2, 6) }]
  ]
});

// name: { server, options for canceld, calls, whether it crashes, lsp }
const slots = {
  'everything-1': { ...everything, options: ['-r100/24h'], crashes: true },
  'everything-2': everything,
  filesystem: {
    server: [...mcp('filesystem'), files],
    calls: [
      () => tool('list_directory', { path: files }),
      () => tool('read_text_file', { path: script }),
      () => tool('read_text_file', { path: '/etc/passwd' })
    ]
  },
  memory: {
    server: mcp('memory'),
    calls: [
      () =>
        tool('create_entities', {
          entities: [{ name: `n${random(99)}`, entityType: 't', observations: [] }]
        }),
      () => tool('read_graph'),
      () => tool('search_nodes', { query: 'n1' })
    ]
  },
  thinking: {
    server: mcp('sequential-thinking'),
    options: ['-r100/24h'],
    crashes: true,
    calls: [
      () =>
        tool('sequentialthinking', {
          thought: 'a',
          nextThoughtNeeded: true,
          thoughtNumber: 1,
          totalThoughts: 2
        }),
      () => ['tools/list', {}]
    ]
  },
  typescript: language(
    [ofPackage('typescript-language-server', 'lib/cli.mjs'), '--stdio'],
    script,
    'typescript'
  ),
  pyright: language([ofPackage('pyright', 'langserver.index.js'), '--stdio'], module, 'python')
};

// What has an answer, in the words of `stats`.
function outcomeOf({ error, result }) {
  if (error?.data?.cause === 'timeout') return 'timed_out';
  if (error?.data?.cause === 'server-restarted') return 'lost';
  if (error?.code === -32800) return 'cancelled';
  return error || result?.isError ? 'failed' : 'answered';
}

class Session {
  constructor(name, slot) {
    Object.assign(this, {
      name,
      slot,
      next: 0,
      asked: [],
      waiting: new Map(),
      servers: [],
      tail: ''
    });
    this.begun = Date.now();
    this.child = spawn(
      process.env.CANCELD,
      [
        '--name',
        name,
        '-t',
        slot.lsp ? '10s' : '3s',
        '-v',
        ...(slot.options ?? []),
        '--',
        process.execPath,
        ...slot.server
      ],
      { env, cwd: files }
    );
    this.over = new Promise(resolve =>
      this.child.on('close', (status, signal) => resolve(signal ?? status))
    );
    this.child.stdin.on('error', () => {});
    this.child.stderr.on('data', chunk => this.hearLog(chunk));

    const cutter = new Cutter();

    this.child.stdout.on('data', chunk => {
      cutter.add(chunk);
      for (let piece; (piece = cutter.next());)
        if (piece.isBody || !this.slot.lsp) this.hear(JSON.parse(piece.bytes.toString()));
    });
  }

  // A new server is told by STARTED, also one that takes another's place.
  hearLog(chunk) {
    const lines = (this.tail + chunk).split('\n');

    this.tail = lines.pop();
    for (const line of lines) {
      const [, pid] = line.match(/^canceld\[\d+\][^:]*: STARTED process=(\d+)/) ?? [];

      if (pid) this.servers.push(Number(pid));
    }
  }

  send(message) {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });

    this.child.stdin.write(
      this.slot.lsp ? `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}` : `${text}\n`
    );
  }

  hear(message) {
    const { id, method, params } = message;

    if (method && id !== undefined) {
      this.send({
        id,
        result: method === 'workspace/configuration' ? params.items.map(() => ({})) : null
      });
    } else if (!method) {
      const entry = this.asked[id];

      assert.ok(entry && !entry.heard, `${this.name}: one answer too many to ${id}`);
      entry.heard = true;
      this.ended(entry, outcomeOf(message));
    }
  }

  ended(entry, how) {
    Object.assign(entry, { how, took: performance.now() - entry.begun });
    this.waiting.get(entry.id)?.(how);
    this.waiting.delete(entry.id);
  }

  begin(method, params, { progress, atLeast = 0 } = {}) {
    const id = this.next++;
    const entry = { id, method, name: params?.name ?? '', atLeast, begun: performance.now() };

    this.asked[id] = entry;
    this.send({
      id,
      method,
      params: progress ? { ...params, _meta: { progressToken: id } } : params
    });
    entry.end = new Promise(resolve => this.waiting.set(id, resolve));
    return entry;
  }

  call(...request) {
    return this.begin(...request).end;
  }

  // Who cancels in MCP awaits no answer.
  cancel(entry) {
    entry.atLeast = performance.now() - entry.begun - 20;
    if (this.slot.lsp) return this.send({ method: '$/cancelRequest', params: { id: entry.id } });
    this.send({ method: 'notifications/cancelled', params: { requestId: entry.id } });
    return this.ended(entry, 'cancelled');
  }

  async start() {
    const { lsp } = this.slot;

    if (lsp) {
      const { path, languageId } = lsp;

      await this.call('initialize', {
        processId: process.pid,
        rootUri: String(pathToFileURL(files)),
        capabilities: { workspace: { configuration: true } }
      });
      this.send({ method: 'initialized', params: {} });
      this.send({
        method: 'textDocument/didOpen',
        params: {
          textDocument: {
            ...document(path).textDocument,
            languageId,
            version: 1,
            text: readFileSync(path, 'utf8')
          }
        }
      });
    } else {
      await this.call('initialize', {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'seven', version: '1' }
      });
      this.send({ method: 'notifications/initialized' });
    }
    await until(`${this.name} has a server`, () => this.servers.length > 0);
    return this;
  }

  signal(name) {
    process.kill(this.servers.at(-1), name);
  }

  // Nothing is answered meanwhile: one call passes its deadline, and one is cancelled.
  async hang() {
    this.signal('SIGSTOP');

    const cancelled = this.begin(...this.slot.calls[0]());
    const late = this.begin(...this.slot.calls[0]());

    await wait(1500);
    this.cancel(cancelled);
    await late.end;
    this.signal('SIGCONT');
    await cancelled.end;
  }

  async crash() {
    const before = this.servers.length;

    this.signal('SIGKILL');
    await until(`${this.name} has another server`, () => this.servers.length > before);
  }

  async use(until, oddly) {
    while (Date.now() < until) {
      if (oddly && random(8) === 0)
        await (this.slot.crashes && random(2) === 0 ? this.crash() : this.hang());
      else await this.call(...any(this.slot.calls)());
      await wait(Math.min(random(2 * pause), Math.max(0, until - Date.now())));
    }
  }

  get open() {
    return this.asked.filter(({ how }) => !how).length;
  }

  // Statistics and metrics have what the client knows, to the last call.
  async compare() {
    const [stats, metrics] = [
      JSON.parse(await cancelctl('stats', '-j', String(this.child.pid))),
      await cancelctl('metrics')
    ];
    const expected = countBy(this.asked, ({ method, name, how }) => `${method} ${name} ${how}`);
    const counted = {};
    const measured = {};

    for (const { method, name, tallies } of [stats].flat()[0].methods)
      if (this.asked.some(asked => asked.method === method))
        for (const [how, count] of Object.entries(tallies))
          if (count > 0) counted[`${method} ${name} ${how}`] = count;
    for (const [, server, method, name, how, count] of metrics.matchAll(
      /^canceld_requests_ended_total\{server="(.*)",method="(.*)",name="(.*)",outcome="(.*)"\} (\d+)$/gm
    ))
      if (
        server === this.name &&
        count !== '0' &&
        this.asked.some(asked => asked.method === method)
      )
        measured[`${method} ${name} ${how}`] = Number(count);
    assert.deepEqual(counted, expected, `${this.name}: stats`);
    assert.deepEqual(measured, expected, `${this.name}: metrics`);
  }

  async close() {
    let how = 'answered';

    await this.compare();
    if (this.slot.lsp) {
      how = await this.call('shutdown');
      this.send({ method: 'exit' });
    }
    this.child.stdin.end();

    const status = await this.over;

    // Of a language server that did not say in time that it is ready for its end, any.
    assert.ok(status === 0 || how !== 'answered', `${this.name}: ${status}`);
  }

  // With two calls open, of which canceld knows.
  async kill() {
    this.signal('SIGSTOP');
    for (let i = 0; i < 2; i++) this.begin(...this.slot.calls[0]());
    for (let open = 0; open !== 2; await wait(50)) {
      const [stats] = [JSON.parse(await cancelctl('stats', '-j', String(this.child.pid)))].flat();

      open = stats.in_flight.client;
      assert.ok(this.open === 2, `${this.name}: the deadline came first`);
    }
    this.killed = Date.now();
    this.killedAt = performance.now();
    process.kill(this.child.pid, 'SIGKILL');
    await this.over;
    await until(`${this.name} is gone`, () => !this.servers.some(alive));
  }

  async live(until, killed) {
    await this.start();
    await Promise.all(Array.from({ length: workers }, (_, i) => this.use(until, i === 0)));
    await (killed ? this.kill() : this.close());
  }
}

// From here on: what the history says of a session.
const parse = text =>
  text
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line));
const isEnd = ({ ended, requester }) => ended && requester === 'client';
const totalOf = lines =>
  lines.filter(isEnd).length +
  sum(lines.filter(({ why }) => why === 'COUNTED').map(({ count }) => count));
// What was open at a kill is a call, too.
const callsOf = lines =>
  totalOf(lines) + sum(lines.filter(({ why }) => why === 'KILLED').map(({ open }) => open));

function checkRequests(session, lines) {
  const slow = session.slot.lsp ? 1000 : 10;
  const ends = new Map();

  for (const line of lines.filter(isEnd)) {
    const entry = session.asked[line.id];

    assert.ok(!ends.has(line.id), `${session.name}: ${line.id} has two lines`);
    ends.set(line.id, line);
    assert.equal(line.ended, entry.how, `${session.name}: ${JSON.stringify(line)}`);
    assert.equal(line.name ?? '', entry.name);
    if (line.ended === 'answered') assert.ok(line.elapsed >= slow, JSON.stringify(line));
    // When canceld hears of a cancel, its client does not know.
    assert.ok(
      !entry.heard || line.elapsed <= entry.took + 20,
      `${JSON.stringify(line)}, but ${entry.took} ms for the client`
    );
  }
  for (const { id, how, atLeast } of session.asked)
    assert.ok(!how || atLeast < slow || ends.has(id), `${session.name}: ${id} has no line`);
  for (const { why, count, sum } of lines)
    if (why === 'COUNTED')
      assert.ok(sum < slow * count, `${session.name}: ${count} in ${sum} ms are only counted`);
}

function checkSums(session, lines) {
  const known = new Set(session.asked.map(({ method }) => method));
  const ours = lines.filter(({ method }) => known.has(method));
  const told = countBy(ours.filter(isEnd), ({ method, name = '' }) => `${method} ${name}`);
  const asked = countBy(
    session.asked.filter(({ how }) => how),
    ({ method, name }) => `${method} ${name}`
  );
  const words = countBy(lines, ({ why }) => why);

  for (const { why, method, name = '', count } of ours)
    if (why === 'COUNTED') told[`${method} ${name}`] = (told[`${method} ${name}`] ?? 0) + count;
  if (!session.killed) {
    assert.deepEqual(told, asked, session.name);
    assert.deepEqual([words.SUMMARY, words.KILLED], [1, undefined], session.name);
    return;
  }

  const [killed] = lines.filter(({ why }) => why === 'KILLED');
  const minuteBefore = session.asked.filter(
    ({ how, begun, took }) => how && begun + took < session.killedAt - 70_000
  );

  assert.deepEqual([words.SUMMARY, words.KILLED, killed.open], [undefined, 1, 2], session.name);
  // What was only counted is written down each minute.
  for (const key of Object.keys(told))
    assert.ok(told[key] <= asked[key], `${session.name}: ${key}`);
  assert.ok(
    sum(Object.values(told)) >= minuteBefore.length,
    `${session.name}: ${sum(Object.values(told))}`
  );
}

function checkSession(session, history) {
  const lines = history.filter(
    ({ pid, time }) => pid === session.child.pid && Date.parse(time) >= session.begun - 1
  );
  const words = countBy(lines, ({ why }) => why);

  assert.equal(new Set(lines.map(({ session }) => session)).size, 1, `${session.name}: sessions`);
  assert.ok(lines.every(({ server }) => server === session.name));
  assert.equal(words.LINES_LOST, undefined, session.name);
  assert.equal(words.STARTED, session.servers.length, `${session.name}: servers`);
  checkRequests(session, lines);
  checkSums(session, lines);
}

async function checkTraces(history) {
  // Of what was open at a kill the oldest has a name, and so a span, unless much before it was given up.
  const ends = history.filter(
    line => isEnd(line) || (line.why === 'KILLED' && line.method)
  ).length;
  const perfetto = JSON.parse(await cancelctl('trace', '-f', 'perfetto')).traceEvents;
  const otlp = parse(await cancelctl('trace', '-f', 'otlp'));
  const html = await cancelctl('trace', '-f', 'html');
  const spans = otlp.flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
  );
  const rows = [
    ...html.matchAll(/<tr><td class=t>[^<]*<td class=n>(\d+)<td class=n/g)
  ];

  assert.equal(
    perfetto.filter(({ ph, args }) => ph === 'X' && args.from === 'client').length,
    ends,
    'perfetto'
  );
  // The kind SERVER.
  assert.equal(spans.filter(({ kind }) => kind === 2).length, ends, 'otlp');
  const inHtml = sum(rows.map(([, count]) => Number(count)));

  assert.ok(
    inHtml === callsOf(history) || (inHtml < callsOf(history) && html.includes('rows are left out')),
    `html: ${inHtml}`
  );
  assert.ok(html.length <= 1 << 20);
  return { perfetto: perfetto.length, otlp: spans.length, html: html.length };
}

// What `history` prints for people ends with a row for each method and name of a server.
async function checkTable(history) {
  const table = await cancelctl('history');
  const rows = [...table.matchAll(/^\S+ +\S+ +\S+ +(\d+) +\d+ +\S+ +\S+ +\S+$/gm)];

  assert.equal(
    sum(rows.map(([, count]) => Number(count))),
    callsOf(history),
    'the table of history'
  );
}

const sessions = [];

async function run([name, slot], number) {
  const length = (end - Date.now()) / generations;
  const start = Date.now();

  for (let i = 1; i <= generations; i++) {
    const session = new Session(name, slot);

    sessions.push(session);
    await session.live(start + i * length, i % 3 === 2 && number % 2 === 1);
  }
}

try {
  await Promise.all(Object.entries(slots).map(run));

  const history = parse(await cancelctl('history', '-j'));
  const asked = sessions.flatMap(session => session.asked);
  const words = countBy(history, ({ why }) => why);

  for (const session of sessions) checkSession(session, history);

  await checkTable(history);

  const traces = await checkTraces(history);

  console.log(
    `${seconds} s, ${sessions.length} sessions, ${words.KILLED} killed, ${words.RESTARTED} restarts`
  );
  console.log(
    `asked: ${asked.length}`,
    countBy(asked, ({ how }) => how ?? 'open')
  );
  console.log(
    `history: ${history.length} lines, ${history.filter(isEnd).length} ends, ${totalOf(history)} with those counted`
  );
  console.log('traces:', traces);
} finally {
  for (const { child, servers } of sessions)
    for (const pid of [child.pid, ...servers]) if (alive(pid)) process.kill(pid, 'SIGKILL');
}
// After a failure it is left, to be looked at.
rmSync(scratch, { recursive: true, force: true });
