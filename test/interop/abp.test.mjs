// ABP "Cancellation": each row of its tables of edge cases and of timing, and its relationship to
// timeouts, as what the real program says and hears: the client cancels with $/canceld/cancel and is
// told what came of it.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { play } from './puppet.mjs';
import { limit, together } from './wire.mjs';

// What stands before each transcript, and how these protocols spell what happens in it.
const protocols = {
  MCP: {
    start: `
      C> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}
      >S {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}
      S> {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}
      >C {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}
    `,
    cancel: id =>
      `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id},"reason":"The client no longer waits for the answer"}}`
  },
  ACP: {
    start: `
      C> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
      >S {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
      S> {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}
      >C {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}
    `,
    cancel: id => `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":${id}}}`
  },
  LSP: {
    hasHeaders: true,
    start: `
      C> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}
      >S {"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}
      S> {"jsonrpc":"2.0","id":0,"result":{"capabilities":{}}}
      >C {"jsonrpc":"2.0","id":0,"result":{"capabilities":{}}}
    `,
    cancel: id => `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":${id}}}`
  }
};
const call = id => `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"x"}}`;
const done = id => `{"jsonrpc":"2.0","id":${id},"result":{"done":true}}`;
const marker = id =>
  `{"jsonrpc":"2.0","id":${id},"error":{"code":-32800,"message":"Request cancelled"}}`;
const ask = (id, target) =>
  `{"jsonrpc":"2.0","id":"${id}","method":"$/canceld/cancel","params":{"id":${target},"reason":"User cancelled"}}`;
const told = (id, result) => `{"jsonrpc":"2.0","id":"${id}","result":${result}}`;
const unknown = id => `{"id":${id},"cancelled":false,"reason":"Operation not found"}`;
const tooLate = id => `{"id":${id},"cancelled":false,"reason":"Operation already completed"}`;
const unconfirmed = id => `{"id":${id},"cancelled":true}`;
const confirmed = id => `{"id":${id},"cancelled":true,"confirmed":true}`;
const cancelled = id =>
  `{"jsonrpc":"2.0","id":${id},"error":{"code":-32800,"message":"canceld: ...","data":{"cause":"cancelled","cancelled":true,"method":"tools/call","elapsedMs":N}}}`;
const begun = id => `
  C> ${call(id)}
  >S ${call(id)}
`;
const completed = id => `
  ${begun(id)}
  S> ${done(id)}
  >C ${done(id)}
`;
const filler = '{"jsonrpc":"2.0","method":"notifications/x","params":"FILL"}';

// A row of the tables in each of these protocols; `row` makes the transcript. The session goes on.
function forEachProtocol(name, names, row, { options, words = [] } = {}) {
  describe(name, together, () => {
    for (const each of names.split(' ')) {
      const { start, hasHeaders, cancel } = protocols[each];

      test(each, limit, async t => {
        const transcript = `${start}\n${row(cancel)}\n${completed(99)}`;
        const logged = await play(t, transcript, { options, hasHeaders });

        for (const word of words) assert.ok(logged.includes(word), `${word} in ${logged}`);
      });
    }
  });
}

