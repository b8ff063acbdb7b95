// The Language Server Protocol: vscode-jsonrpc as the client, real servers, and each way that a
// cancel may go.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { cancellable, openLsp } from './lsp.mjs';
import { assertTransparent, limit, together, until } from './wire.mjs';

const text = 'h\u00e9llo \u{1f680}\r\nContent-Length: 5\r\n\r\n{"method":"$/cancelRequest"}\n';

// What it takes to have real servers say the same twice: a project of their own, and nothing to
// download.
function project(t, name, contents) {
  const directory = mkdtempSync(join(tmpdir(), 'interop-'));
  const files = {
    'tsconfig.json': '{"compilerOptions":{"lib":["es5"],"types":[]},"files":["a.ts"]}',
    'pyrightconfig.json': '{"include":["a.py"]}',
    [name]: contents
  };

  for (const [file, bytes] of Object.entries(files)) writeFileSync(join(directory, file), bytes);

  t.after(() => rmSync(directory, { recursive: true }));

  const rootUri = pathToFileURL(directory).href;
  return {
    uri: `${rootUri}/${name}`,
    contents,
    initialize: {
      rootUri,
      workspaceFolders: [{ uri: rootUri, name: 'interop' }],
      initializationOptions: {
        disableAutomaticTypingAcquisition: true,
        tsserver: { useSyntaxServer: 'never' }
      }
    }
  };
}

const typescript = t => project(t, 'a.ts', 'const words = ["a"];\nwords.concat(words);\nwords.\n');
const python = t => project(t, 'a.py', 'words = ["a"]\nwords.extend(words)\nwords.\n');

// A cold start on a busy machine takes its time.
const slowly = { timeout: 60_000 };
const languages = { typescript, pyright: python };

const openOn = async (t, { uri, contents, initialize }, options) => {
  const session = await openLsp(t, { ...options, initialize });

  await session.openDocument(uri, options.server, contents);
  return session;
};

async function converse(session) {
  await session.openDocument('file:///a.txt', 'text', text.repeat(5_000));
  assert.match((await session.at('textDocument/hover', 0, 0)).contents, /Content-Length: 5/);
  assert.equal((await session.at('textDocument/completion', 0, 0)).length, 2);
  assert.deepEqual(await session.request('test/ask', {}), {
    asked: { title: 'this' },
    settings: {}
  });
  assert.equal(await session.request('test/steps', { count: 3, every: 10, workDoneToken: 'w' }), 3);
  await assert.rejects(session.request('test/fail', {}), { code: -32602 });
  await assert.rejects(session.request('test/nothing', {}), { code: -32601 });

  const { token, cancel } = cancellable();
  const { answer } = await session.beginHold(token);

  cancel();
  await assert.rejects(answer, { code: -32800, message: 'stopped' });
}

// As an editor uses a server on the three lines of typescript() and python().
async function edit(session) {
  const hover = await session.at('textDocument/hover', 1, 1);

  assert.match(JSON.stringify(hover), /words: (string\[\]|list\[str\])/);
  const references = await session.at('textDocument/references', 1, 1, {
    context: { includeDeclaration: true }
  });

  assert.equal(references.length, 4);
  const { items } = await session.at('textDocument/completion', 2, 6);

  assert.ok(items.some(({ label }) => label === 'concat' || label === 'extend'));
}

