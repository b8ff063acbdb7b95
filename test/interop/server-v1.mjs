// A server made with SDK 1.x.
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

await server.connect(new StdioServerTransport());
