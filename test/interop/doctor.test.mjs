// cancelctl doctor on real servers of MCP, ACP and LSP: what it finds out about each.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { describe, test } from 'node:test';
import { everything, here, limit, packaged } from './wire.mjs';

const filesystem = packaged('@modelcontextprotocol/server-filesystem/dist/index.js');
const typescript = packaged('typescript-language-server/lib/cli.mjs');

// The exit status, and the verdicts by the names of their checks.
async function examine(t, options, command) {
  const directory = mkdtempSync(join(tmpdir(), 'interop-'));
  const words = ['doctor', '--json', '--start', '1m', ...options, '--', ...command];

  t.after(() => rmSync(directory, { recursive: true }));

  const { status, stdout } = await new Promise(resolve =>
    execFile(
      process.env.CANCELCTL,
      words,
      { env: { ...process.env, INTEROP_MARKS: join(directory, 'marks') } },
      (error, out) => resolve({ status: error ? error.code : 0, stdout: out })
    )
  );
  const report = JSON.parse(stdout);

  return {
    status,
    report,
    verdicts: Object.fromEntries(report.checks.map(({ check, verdict }) => [check, verdict]))
  };
}

function assertVerdicts({ report, verdicts }, expected) {
  for (const [check, verdict] of Object.entries(expected)) {
    assert.equal(verdicts[check], verdict, `${check}: ${JSON.stringify(report, null, 2)}`);
  }
}

const kept = { initialize: 'yes', stdout: 'yes', exit: 'yes', orphans: 'yes' };
const call = (name, params) => ['--call', name, '--arguments', JSON.stringify(params)];
const prompt = what => call('session/prompt', { prompt: [{ type: 'text', text: JSON.stringify(what) }] });

describe('cancelctl doctor', { concurrency: 2 }, () => {
  test('server-everything ignores a cancel', limit, async t => {
    const found = await examine(
      t,
      call('trigger-long-running-operation', { duration: 2, steps: 10 }),
      [process.execPath, everything, 'stdio']
    );

    assert.equal(found.status, 1);
    assertVerdicts(found, {
      ...kept,
      discover: 'yes',
      tools: 'yes',
      call: 'yes',
      busy: 'yes',
      cancel: 'no',
      alive: 'yes'
    });
  });

  test('server-filesystem keeps what can be tested without a call', limit, async t => {
    const found = await examine(t, [], [process.execPath, filesystem, tmpdir()]);

    assert.equal(found.status, 0);
    assertVerdicts(found, { ...kept, discover: 'yes', tools: 'yes', alive: 'yes', cancel: 'not tested' });
  });

  test('a server of SDK 2 that speaks both eras', limit, async t => {
    const found = await examine(t, [], [process.execPath, join(here, 'server-v2.mjs')]);

    assert.equal(found.status, 0);
    assertVerdicts(found, { ...kept, discover: 'yes', tools: 'yes', alive: 'yes' });
  });

  test('an ACP agent', limit, async t => {
    const found = await examine(t, ['-D', 'acp', ...prompt({ do: 'steps', count: 10, every: 100 })], [
      process.execPath,
      join(here, 'acp-agent.mjs')
    ]);

    assert.equal(found.report.dialect, 'acp');
    assert.equal(found.status, 0);
    assertVerdicts(found, {
      ...kept,
      call: 'yes',
      busy: 'yes',
      cancel: 'yes',
      alive: 'yes'
    });
  });

  test('an ACP agent that is deaf to a cancel', limit, async t => {
    const found = await examine(
      t,
      ['-D', 'acp', '--timeout', '2s', ...call('_hold', { deaf: true })],
      [process.execPath, join(here, 'acp-agent.mjs')]
    );

    assert.equal(found.status, 1);
    assertVerdicts(found, { ...kept, call: 'no', busy: 'yes', cancel: 'no', alive: 'yes' });
  });

  test('a language server', limit, async t => {
    const found = await examine(t, ['-D', 'lsp'], [process.execPath, typescript, '--stdio']);

    assert.equal(found.report.dialect, 'lsp');
    assert.equal(found.status, 0);
    assertVerdicts(found, { ...kept, alive: 'yes' });
    assert.equal(found.verdicts.tools, undefined);
  });

  const clangd = spawnSync('clangd', ['--version']).status === 0;

  test('clangd', { ...limit, skip: !clangd && 'clangd is not installed' }, async t => {
    const found = await examine(t, ['-D', 'lsp', ...call('workspace/symbol', { query: '' })], ['clangd']);

    assert.equal(found.status, 0);
    assertVerdicts(found, { ...kept, call: 'yes', alive: 'yes' });
  });
});
