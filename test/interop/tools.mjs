// What the test servers offer, the same whatever SDK serves it. `verbs` turns the context that an
// SDK gives its handlers into the few things that are needed here: id, signal, progressToken,
// notify(), log(), sample() and elicit().
import { appendFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';

const text = words => ({ content: [{ type: 'text', text: words }] });
const mark = (event, context) =>
  appendFileSync(process.env.INTEROP_MARKS, `${JSON.stringify({ event, id: context.id })}\n`);

async function hold({ ms, deaf }, context) {
  let timer;
  const over = new Promise(resolve => {
    timer = setTimeout(resolve, ms, 'finished');
    context.signal.addEventListener('abort', () => {
      mark('aborted', context);
      if (!deaf) resolve('stopped');
    });
  });

  mark('started', context);
  mark(await over, context);
  clearTimeout(timer);
  return { ...text('held'), structuredContent: { ms } };
}

async function steps({ count, every }, context) {
  for (let step = 1; step <= count && !context.signal.aborted; step++) {
    await wait(every);
    await context.notify({
      method: 'notifications/progress',
      params: {
        progressToken: context.progressToken,
        progress: step,
        total: count,
        message: `step ${step}`
      }
    });
  }
  mark(context.signal.aborted ? 'aborted' : 'finished', context);
  await wait(every);
  return text(`${count} steps`);
}

async function ask({ question }, context) {
  const answer = await context.sample(question);

  return answer.resultType ? answer : text(`answer: ${answer.content.text}`);
}

async function confirm({ message }, context) {
  const answer = await context.elicit(message);

  return answer.resultType ? answer : text(`${answer.action}: ${JSON.stringify(answer.content)}`);
}

async function report({ words }, context) {
  for (const level of ['debug', 'info', 'error']) await context.log(level, { level, words });
  return text('reported');
}

let collide;

// One that fails, as the call does that it meets, if there are two at once.
async function alone({ ms }) {
  if (collide) {
    collide(true);
    throw new Error('there is another call');
  }
  const met = await Promise.race([wait(ms), new Promise(resolve => (collide = resolve))]);

  collide = undefined;
  if (met) throw new Error('another call came');
  return text('alone');
}

// A handler that does not let go: no cancel and no ping is heard any more.
function spin() {
  for (const end = Date.now() + 50_000; Date.now() < end;);
}

export function register(server, verbs, completable) {
  const tool = (name, inputSchema, handler, more) =>
    server.registerTool(
      name,
      { description: name, inputSchema: z.object(inputSchema), ...more },
      (args, context) => handler(args, verbs(context))
    );

  tool('echo', { words: z.string() }, ({ words }) => text(words));
  tool(
    'hold',
    { ms: z.number().default(60_000), deaf: z.boolean().optional() },
    hold,
    { outputSchema: z.object({ ms: z.number() }) }
  );
  tool('alone', { ms: z.number() }, alone);
  tool('steps', { count: z.number(), every: z.number() }, steps);
  tool('ask', { question: z.string() }, ask);
  tool('confirm', { message: z.string() }, confirm);
  tool('report', { words: z.string() }, report);
  tool('announce', {}, () => {
    server.sendToolListChanged();
    return text('announced');
  });
  tool('spin', {}, spin);
  tool('crash', { status: z.number() }, ({ status }) => process.exit(status));
  server.registerResource('greeting', 'test://greeting', { mimeType: 'text/plain' }, uri => ({
    contents: [{ uri: uri.href, text: 'h\u00e9llo \u200d\ud83d\udc69\u200d\ud83d\ude80 1.10' }]
  }));
  server.registerPrompt(
    'greet',
    { argsSchema: { name: completable(z.string(), complete) } },
    ({ name }) => ({
      messages: [{ role: 'user', content: { type: 'text', text: `greet ${name}` } }]
    })
  );
}

const complete = value => ['Ada', 'Alan', 'Grace'].filter(name => name.startsWith(value));
