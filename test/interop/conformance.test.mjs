// The official conformance suite of MCP, which speaks HTTP to a gateway that starts a stdio server for
// each session, with canceld between them or without: the verdict on each scenario is the same.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { test } from 'node:test';
import { here, until, Wire } from './wire.mjs';

const packages = join(here, 'node_modules');
const packagedNode = join(packages, `node-${process.platform}-${process.arch}/bin/node`);
const node22 = parseInt(process.versions.node) >= 22 ? process.execPath : packagedNode;
const quoted = words => words.map(word => `'${word}'`).join(' ');

function start(t, words) {
  const child = spawn(words[0], words.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] });
  const run = { child, text: '', status: new Promise(resolve => child.on('close', resolve)) };

  for (const stream of [child.stdout, child.stderr]) stream.on('data', more => (run.text += more));
  t.after(() => child.kill('SIGKILL'));
  return run;
}

// What was checked in each scenario, and what came of it.
function verdicts(directory) {
  const found = {};

  for (const name of readdirSync(directory).sort()) {
    const [, scenario] = name.match(/^server-(.*?)-\d{4}-\d\d-\d\dT/);
    const checks = JSON.parse(readFileSync(join(directory, name, 'checks.json'), 'utf8'));

    found[scenario] = checks
      .filter(({ status }) => status !== 'INFO')
      .map(({ id, status }) => `${status} ${id}`);
  }
  return found;
}

async function examine(t, canceld) {
  const wire = new Wire(t);
  const server = [process.execPath, join(here, 'conformance-server.mjs')];
  const gateway = start(t, [
    ...[process.execPath, '--import', join(here, 'loopback.mjs')],
    ...[join(packages, 'supergateway/dist/index.js'), '--stdio', quoted(wire.command(server, canceld))],
    ...['--outputTransport', 'streamableHttp', '--stateful', '--sessionTimeout', '2000']
  ]);
  const [, port] = await until(
    'the gateway listens',
    () => gateway.text.match(/loopback port (\d+)/),
    120_000
  );
  const results = join(wire.directory, 'results');
  const suite = start(t, [
    ...[node22, join(packages, '@modelcontextprotocol/conformance/dist/index.js'), 'server'],
    ...['--suite', 'all', '--url', `http://127.0.0.1:${port}/mcp`, '--output-dir', results]
  ]);

  await suite.status;
  gateway.child.kill('SIGTERM');
  await gateway.status;
  await wire.gone();
  return { found: verdicts(results), summary: suite.text.slice(suite.text.indexOf('=== SUM')), wire };
}

const skip = !existsSync(node22) && 'the suite needs Node.js 22';

test('the conformance suite comes to the same verdicts', { timeout: 300_000, skip }, async t => {
  const [direct, through, busy] = await Promise.all([
    examine(t, null),
    examine(t, []),
    examine(t, ['-r', '-k5s', '-t', '20s', '--tool-errors', '--ask-progress'])
  ]);

  t.diagnostic(direct.summary);
  assert.ok(Object.keys(direct.found).length >= 32, direct.summary);
  assert.deepEqual(through.found, direct.found);
  assert.deepEqual(busy.found, direct.found);
  assert.deepEqual(
    Object.entries(direct.found).filter(([, checks]) => /FAILURE/.test(checks)).map(([name]) => name),
    ['dns-rebinding-protection'],
    'only what the gateway lacks fails'
  );
  const lines = end =>
    through.wire.records(end).map(({ sent, received }) => [...sent, ...received].join('\n')).sort();

  assert.deepEqual(lines('server'), lines('client'), 'every byte passed as it was');
});
