// What a client may say to a server from its first word to its last. Each conversation checks that
// it went as it should; of more interest are the records that it leaves.
import assert from 'node:assert/strict';
import { answer, textOf, until } from './lib.mjs';

const LOG_LEVEL = { 'io.modelcontextprotocol/logLevel': 'info' };

export const person = {
  sample: async () => answer('forty-two'),
  elicit: async () => ({ action: 'accept', content: { name: 'Ada' } }),
  roots: async () => ({ roots: [{ uri: 'file:///tmp/a', name: 'a' }] })
};

async function list({ client }) {
  const { tools } = await client.listTools();
  const { resources } = await client.listResources();
  const { prompts } = await client.listPrompts();

  await client.listResourceTemplates();
  assert.ok(tools.length > 0 && resources.length > 0 && prompts.length > 0);
  return { resources };
}

async function pipelined(session) {
  const words = Array.from(
    { length: 20 },
    (_, number) => `"id":${number},"method":"tools/call" \\u00e9 \u{1f680}\n`
  );
  const answers = await Promise.all(words.map(each => session.call('echo', { words: each })));

  assert.deepEqual(answers.map(textOf), words);
}

// Both SDKs lose what progress they read together with the answer, which is up to the scheduler.
async function progress(session, name, args, ...expected) {
  const seen = [];

  await session.call(name, args, { onprogress: each => seen.push(each.progress) });
  assert.deepEqual(seen.slice(0, expected.length), expected.slice(0, seen.length));
}

// Aborts a call when its handler has begun, and calls again when that has stopped.
export async function abort(session) {
  const controller = new AbortController();
  const refused = assert.rejects(session.call('hold', {}, { signal: controller.signal }));

  await session.marked('started');
  controller.abort('the person pressed escape');
  await refused;
  await session.marked('aborted');
  assert.equal(textOf(await session.call('echo', { words: 'after the abort' })), 'after the abort');
}

async function impatient(session) {
  await assert.rejects(session.call('hold', {}, { timeout: 300 }));
  await session.marked('aborted', 2);
}

async function logging(session) {
  if (!session.modern) await session.client.setLoggingLevel('info');
  await session.call('report', { words: 'a log line' }, undefined, session.modern && LOG_LEVEL);
  assert.deepEqual(
    session.heard.map(({ params }) => params.level),
    ['info', 'error']
  );
}

async function subscription(session) {
  let changes = 0;

  session.client.setNotificationHandler('notifications/tools/list_changed', () => changes++);

  const listening = await session.client.listen({ toolsListChanged: true });

  await session.call('announce');
  await until('the change was heard', () => changes > 0);
  await listening.close();
  await session.call('announce');
}

export async function own(session) {
  const { client } = session;

  await list(session);
  await pipelined(session);
  assert.equal(textOf(await session.call('echo', { words: 'x'.repeat(300_000) })).length, 300_000);
  await progress(session, 'steps', { count: 3, every: 30 }, 1, 2, 3);
  assert.equal(textOf(await session.call('ask', { question: 'how many?' })), 'answer: forty-two');
  assert.equal(
    textOf(await session.call('confirm', { message: 'who?' })),
    'accept: {"name":"Ada"}'
  );
  await logging(session);
  await client.readResource({ uri: 'test://greeting' });
  await client.getPrompt({ name: 'greet', arguments: { name: 'Ada' } });
  const { completion } = await client.complete({
    ref: { type: 'ref/prompt', name: 'greet' },
    argument: { name: 'name', value: 'A' }
  });
  assert.deepEqual(completion.values, ['Ada', 'Alan']);
  await assert.rejects(client.readResource({ uri: 'test://nothing' }));
  await abort(session);
  await impatient(session);
  await (session.modern ? subscription(session) : client.ping());
}

// server-everything asks for the roots a while after the start; what comes in between would come
// in any order.
export async function everything(session) {
  const { client } = session;

  await until('the roots were asked for', () => session.heard.length > 0);

  const { resources } = await list(session);

  assert.equal(textOf(await session.call('echo', { message: 'h\u00e9llo' })), 'Echo: h\u00e9llo');
  await session.call('get-sum', { a: 2, b: 0.1 });
  await session.call('get-structured-content', { location: 'New York' });
  await session.call('get-tiny-image');
  await session.call('get-annotated-message', { messageType: 'error', includeImage: true });
  await session.call('get-resource-links', { count: 3 });
  await progress(
    session,
    'trigger-long-running-operation',
    { duration: 0.5, steps: 5 },
    1,
    2,
    3,
    4
  );
  assert.match(
    textOf(await session.call('trigger-sampling-request', { prompt: 'how many?' })),
    /forty-two/
  );
  assert.match(textOf(await session.call('trigger-elicitation-request')), /Ada/);
  await client.setLoggingLevel('warning');
  for (const { uri } of resources) await client.readResource({ uri });
  await client.readResource({ uri: 'demo://resource/dynamic/text/1' });
  await client.subscribeResource({ uri: 'demo://resource/dynamic/text/1' });
  await client.unsubscribeResource({ uri: 'demo://resource/dynamic/text/1' });
  await client.getPrompt({ name: 'simple-prompt' });
  await client.getPrompt({ name: 'args-prompt', arguments: { city: 'Z\u00fcrich' } });
  const { completion } = await client.complete({
    ref: { type: 'ref/prompt', name: 'completable-prompt' },
    argument: { name: 'department', value: 'S' }
  });
  assert.deepEqual(completion.values, ['Sales', 'Support']);
  await client.ping();
}
