// The packages of `make npm`, as people install and start them with Node.js 20 and 22.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, test } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { alive, everything, here, limit, until } from './wire.mjs';

const system = `${process.platform}-${process.arch}`;
const nodes = { 20: `node-20-${system}`, 22: `node-${system}` };
const archives = join(here, '../release-files/npm');

function archive(name) {
  const found = fs.readdirSync(archives).find(file => RegExp(`^${name}-\\d.*\\.tgz$`).test(file));

  assert.ok(found, `no ${name} in ${archives}: make npm`);
  return join(archives, found);
}

// An empty directory and an empty home, in which the packages are installed without a network.
class Place {
  constructor(version) {
    // Not below a directory that has a package.json.
    this.home = fs.mkdtempSync(join(tmpdir(), 'canceld-npm-'));
    this.directory = join(this.home, 'project');
    this.node = join(here, 'node_modules', nodes[version], 'bin');
    this.env = {
      HOME: this.home,
      PATH: `${this.node}:${process.env.PATH}`,
      npm_config_update_notifier: 'false'
    };
    fs.mkdirSync(this.directory);
    this.install();
  }

  remove() {
    fs.rmSync(this.home, { recursive: true });
  }

  install(...more) {
    const files = [archive('canceld'), archive(`canceld-${system}`)];

    return this.run('npm', 'install', '--offline', ...more, ...files);
  }

  run(command, ...args) {
    const { directory: cwd, env } = this;

    return execFileSync(command, args, { cwd, env, encoding: 'utf8', stdio: 'pipe' });
  }

  // What the command says on stderr, and its status.
  failing(command, ...args) {
    try {
      assert.fail(`it went well: ${this.run(command, ...args)}`);
    } catch (error) {
      return { status: error.status, stderr: error.stderr };
    }
  }

  bin(name) {
    return join(this.directory, 'node_modules/.bin', name);
  }

  path(name = 'canceld') {
    return this.run(this.bin(name), '--path').trimEnd();
  }

  start(command, args, stdio = 'pipe') {
    return spawn(command, args, { cwd: this.directory, env: this.env, stdio });
  }
}

const read = (pid, name) => fs.readFileSync(`/proc/${pid}/${name}`, 'latin1');

function processes() {
  return fs.readdirSync('/proc').filter(Number).flatMap(pid => {
    try {
      const [, parent] = read(pid, 'stat').match(/\) \S (\d+) /s);
      const [, kilobytes] = read(pid, 'status').match(/VmRSS:\s+(\d+)/);
      const words = read(pid, 'cmdline').replaceAll('\0', ' ');
      const file = fs.readlinkSync(`/proc/${pid}/exe`);
      const name = read(pid, 'comm').trimEnd();
      return [{ pid: Number(pid), parent: Number(parent), kilobytes, words, file, name }];
    } catch {
      return []; // it has ended
    }
  });
}

// What it started, and what that started.
function family(pid) {
  const all = processes();
  const below = parent =>
    all.filter(one => one.parent === parent).flatMap(one => [one, ...below(one.pid)]);

  return [...all.filter(one => one.pid === pid), ...below(pid)];
}

function kind({ file, words, name }) {
  if (name === 'cancel-history') return 'history';
  if (file.endsWith(`/@canceld/${system}/bin/canceld`)) return 'canceld';
  if (words.startsWith('npm exec')) return 'npx';
  if (words.startsWith('sh -c')) return 'sh';
  if (words.startsWith('/bin/sh -c read')) return 'watcher';
  return words.startsWith('node ') ? 'launcher' : 'server';
}

const ways = {
  npx: {
    command: () => ['npx', 'canceld'],
    stay: { 20: ['npx', 'sh', 'launcher'], 22: ['npx', 'sh'] },
    last: { 20: ['watcher'], 22: [] }
  },
  '.bin': {
    command: place => [place.bin('canceld')],
    stay: { 20: ['launcher'], 22: [] },
    last: { 20: ['watcher'], 22: [] }
  },
  '--path': { command: place => [place.path()], stay: { 20: [], 22: [] }, last: { 20: [], 22: [] } }
};

async function talk(t, place, [command, ...args], stay, last) {
  const server = [join(place.node, 'node'), everything, 'stdio'];
  const transport = new StdioClientTransport({
    command,
    args: [...args, '-t', 'tools/call=1s', '--', ...server],
    env: place.env,
    cwd: place.directory,
    stderr: 'ignore'
  });
  const client = new Client({ name: 'npm', version: '1' });

  t.after(() => client.close());
  await client.connect(transport);
  const call = { name: 'trigger-long-running-operation', arguments: { duration: 30, steps: 1 } };
  await assert.rejects(client.callTool(call), { code: -32800 });

  const staying = family(transport.pid);

  t.diagnostic(staying.map(one => `${kind(one)} ${one.kilobytes} kB`).join(', '));
  /* canceld, its starter, and its guardian */
  const ours = ['canceld', 'canceld', 'canceld', 'server', 'history'];
  assert.deepEqual(staying.map(kind), [...stay, ...ours, ...last]);
  await client.close();
  await until('all have ended', () => !staying.some(({ pid }) => alive(pid)));
}

const ended = child =>
  new Promise(resolve => child.on('exit', (status, signal) => resolve(signal ?? status)));

