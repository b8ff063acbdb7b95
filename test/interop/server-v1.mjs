// A server made with SDK 1.x. With INTEROP_SILENT=METHOD it never answers that method.
import process from 'node:process';
import { completable } from '@modelcontextprotocol/sdk/server/completable.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CreateMessageResultSchema, ElicitResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { register } from './tools.mjs';
import { elicitation, sampling } from './questions.mjs';

const server = new McpServer(
  { name: 'server-v1', version: '1' },
  { capabilities: { logging: {} } }
);

register(
  server,
  extra => ({
    id: extra.requestId,
    signal: extra.signal,
    progressToken: extra._meta?.progressToken,
    notify: extra.sendNotification,
    log: (level, data) => server.sendLoggingMessage({ level, data }),
    sample: question =>
      extra.sendRequest(
        { method: 'sampling/createMessage', params: sampling(question) },
        CreateMessageResultSchema
      ),
    elicit: message =>
      extra.sendRequest(
        { method: 'elicitation/create', params: elicitation(message) },
        ElicitResultSchema
      )
  }),
  completable
);

const transport = new StdioServerTransport();

await server.connect(transport);

const deliver = transport.onmessage;
const silent = process.env.INTEROP_SILENT ?? '';

transport.onmessage = (message, extra) => {
  if (message.method !== silent) deliver(message, extra);
};