describe('edge cases', together, () => {
  forEachProtocol(
    'cancel a call that does not exist',
    'MCP ACP LSP',
    () => `
      C> ${ask('a', 7)}
      >C ${told('a', unknown(7))}
    `
  );

  forEachProtocol(
    'cancel a call that is already completed',
    'MCP ACP LSP',
    () => `
      ${completed(7)}
      C> ${ask('a', 7)}
      >C ${told('a', tooLate(7))}
    `
  );

  forEachProtocol(
    'cancel a call that is already cancelled',
    'MCP',
    cancel => `
      ${begun(7)}
      C> ${ask('a', 7)}
      >S ${cancel(7)}
      >C ${cancelled(7)}
      >C ${told('a', unconfirmed(7))}
      C> ${ask('b', 7)}
      >C ${told('b', unconfirmed(7))}
      S> ${done(7)}
      C> ${ask('c', 7)}
      >C ${told('c', unconfirmed(7))}
    `
  );

  forEachProtocol(
    'cancel a call that is already cancelled, and was answered',
    'ACP LSP',
    cancel => `
      ${begun(7)}
      C> ${ask('a', 7)}
      >S ${cancel(7)}
      S> ${marker(7)}
      >C ${marker(7)}
      >C ${told('a', confirmed(7))}
      C> ${ask('b', 7)}
      >C ${told('b', confirmed(7))}
    `
  );

  forEachProtocol(
    'cancel a call that is already cancelled in other words',
    'MCP',
    cancel => `
      ${begun(7)}
      C> ${cancel(7)}
      >S ${cancel(7)}
      C> ${ask('a', 7)}
      >C ${told('a', unconfirmed(7))}
    `
  );

  forEachProtocol(
    'cancel a call that is already cancelled in other words, and was not answered yet',
    'ACP LSP',
    cancel => `
      ${begun(7)}
      C> ${cancel(7)}
      >S ${cancel(7)}
      C+ ${ask('a', 7)}
      C+ ${ask('b', 7)}
      C> ${ask('c', 8)}
      >C ${told('c', unknown(8))}
      S> ${marker(7)}
      >C ${marker(7)}
      >C ${told('a', confirmed(7))}
      >C ${told('b', confirmed(7))}
    `
  );

  forEachProtocol(
    'cancel a call many times',
    'MCP',
    cancel => `
      ${begun(7)}
      C+ ${ask('a', 7)}
      C+ ${ask('b', 7)}
      C> ${ask('c', 7)}
      >S ${cancel(7)}
      >C ${cancelled(7)}
      >C ${told('a', unconfirmed(7))}
      >C ${told('b', unconfirmed(7))}
      >C ${told('c', unconfirmed(7))}
    `
  );

  forEachProtocol(
    'cancel a call many times, and it was answered',
    'ACP LSP',
    cancel => `
      ${begun(7)}
      C> ${ask('a', 7)}
      >S ${cancel(7)}
      C> ${ask('b', 7)}
      C+ ${ask('c', 7)}
      C> ${ask('d', 8)}
      >C ${told('d', unknown(8))}
      S> ${marker(7)}
      >C ${marker(7)}
      >C ${told('a', confirmed(7))}
      >C ${told('b', confirmed(7))}
      >C ${told('c', confirmed(7))}
    `
  );

  forEachProtocol(
    'the call completes while the cancel is in flight',
    'ACP LSP',
    cancel => `
      ${begun(7)}
      C> ${ask('a', 7)}
      >S ${cancel(7)}
      C+ ${ask('b', 7)}
      C> ${ask('c', 8)}
      >C ${told('c', unknown(8))}
      S> ${done(7)}
      >C ${done(7)}
      >C ${told('a', tooLate(7))}
      >C ${told('b', tooLate(7))}
      C> ${ask('d', 7)}
      >C ${told('d', tooLate(7))}
    `
  );

  forEachProtocol(
    'the call completes while the cancel is in flight, with --answer-cancelled',
    'MCP',
    cancel => `
      ${begun(7)}
      C> ${ask('a', 7)}
      >S ${cancel(7)}
      S> ${done(7)}
      >C ${done(7)}
      >C ${told('a', tooLate(7))}
    `,
    { options: ['--answer-cancelled'] }
  );

  describe('cancel without a session', together, () => {
    const none = code =>
      `{"jsonrpc":"2.0","id":"a","error":{"code":${code},"message":"canceld: ...","data":{"code":"NOT_INITIALIZED"}}}`;

    for (const [name, { start: handshake, hasHeaders }] of Object.entries(protocols)) {
      test(name, limit, async t => {
        const [, initialize, heard, ...answered] = handshake.split('\n');

        await play(
          t,
          `${initialize}
          ${heard}
          C> ${ask('a', 0)}
          >C ${none(hasHeaders ? -32002 : -32600)}
          ${answered.join('\n')}
          ${completed(99)}`,
          { hasHeaders }
        );
      });
    }
  });

  forEachProtocol(
    'cancel nothing in particular',
    'MCP ACP LSP',
    () => `
      C> {"jsonrpc":"2.0","id":"a","method":"$/canceld/cancel","params":{"reason":"why not"}}
      >C {"jsonrpc":"2.0","id":"a","error":{"code":-32602,"message":"canceld: ..."}}
      C> {"jsonrpc":"2.0","id":"b","method":"$/canceld/cancel"}
      >C {"jsonrpc":"2.0","id":"b","error":{"code":-32602,"message":"canceld: ..."}}
    `
  );
});

