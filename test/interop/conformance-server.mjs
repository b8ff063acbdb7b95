// The stdio server that the scenarios of @modelcontextprotocol/conformance ask for.
import { setTimeout as wait } from 'node:timers/promises';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import * as types from '@modelcontextprotocol/sdk/types.js';

const image = {
  type: 'image',
  mimeType: 'image/png',
  data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
};
const audio = {
  type: 'audio',
  mimeType: 'audio/wav',
  data: 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA='
};
const text = words => ({ type: 'text', text: words });
const resource = (uri, mimeType, words) => ({
  type: 'resource',
  resource: { uri, mimeType, text: words }
});
const object = (properties = {}, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required
});
const string = (more = {}) => ({ type: 'string', ...more });
const titled = (names, words) =>
  names.map((name, index) => ({ const: name, title: words[index] }));

const options = ['option1', 'option2', 'option3'];
const values = ['value1', 'value2', 'value3'];
const defaults = object(
  {
    name: string({ default: 'John Doe' }),
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: string({ enum: ['active', 'inactive', 'pending'], default: 'active' }),
    verified: { type: 'boolean', default: true }
  },
  []
);
const enums = object(
  {
    untitledSingle: string({ enum: options }),
    titledSingle: string({
      oneOf: titled(values, ['First Option', 'Second Option', 'Third Option'])
    }),
    legacyEnum: string({
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three']
    }),
    untitledMulti: { type: 'array', items: string({ enum: options }) },
    titledMulti: {
      type: 'array',
      items: { anyOf: titled(values, ['First Choice', 'Second Choice', 'Third Choice']) }
    }
  },
  []
);

// Three messages, with time for others between them.
async function thrice(say, reports) {
  for (const [index, report] of reports.entries()) {
    if (index > 0) await wait(50);
    await say(report);
  }
  return [text('said three times')];
}

const log = (args, { sendNotification }) =>
  thrice(
    data =>
      sendNotification({ method: 'notifications/message', params: { level: 'info', data } }),
    ['Tool execution started', 'Tool processing data', 'Tool execution completed']
  );

const progress = (args, { sendNotification, _meta: { progressToken } = {} }) =>
  thrice(
    async step =>
      progressToken !== undefined &&
      sendNotification({
        method: 'notifications/progress',
        params: { progressToken, progress: step, total: 100 }
      }),
    [0, 50, 100]
  );

async function sample({ prompt }, { sendRequest }) {
  const { content } = await sendRequest(
    {
      method: 'sampling/createMessage',
      params: { messages: [{ role: 'user', content: text(prompt) }], maxTokens: 100 }
    },
    types.CreateMessageResultSchema
  );

  return [text(`LLM response: ${content.text}`)];
}

const elicit = (words, requestedSchema) =>
  async ({ message = 'Please fill this in' }, { sendRequest }) => {
    const { action, content } = await sendRequest(
      { method: 'elicitation/create', params: { message, requestedSchema } },
      types.ElicitResultSchema
    );

    return [text(`${words}: action=${action}, content=${JSON.stringify(content ?? {})}`)];
  };

const completed = 'Elicitation completed';
const json = 'application/json';

// Each tool: what it answers, and the schema of what it takes.
const tools = {
  test_simple_text: [() => [text('This is a simple text response for testing.')]],
  test_image_content: [() => [image]],
  test_audio_content: [() => [audio]],
  test_embedded_resource: [
    () => [
      resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')
    ]
  ],
  test_multiple_content_types: [
    () => [
      text('Multiple content types test:'),
      image,
      resource('test://mixed-content-resource', json, '{"test":"data","value":123}')
    ]
  ],
  test_tool_with_logging: [log],
  test_tool_with_progress: [progress],
  test_error_handling: [
    () => {
      throw Error('This tool intentionally returns an error for testing');
    }
  ],
  test_sampling: [sample, object({ prompt: string() })],
  test_elicitation: [
    elicit('User response', object({ username: string(), email: string() })),
    object({ message: string() })
  ],
  test_elicitation_sep1034_defaults: [elicit(completed, defaults)],
  test_elicitation_sep1330_enums: [elicit(completed, enums)],
  test_reconnection: [() => [text('This transport cannot be closed in the middle.')]],
  json_schema_2020_12_tool: [
    () => [text('done')],
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: { address: { type: 'object', properties: { street: string(), city: string() } } },
      properties: { name: string(), address: { $ref: '#/$defs/address' } },
      additionalProperties: false
    }
  ]
};

const resources = {
  'test://static-text': {
    mimeType: 'text/plain',
    text: 'This is the content of the static text resource.'
  },
  'test://static-binary': { mimeType: 'image/png', blob: image.data },
  'test://watched-resource': { mimeType: 'text/plain', text: 'This one is watched.' }
};

const prompts = {
  test_simple_prompt: [() => [text('This is a simple prompt for testing.')]],
  test_prompt_with_arguments: [
    ({ arg1, arg2 }) => [text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
    'arg1',
    'arg2'
  ],
  test_prompt_with_embedded_resource: [
    ({ resourceUri }) => [
      resource(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
      text('Please process the embedded resource above.')
    ],
    'resourceUri'
  ],
  test_prompt_with_image: [() => [image, text('Please analyze the image above.')]]
};

async function call({ name, arguments: args = {} }, extra) {
  try {
    return { content: await tools[name][0](args, extra) };
  } catch (error) {
    return { isError: true, content: [text(error.message)] };
  }
}

function read({ uri }) {
  const [, id] = uri.match(/^test:\/\/template\/(.*)\/data$/) ?? [];
  const filled = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });

  return { contents: [{ uri, ...(id ? { mimeType: json, text: filled } : resources[uri]) }] };
}

const listed = name => ({ name, description: name });
const handlers = {
  ListTools: () => ({
    tools: Object.entries(tools).map(([name, [, inputSchema = object()]]) => ({
      ...listed(name),
      inputSchema
    }))
  }),
  CallTool: call,
  ListResources: () => ({
    resources: Object.entries(resources).map(([uri, { mimeType }]) => ({
      ...listed(uri),
      uri,
      mimeType
    }))
  }),
  ListResourceTemplates: () => ({
    resourceTemplates: [
      { ...listed('template'), uriTemplate: 'test://template/{id}/data', mimeType: json }
    ]
  }),
  ReadResource: read,
  Subscribe: () => ({}),
  Unsubscribe: () => ({}),
  ListPrompts: () => ({
    prompts: Object.entries(prompts).map(([name, [, ...args]]) => ({
      ...listed(name),
      arguments: args.map(arg => ({ ...listed(arg), required: true }))
    }))
  }),
  GetPrompt: ({ name, arguments: args = {} }) => ({
    messages: prompts[name][0](args).map(content => ({ role: 'user', content }))
  }),
  Complete: () => ({ completion: { values: ['paris', 'park', 'party'], hasMore: false } })
};

const server = new Server(
  { name: 'conformance-server', version: '1' },
  {
    capabilities: {
      tools: {},
      resources: { subscribe: true },
      prompts: {},
      logging: {},
      completions: {}
    }
  }
);

for (const [name, handler] of Object.entries(handlers)) {
  server.setRequestHandler(types[`${name}RequestSchema`], ({ params }, extra) =>
    handler(params, extra)
  );
}
await server.connect(new StdioServerTransport());
