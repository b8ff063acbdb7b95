// A model for agents, on localhost. Of the prompt "call TOOL {ARGUMENTS} call TOOL {ARGUMENTS}" it asks for
// one call after the other, and then says what the last of them gave. It speaks the OpenAI Responses API, OpenAI
// chat completions, the Gemini API and the Anthropic Messages API, all as streams.
import { createServer } from 'node:http';

const order = /call (\w+) (\{.*?\})/g;
const plain = content =>
  typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join('\n');
const words = result => (typeof result === 'string' ? result : JSON.stringify(result));

// Each API: what the last words and the last result of a tool are, what tools there are, and how a
// call and a text are streamed.
const responses = {
  turns: ({ input }) =>
    input.map(({ type, role, content, output }) =>
      type === 'function_call_output' ? { result: words(output) } : { role, text: content && plain(content) }
    ),
  tools: ({ tools = [] }) =>
    tools.flatMap(({ name, type, tools: inner }) =>
      type === 'namespace'
        ? inner.map(each => ({ name: each.name, namespace: name }))
        : { name }
    ),
  stream(reply, say) {
    const { call, text } = reply;
    const item = call
      ? { type: 'function_call', call_id: call.id, ...call.tool, arguments: JSON.stringify(call.args) }
      : { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] };
    const response = {
      id: 'response',
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
    };

    for (const event of [
      { type: 'response.created', response: { id: 'response' } },
      { type: 'response.output_item.done', item },
      { type: 'response.completed', response }
    ])
      say(event, event.type);
  }
};

const completions = {
  turns: ({ messages }) =>
    messages.flatMap(({ role, content }) =>
      role === 'tool'
        ? { result: words(content) }
        : [content ?? ''].flat().map(part => ({ role, text: part.text ?? part }))
    ),
  tools: ({ tools = [] }) => tools.map(({ function: { name } }) => ({ name })),
  stream({ call, text }, say) {
    const choice = (delta, reason = null) =>
      say({
        id: 'completion',
        object: 'chat.completion.chunk',
        created: 0,
        model: 'played',
        choices: [{ index: 0, delta, finish_reason: reason }],
        ...(reason && { usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } })
      });

    if (call) {
      const { id, tool, args } = call;
      const asked = { name: tool.name, arguments: JSON.stringify(args) };

      choice({ role: 'assistant', tool_calls: [{ index: 0, id, type: 'function', function: asked }] });
    } else choice({ role: 'assistant', content: text });
    choice({}, call ? 'tool_calls' : 'stop');
    say('[DONE]');
  }
};

const gemini = {
  turns: ({ contents }) =>
    contents.flatMap(({ role, parts }) =>
      parts.map(({ text, functionResponse }) =>
        functionResponse ? { result: words(functionResponse.response) } : { role, text }
      )
    ),
  tools: ({ tools = [] }) =>
    tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => ({ name }))),
  stream({ call, text }, say) {
    const part = call ? { functionCall: { name: call.tool.name, args: call.args } } : { text };

    say({
      candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
    });
  }
};

const messages = {
  turns: ({ messages: each }) =>
    each.flatMap(({ role, content }) =>
      [content].flat().map(part =>
        part.type === 'tool_result' ? { result: words(part.content) } : { role, text: part.text ?? part }
      )
    ),
  tools: ({ tools = [] }) => tools.map(({ name }) => ({ name })),
  stream({ call, text }, say) {
    const usage = { input_tokens: 1, output_tokens: 1 };
    const [block, delta] = call
      ? [
          { type: 'tool_use', id: call.id, name: call.tool.name, input: {} },
          { type: 'input_json_delta', partial_json: JSON.stringify(call.args) }
        ]
      : [
          { type: 'text', text: '' },
          { type: 'text_delta', text }
        ];
    const message = { id: 'message', type: 'message', role: 'assistant', model: 'played', content: [], usage };

    for (const event of [
      { type: 'message_start', message },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: call ? 'tool_use' : 'end_turn' }, usage },
      { type: 'message_stop' }
    ])
      say(event, event.type);
  }
};

const apis = {
  '/responses': responses,
  '/chat/completions': completions,
  'GenerateContent': gemini,
  '/messages': messages
};

export class Model {
  constructor(test) {
    this.results = [];
    this.asked = [];
    this.calls = 0;
    this.missed = 0;
    this.server = createServer((request, response) => this.hear(request, response));
    test.after(() => this.server.close() && this.server.closeAllConnections());
  }

  async listen() {
    await new Promise(resolve => this.server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${this.server.address().port}`;
    return this;
  }

  async hear(request, response) {
    let body = '';

    for await (const chunk of request) body += chunk;
    this.asked.push({ url: request.url, body });
    const api = apis[Object.keys(apis).find(path => request.url.includes(path))];

    if (!api) return response.writeHead(404).end('{}');
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    api.stream(this.reply(api, JSON.parse(body)), (data, event) =>
      response.write(
        `${event ? `event: ${event}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
      )
    );
    response.end();
  }

  reply(api, body) {
    const turns = api.turns(body);
    const prompt = turns.findLastIndex(({ role, text }) => role === 'user' && /^call \w+ \{/m.test(text));
    const results = turns.slice(prompt + 1).filter(({ result }) => result !== undefined);
    const [, name, args] = [...(turns[prompt]?.text ?? '').matchAll(order)][results.length] ?? [];
    const tools = api.tools(body);
    const tool = name && tools.find(each => RegExp(`(^|[_-])${name}$`).test(each.name));

    if (turns.at(-1).result !== undefined) this.results.push(turns.at(-1).result);
    if (tool) return { call: { id: `call_${++this.calls}`, tool, args: JSON.parse(args) } };
    // A title for the conversation is asked for without any tool.
    this.missed += Boolean(name && tools.length > 0);
    if (name) return { text: `there is no tool ${name}: ${this.missed}` };
    return { text: `the tool said: ${results.at(-1)?.result}` };
  }
}