// How it ends when the signal reaches `whom` of its processes while the server runs.
async function endBy(place, command, signal, whom = child => child.pid) {
  const child = place.start(command, ['--', 'sh', '-c', 'echo runs >&2; exec cat >&2']);
  const end = ended(child);
  let stderr = '';

  child.stderr.on('data', chunk => (stderr += chunk));
  await until('the server runs', () => stderr.includes('runs'));
  const all = family(child.pid);
  process.kill(whom(child, all), signal);
  // It ends by what it reads, where the signal does not end it.
  if (signal === 'SIGUSR2') child.stdin.end();

  const how = await end;

  await until('all have ended', () => !all.some(({ pid }) => alive(pid)));
  return how;
}

const signals = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGKILL'];
const native = (child, all) => all.find(one => kind(one) === 'canceld').pid;

for (const version of Object.keys(nodes)) {
  describe(`Node.js ${version}`, () => {
    let place;

    before(() => (place = new Place(version)));
    after(() => place?.remove());

    for (const [way, { command, stay, last }] of Object.entries(ways))
      test(`a call times out: ${way}`, limit, t =>
        talk(t, place, command(place), stay[version], last[version]));

    test('both programs are there and executable, and say where', limit, () => {
      for (const name of ['canceld', 'cancelctl']) {
        assert.match(place.run(place.bin(name), '--version'), RegExp(`^${name} \\d`));
        assert.equal(fs.statSync(place.path(name)).mode & 0o777, 0o755);
        assert.match(place.path(name), RegExp(`/@canceld/${system}/bin/${name}$`));
      }
      // Elsewhere it is the program's.
      assert.notEqual(place.failing(place.bin('canceld'), '--path', '--').status, 0);
    });

    test('nothing is run at the installation', () => {
      for (const name of ['canceld', `@canceld/${system}`]) {
        const manifest = join(place.directory, 'node_modules', name, 'package.json');

        assert.equal(JSON.parse(fs.readFileSync(manifest)).scripts, undefined);
      }
    });

    test('the manuals come with a global installation', limit, () => {
      const prefix = join(place.home, 'prefix');

      place.install('--global', `--prefix=${prefix}`);
      assert.match(place.run(join(prefix, 'bin/cancelctl'), '--version'), /^cancelctl \d/);
      assert.ok(fs.statSync(join(prefix, 'share/man/man7/canceld.7')).size > 0);
    });

    test('the words and the status of the server', limit, () => {
      const script = 'printf "%s\\n" "$@" >&2; exit 7';
      const words = ['--', 'sh', '-c', script, 'sh', '', 'ü "', '--path'];
      const { status, stderr } = place.failing(place.bin('canceld'), ...words);

      assert.equal(status, 7);
      assert.match(stderr, /^\nü "\n--path$/m);
    });

    test('the server ignores no signal that Node.js ignores', limit, () => {
      const script = 'grep SigIgn /proc/self/status >&2; exit 3';
      const { stderr } = place.failing(place.bin('canceld'), '--', 'sh', '-c', script);

      // Without those reserved by libc.
      assert.equal(BigInt(`0x${stderr.match(/SigIgn:\s+(\w+)/)[1]}`) & 0x7fffffffn, 0n);
    });

    for (const signal of signals)
      test(`${signal} to what the client started`, limit, async () => {
        const [through, direct] = [place.bin('canceld'), place.path()];

        assert.equal(await endBy(place, through, signal), await endBy(place, direct, signal));
      });

    // The client has the other end of its standard input still: nothing else tells it.
    test('SIGKILL to the launcher ends canceld too', limit, async () => {
      const held = place.start('sh', ['-c', 'sleep 50 | "$0" -- cat & wait', place.bin('canceld')]);
      let all = [];

      await until('canceld runs', () => (all = family(held.pid)).some(one => kind(one) === 'canceld'));
      const launcher = all.find(one => kind(one) === 'launcher') ?? all.find(one => kind(one) === 'canceld');
      process.kill(launcher.pid, 'SIGKILL');
      const left = all.filter(one => ['canceld', 'server'].includes(kind(one)) && !one.words.startsWith('sleep'));
      await until('all have ended', () => !left.some(({ pid }) => alive(pid)));
      held.kill('SIGKILL');
      all.filter(one => one.words.startsWith('sleep')).forEach(({ pid }) => process.kill(pid));
    });

    for (const signal of ['SIGKILL', 'SIGABRT', 'SIGSEGV', 'SIGUSR1'])
      test(`canceld dies by ${signal}`, limit, async () => {
        assert.equal(await endBy(place, place.bin('canceld'), signal, native), signal);
      });

    test('a package for this system that is missing', limit, () => {
      const scope = join(place.directory, 'node_modules/@canceld');

      fs.renameSync(scope, `${scope}.gone`);
      const { status, stderr } = place.failing(place.bin('canceld'), '--version');
      fs.renameSync(`${scope}.gone`, scope);
      assert.equal(status, 125);
      assert.match(stderr, RegExp(`^canceld: the package @canceld/${system} is missing: `));
      assert.match(stderr, /npm install --include=optional/);
    });

    const others = { platform: ['win32', 'run it in WSL2'], arch: ['mips', 'from its source'] };

    for (const [property, [value, instead]] of Object.entries(others))
      test(`a system that has no package: ${value}`, limit, () => {
        const other = `Object.defineProperty(process, "${property}", { value: "${value}" });`;
        const launcher = join(place.directory, 'node_modules/canceld/bin/cancelctl.js');
        const load = `require(${JSON.stringify(launcher)})`;
        const { status, stderr } = place.failing('node', '-e', `${other} ${load}`);

        assert.equal(status, 125);
        assert.match(stderr, /^cancelctl: npm has no program for \w+-\w+, only for linux-x64, /);
        assert.ok(stderr.includes(value) && stderr.endsWith(`${instead}\n`), stderr);
      });
  });
}