describe('timing', together, () => {
  forEachProtocol(
    'the cancel arrives before the operation starts',
    'MCP ACP LSP',
    () => `
      C> ${filler}
      C> ${call(7)}
      C> ${ask('a', 7)}
      >C ${cancelled(7)}
      >C ${told('a', unconfirmed(7))}
      C> ${ask('b', 7)}
      >C ${told('b', unconfirmed(7))}
      >S ${filler}
    `,
    { words: ['CANCEL_UNSENT'] }
  );

  forEachProtocol(
    'the cancel arrives together with the call',
    'MCP ACP LSP',
    () => `
      C+ ${call(7)}
      C> ${ask('a', 7)}
      >C ${cancelled(7)}
      >C ${told('a', unconfirmed(7))}
    `,
    { words: ['CANCEL_UNSENT'] }
  );

  forEachProtocol(
    'the cancel arrives during the operation, and nobody waits for the server',
    'MCP',
    cancel => `
      ${begun(7)}
      C> ${ask('a', 7)}
      >S ${cancel(7)}
      >C ${cancelled(7)}
      >C ${told('a', unconfirmed(7))}
      S> ${done(7)}
    `,
    { words: ['CANCEL_SENT', 'CANCEL_ANSWERED', 'CANCEL_ACKNOWLEDGED', 'LATE'] }
  );

  forEachProtocol(
    'the cancel arrives during the operation, and the server obeys',
    'ACP LSP',
    cancel => `
      ${begun(7)}
      C> ${ask('a', 7)}
      >S ${cancel(7)}
      S> ${marker(7)}
      >C ${marker(7)}
      >C ${told('a', confirmed(7))}
    `,
    { words: ['CANCEL_SENT', 'CANCEL_ACKNOWLEDGED'] }
  );

  forEachProtocol(
    'the cancel arrives during the operation, and the server is deaf',
    'MCP ACP LSP',
    cancel => `
      ${begun(7)}
      C> ${ask('a', 7)}
      >S ${cancel(7)}
      >C ${cancelled(7)}
      >C ${told('a', unconfirmed(7))}
      S> ${done(7)}
    `,
    {
      options: ['-g', '200ms', '--answer-cancelled'],
      words: ['CANCEL_SENT', 'CANCEL_ANSWERED', 'CANCEL_ACKNOWLEDGED', 'LATE']
    }
  );

  test('the cancel arrives during the turn of an agent', limit, t => {
    const turn = `{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}`;
    const stopped = `{"jsonrpc":"2.0","id":7,"result":{"stopReason":"cancelled"}}`;

    return play(
      t,
      `${protocols.ACP.start}
      C> ${turn}
      >S ${turn}
      C> ${ask('a', 7)}
      >S {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}
      S> ${stopped}
      >C ${stopped}
      >C ${told('a', confirmed(7))}`
    );
  });

  forEachProtocol(
    'the cancel arrives after completion',
    'MCP ACP LSP',
    () => `
      ${begun(7)}
      S> ${done(7)}
      C> ${call(8)}
      >C ${done(7)}
      >S ${call(8)}
      C> ${ask('a', 7)}
      >C ${told('a', tooLate(7))}
      S> ${done(8)}
      >C ${done(8)}
    `
  );
});

describe('relationship to timeout', together, () => {
  const timedOut = (id, code) =>
    `{"jsonrpc":"2.0","id":${id},"error":{"code":${code},"message":"canceld: ...","data":{"cause":"timeout","cancelled":true,"method":"tools/call","elapsedMs":N,"timeoutMs":300}}}`;

  for (const [name, code] of [
    ['MCP', -32800],
    ['LSP', -32803]
  ]) {
    forEachProtocol(
      'a deadline is told to the server in the same words, and to the client as what it is',
      name,
      cancel => `
        ${begun(7)}
        >S ${cancel(7)}
        >C ${timedOut(7, code)}
        S> ${done(7)}
        C> ${ask('a', 7)}
        >C ${told('a', unconfirmed(7))}
      `,
      { options: ['-t', 'tools/call=300ms'], words: ['TIMED_OUT'] }
    );
  }

  forEachProtocol(
    'a cancel that comes after the deadline of an agent waits with it',
    'ACP',
    cancel => `
      ${begun(7)}
      >S ${cancel(7)}
      C+ ${ask('a', 7)}
      C> ${ask('b', 8)}
      >C ${told('b', unknown(8))}
      S> ${marker(7)}
      >C ${marker(7)}
      >C ${told('a', confirmed(7))}
    `,
    { options: ['-t', 'tools/call=300ms'] }
  );

  forEachProtocol(
    'the deadline of an agent gives it the grace',
    'ACP',
    cancel => `
      ${begun(7)}
      >S ${cancel(7)}
      S> ${marker(7)}
      >C ${marker(7)}
      C> ${ask('a', 7)}
      >C ${told('a', confirmed(7))}
    `,
    { options: ['-t', 'tools/call=300ms'], words: ['TIMED_OUT'] }
  );
});

describe('call ids', together, () => {
  forEachProtocol(
    'are those of JSON-RPC, and come back as they are spelled',
    'MCP',
    cancel => `
      C> ${call('"a\\u0062"')}
      >S ${call('"a\\u0062"')}
      C> ${ask('a', '"7"')}
      >C ${told('a', unknown('"7"'))}
      C> ${ask('b', '"ab"')}
      >S ${cancel('"a\\u0062"')}
      >C ${cancelled('"a\\u0062"')}
      >C ${told('b', unconfirmed('"ab"'))}
    `
  );
});
