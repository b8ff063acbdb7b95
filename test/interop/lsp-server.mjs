// A language server made with vscode-languageserver. Besides hover and completion it has requests
// of its own, which say by their names what they do.
import { appendFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import {
  CancellationTokenSource,
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
let release = () => {};
let impatience;

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

// Until the client cancels; or, for one who is deaf to that, until it asks for test/release.
connection.onRequest('test/hold', async ({ deaf }, token) => {
  await new Promise(resolve => {
    token.onCancellationRequested(() => {
      mark('aborted');
      if (!deaf) resolve();
    });
    if (deaf) release = resolve;
    mark('started');
  });
  return deaf ? 'too late' : new ResponseError(LSPErrorCodes.RequestCancelled, 'stopped');
});
connection.onRequest('test/release', () => {
  release();
  return null;
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

connection.onRequest('test/ask', async ({ impatient }) => {
  if (impatient) return askInVain();

  const asked = await connection.sendRequest('window/showMessageRequest', {
    type: MessageType.Info,
    message: 'which?',
    actions: [{ title: 'this' }]
  });
  const [settings] = await connection.sendRequest('workspace/configuration', { items: [{}] });

  return { asked, settings };
});

// Until the client makes it impatient.
function askInVain() {
  const question = { type: MessageType.Info, message: 'which?', actions: [] };

  impatience = new CancellationTokenSource();
  return connection.sendRequest('window/showMessageRequest', question, impatience.token);
}

connection.onRequest('test/impatience', () => {
  impatience.cancel();
  return null;
});

connection.onRequest('test/configuration', () =>
  connection
    .sendRequest('workspace/configuration', { items: [{}] })
    .catch(({ code, message }) => ({ code, message }))
);

// What a library prints on stdout by mistake, before the header of the answer.
connection.onRequest('test/babble', ({ noise }) => {
  process.stdout.write(noise);
  return 'babbled';
});
connection.onRequest('test/fail', () => new ResponseError(ErrorCodes.InvalidParams, 'no'));

documents.listen(connection);
connection.listen();
