// A language server made with vscode-languageserver. Besides hover and completion it has requests
// of its own, which say by their names what they do.
import { appendFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import {
  createConnection,
  ErrorCodes,
  LSPErrorCodes,
  MessageType,
  ProposedFeatures,
  ResponseError,
  TextDocuments,
  TextDocumentSyncKind
} from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';

const mark = event => appendFileSync(process.env.INTEROP_MARKS, `${JSON.stringify({ event })}\n`);
const connection = createConnection(ProposedFeatures.all, process.stdin, process.stdout);
const documents = new TextDocuments(TextDocument);

connection.onInitialize(({ processId }) => ({
  capabilities: {
    textDocumentSync: TextDocumentSyncKind.Incremental,
    hoverProvider: true,
    completionProvider: {}
  },
  serverInfo: { name: `a server for ${processId}` }
}));
connection.onHover(({ textDocument }) => ({
  contents: `# ${documents.get(textDocument.uri).getText()}`
}));
connection.onCompletion(() => [{ label: 'h\u00e9llo' }, { label: '\u{1f680}' }]);

// Until the client cancels.
connection.onRequest('test/hold', async (_, token) => {
  await new Promise(resolve => {
    token.onCancellationRequested(() => {
      mark('aborted');
      resolve();
    });
    mark('started');
  });
  return new ResponseError(LSPErrorCodes.RequestCancelled, 'stopped');
});

connection.onRequest('test/steps', async ({ count, every, workDoneToken }) => {
  for (let step = 1; step <= count; step++) {
    await wait(every);
    await connection.sendNotification('$/progress', {
      token: workDoneToken,
      value: { kind: step === 1 ? 'begin' : step === count ? 'end' : 'report', title: 'steps' }
    });
  }
  return count;
});

connection.onRequest('test/ask', async () => {
  const asked = await connection.sendRequest('window/showMessageRequest', {
    type: MessageType.Info,
    message: 'which?',
    actions: [{ title: 'this' }]
  });
  const [settings] = await connection.sendRequest('workspace/configuration', { items: [{}] });

  return { asked, settings };
});

connection.onRequest('test/fail', () => new ResponseError(ErrorCodes.InvalidParams, 'no'));

documents.listen(connection);
connection.listen();