describe('nothing is changed between an LSP client and', together, () => {
  const compare = (talk, open, options) =>
    assertTransparent(async options => {
      const session = await open(options);

      await talk(session);
      assert.equal(await session.close(), 0);
      assert.deepEqual(session.errors, []);
      return session;
    }, options);
  // Pyright logs how long it took.
  const unlogged = lines =>
    lines.filter(line => line.startsWith('{') && !line.includes('"window/logMessage"'));
  const diagnosed = session =>
    until(
      'the diagnostics came',
      () => session.heard.some(({ method }) => method === 'textDocument/publishDiagnostics'),
      30_000
    );

  test('a server of vscode-languageserver', limit, t =>
    compare(converse, options => openLsp(t, options))
  );

  test('typescript-language-server', slowly, t => {
    const files = typescript(t);

    return compare(edit, options => openOn(t, files, { ...options, server: 'typescript' }));
  });

  test('pyright', slowly, t => {
    const files = python(t);

    return compare(
      edit,
      async options => {
        const session = await openOn(t, files, { ...options, server: 'pyright' });

        await diagnosed(session);
        return session;
      },
      { view: unlogged }
    );
  });
});

const open = (t, canceld, more) => openLsp(t, { canceld: ['-v', ...canceld], ...more });
const answered = (session, id) =>
  until('the server answered', () => session.serverEnd.answersTo(id).length > 0, 30_000);
const cancelOf = id => [['$/cancelRequest', { id }]];

describe('an LSP client cancels', together, () => {
  test('and the server obeys', limit, async t => {
    const session = await open(t, []);
    const { token, cancel } = cancellable();
    const { answer, id } = await session.beginHold(token);

    cancel();
    await assert.rejects(answer, { code: -32800, message: 'stopped' });
    await session.assertGoesOn();
    assert.equal(await session.close(), 0);
    assert.deepEqual(session.cancelled(), cancelOf(id));
    session.assertAnswered(id, { byServer: 1 });
    assert.equal(session.logged('CANCEL_FORWARDED').length, 1);
    assert.equal(session.logged('CANCEL_ANSWERED').length, 0);
  });

  // Until its project is loaded a server hears nothing.
  async function cancelHover(t, server, canceld) {
    const session = await openOn(t, languages[server](t), { server, canceld: ['-v', ...canceld] });
    const { token, cancel } = cancellable();
    const hover = session.at('textDocument/hover', 1, 1, {}, token);
    const heard = () => session.serverEnd.heard('sent', 'textDocument/hover');

    await until('the server was asked', () => heard().length === 1, 30_000);
    cancel();

    const [code] = await Promise.all([
      hover.then(
        () => 0,
        error => error.code
      ),
      edit(session)
    ]);
    const [{ id }] = heard();

    await answered(session, id);
    assert.equal(await session.close(), 0);
    assert.deepEqual(session.cancelled(), cancelOf(id));
    session.assertAnswered(id, { byServer: 1 });
    assert.deepEqual(session.errors, []);
    return { session, id, code };
  }

  for (const server of Object.keys(languages)) {
    test(`and ${server} answers as it does when cancelled`, slowly, async t => {
      const { session, id } = await cancelHover(t, server, ['-g', '1m']);

      assert.deepEqual(session.clientEnd.answersTo(id), session.serverEnd.answersTo(id));
    });

    test(`and has no patience with ${server}`, slowly, async t => {
      const { session, code } = await cancelHover(t, server, ['-g', '1ms']);

      assert.equal(code, -32800);
      assert.equal(session.logged('CANCEL_ANSWERED').length, 1);
      assert.equal(session.logged('LATE').length, 1);
    });
  }
});

describe('the deadline of an LSP request', together, () => {
  for (const [server, files] of Object.entries(languages)) {
    test(`passes while ${server} loads a project`, slowly, async t => {
      const canceld = ['-v', '-t', 'textDocument/hover=1ms'];
      const session = await openOn(t, files(t), { server, canceld });

      await assert.rejects(session.at('textDocument/hover', 1, 1), { code: -32803 });

      const [{ id }] = session.clientEnd.heard('sent', 'textDocument/hover');

      await answered(session, id);
      await session.at('textDocument/documentSymbol', 0, 0);
      assert.equal(await session.close(), 0);
      assert.deepEqual(session.cancelled(), cancelOf(id));
      session.assertAnswered(id, { byServer: 1 });
      assert.deepEqual(session.errors, []);
    });
  }
});
