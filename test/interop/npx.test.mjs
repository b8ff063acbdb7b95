// A server that npx starts, as most are: npx (node), a shell, and node below it. None of them outlives
// the session, however that ends.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { alive, here, until } from './wire.mjs';

const name = 'interop-server';
const directory = join(here, 'records', 'npx');
const marks = join(directory, 'marks');
const cache = join(here, 'npm-cache');

// A package in a directory, which npm links to: nothing of it comes from the network.
function makePackage() {
  const server = join(directory, 'server.mjs');
  const original = pathToFileURL(join(here, 'server-v1.mjs'));

  mkdirSync(directory, { recursive: true });
  writeFileSync(marks, '');
  writeFileSync(server, `#!/usr/bin/env node\nawait import('${original}');\n`);
  chmodSync(server, 0o755);
  writeFileSync(
    join(directory, 'package.json'),
    JSON.stringify({ name, version: '1.0.0', bin: { [name]: 'server.mjs' } })
  );
}

function children(pid) {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
      .split(' ')
      .filter(Boolean)
      .map(Number);
  } catch {
    return [];
  }
}

const below = pid => children(pid).flatMap(child => [child, ...below(child)]);
const nameOf = pid => readFileSync(`/proc/${pid}/comm`, 'latin1').trim();

async function open(t) {
  const transport = new StdioClientTransport({
    command: process.env.CANCELD,
    stderr: 'ignore',
    args: ['-v', '--', 'npx', '--yes', `--package=${directory}`, name],
    env: {
      PATH: process.env.PATH,
      INTEROP_MARKS: marks,
      npm_config_cache: cache,
      npm_config_update_notifier: 'false',
      npm_config_audit: 'false',
      npm_config_fund: 'false'
    }
  });
  const client = new Client({ name: 'interop', version: '1' });

  await client.connect(transport, { timeout: 60_000 });
  const family = [transport.pid, ...below(transport.pid)];

  t.after(() => family.filter(alive).forEach(pid => process.kill(pid, 'SIGKILL')));
  return { client, family, canceld: transport.pid };
}

// Below canceld and its guardian stand npx, a shell and the server.
function assertThreeDeep({ family }) {
  const names = family.slice(2).map(nameOf);

  assert.equal(names.length, 3, `${names}`);
  assert.match(names[1], /sh$/);
}

const endings = {
  'the client closes': session => session.client.close(),
  'SIGTERM for canceld': session => process.kill(session.canceld, 'SIGTERM'),
  'SIGKILL for canceld': session => process.kill(session.canceld, 'SIGKILL'),
  'SIGKILL for npx': session => process.kill(session.family[2], 'SIGKILL'),
  'SIGKILL for the server': session => process.kill(session.family.at(-1), 'SIGKILL')
};
const skip = process.platform !== 'linux' && 'needs /proc';

for (const [ending, end] of Object.entries(endings)) {
  test(`npx and all below it is gone: ${ending}`, { timeout: 90_000, skip }, async t => {
    makePackage();
    const session = await open(t);
    const { content } = await session.client.callTool({ name: 'echo', arguments: { words: 'hi' } });

    assert.equal(content[0].text, 'hi');
    assertThreeDeep(session);
    const call = session.client
      .callTool({ name: 'hold', arguments: { ms: 60_000, deaf: true } })
      .then(() => assert.fail('it was answered'), failure => failure);

    await until('it holds', () => readFileSync(marks, 'latin1').includes('started'));
    await end(session);
    await until('all is gone', () => !session.family.some(alive), 4_000);
    assert.ok((await call) instanceof Error);
  });
}
