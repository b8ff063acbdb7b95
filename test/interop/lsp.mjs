// A client of vscode-jsonrpc and a language server, with canceld between them or without.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import process from 'node:process';
import {
  CancellationTokenSource,
  createMessageConnection,
  StreamMessageReader,
  StreamMessageWriter
} from 'vscode-jsonrpc/node';
import { Child, here } from './wire.mjs';

const require = createRequire(import.meta.url);
const inPackage = (name, path) => join(dirname(require.resolve(`${name}/package.json`)), path);

const servers = {
  own: [join(here, 'lsp-server.mjs')],
  typescript: [inPackage('typescript-language-server', 'lib/cli.mjs'), '--stdio'],
  pyright: [inPackage('pyright', 'langserver.index.js'), '--stdio']
};

export function cancellable() {
  const source = new CancellationTokenSource();
  return { token: source.token, cancel: () => source.cancel() };
}

export class LspSession extends Child {
  constructor(test, { server = 'own', canceld }) {
    super(test, [process.execPath, ...servers[server]], { canceld });
    this.errors = [];
    this.heard = [];
    this.connection = createMessageConnection(
      new StreamMessageReader(this.child.stdout),
      new StreamMessageWriter(this.child.stdin)
    );
    this.connection.onError(([error]) => this.errors.push(error));
    this.connection.onNotification((method, params) => this.heard.push({ method, params }));
    this.connection.onRequest('window/showMessageRequest', ({ actions }) => actions[0]);
    this.connection.onRequest('workspace/configuration', ({ items }) => items.map(() => ({})));
    this.connection.onUnhandledNotification(() => {});
    this.connection.listen();
  }

  async start(options = {}) {
    await this.request('initialize', {
      processId: process.pid,
      rootUri: null,
      capabilities: { textDocument: { hover: { contentFormat: ['markdown'] } } },
      ...options
    });
    await this.connection.sendNotification('initialized', {});
    return this;
  }

  // An argument that is not there counts as one with this library.
  request(method, ...args) {
    return this.connection.sendRequest(method, ...args.filter(each => each !== undefined));
  }

  openDocument(uri, languageId, text) {
    this.uri = uri;
    return this.connection.sendNotification('textDocument/didOpen', {
      textDocument: { uri, languageId, version: 1, text }
    });
  }

  at(method, line, character, more, token) {
    const params = { textDocument: { uri: this.uri }, position: { line, character }, ...more };

    return this.request(method, params, token);
  }

  beginHold(token) {
    return this.begin(() => this.request('test/hold', {}, token));
  }

  async assertGoesOn() {
    assert.equal(await this.request('test/steps', { count: 0 }), 0);
  }

  cancelled() {
    return this.serverEnd.cancels.map(({ method, params }) => [method, params]);
  }

  // As the specification has it; the status of the server.
  async close() {
    assert.equal(await this.request('shutdown'), null);
    await this.connection.sendNotification('exit');

    const status = await this.status;

    await this.gone();
    this.connection.dispose();
    return status;
  }
}

export const openLsp = (test, options = {}) =>
  new LspSession(test, options).start(options.initialize);
